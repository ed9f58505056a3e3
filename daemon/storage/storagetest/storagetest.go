// Package storagetest opens stores for tests, and prepares directories of embedded ones.
package storagetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/storage"
)

// emptyStore returns the files of a store without rows.
var emptyStore = sync.OnceValues(func() (files map[string][]byte, err error) {
	dir, err := os.MkdirTemp("", "whd-storagetest")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	config := storage.Config{Dir: dir, Registry: record.Builtin(), Connections: 1}
	store, err := storage.Open(context.Background(), config)
	if err != nil {
		return nil, err
	}
	err = store.Close()
	if err != nil {
		return nil, err
	}
	files = make(map[string][]byte)
	for _, name := range []string{appdb.FileName, storage.RecordsFile} {
		files[name], err = os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
	}
	return files, nil
})

// Fill writes the files of an empty store with the built-in kinds into a directory. Such a
// store opens several times as fast as an empty directory, in which all tables are created.
func Fill(t testing.TB, dir string) {
	t.Helper()
	files, err := emptyStore()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		err := os.WriteFile(filepath.Join(dir, name), content, 0o600)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Open opens a store that is closed when the test ends. By default it has an empty directory, the
// built-in kinds and four connections.
func Open(t testing.TB, c storage.Config) *storage.Store {
	t.Helper()
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	if c.Registry == nil {
		c.Registry = record.Builtin()
	}
	if c.Connections == 0 {
		c.Connections = 4
	}
	s, err := storage.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
