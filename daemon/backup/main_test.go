package backup_test

import (
	"os"
	"path/filepath"
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

// source returns a store with the demo's records.
func source(t testing.TB) backup.Source {
	t.Helper()
	s := backup.Source{Dir: t.TempDir(), Files: files(t), Program: "whd test"}
	fill(t, s.Dir)
	return s
}

func fill(t testing.TB, dir string) {
	t.Helper()
	st, err := storage.Open(t.Context(), storage.Config{Dir: dir, Registry: record.Builtin(), Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Load(t.Context(), record.Builtin().Kinds(), demo.Rows); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

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
