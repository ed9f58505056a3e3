package backup_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/storage"
)

func TestMain(m *testing.M) { daemontest.Main(m) }

// files returns the files of the store.
func files(t testing.TB) []backup.File {
	t.Helper()
	all, err := storage.Files()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// source returns a store with some of the demo's records.
func source(t testing.TB) backup.Source {
	t.Helper()
	s := backup.Source{Dir: t.TempDir(), Files: files(t), Program: "whd test"}
	fill(t, s.Dir)
	return s
}

func fill(t testing.TB, dir string) {
	t.Helper()
	content, err := loaded()
	for name, data := range content {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// firstRows returns the first demo records of a kind: enough for a file of several hundred
// pages, and few enough to be compressed and checked in each test.
func firstRows(kind *record.Kind) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		count := 0
		for row := range demo.Rows(kind) {
			if count == rowsPerKind || !yield(row) {
				return
			}
			count++
		}
	}
}

const rowsPerKind = 200

// loaded returns the files of a store with demo records, which are loaded once.
var loaded = sync.OnceValues(func() (content map[string][]byte, err error) {
	dir, err := os.MkdirTemp("", "whd-backup-test")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	st, err := storage.Open(context.Background(), storage.Config{Dir: dir, Registry: record.Builtin(), Connections: 1})
	if err != nil {
		return nil, err
	}
	_, err = st.Load(context.Background(), record.Builtin().Kinds(), firstRows)
	if err = errors.Join(err, st.Close()); err != nil {
		return nil, err
	}
	content = make(map[string][]byte)
	for _, name := range []string{"records.db", "whd.db"} {
		if content[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	return content, nil
})

// saved returns the path of a backup of a source.
func saved(t testing.TB, s backup.Source) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "store.backup")
	if _, err := backup.Write(t.Context(), s, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// names lists a directory.
func names(t testing.TB, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}
