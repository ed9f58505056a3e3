package storage

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// TestLostFiles deletes and replaces each file of an open store. Nothing that is
// written then looks as if it were kept, and no file is made in its place.
func TestLostFiles(t *testing.T) {
	remove := func(path string) error { return os.Remove(path) }
	replace := func(path string) error {
		return errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path))
	}
	for _, name := range []string{appdb.FileName, appdb.FileName + "-wal", RecordsFile} {
		t.Run(name+" removed", func(t *testing.T) {
			path := loseFile(t, name, remove)
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("after closing the store: the file exists again (%v)", err)
			}
		})
		t.Run(name+" replaced", func(t *testing.T) { loseFile(t, name, replace) })
	}
}

// loseFile opens a store, loses one of its files, and expects errors of the store until it is
// closed. It returns the path of the file.
func loseFile(t *testing.T, name string, lose func(path string) error) string {
	c := Config{Dir: t.TempDir(), Registry: record.Builtin(), Connections: 2}
	s, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() // may fail because of the lost file
	engine := s.Webhooks.Engine
	lease, err := engine.Lease(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	version, err := engine.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	batch := delivery.Batch{Version: version, Leases: []delivery.Lease{lease}}
	if err := errors.Join(s.Ready(t.Context()), engine.Write(t.Context(), batch)); err != nil {
		t.Fatal(err)
	}

	path := filepath.Join(c.Dir, name)
	if err := lose(path); err != nil {
		t.Fatal(err)
	}
	database := strings.TrimSuffix(name, "-wal")
	err = s.Ready(t.Context())
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), database) {
		t.Errorf("Ready: got %v, want unavailable with the name of the file", err)
	}
	if name != RecordsFile {
		if err := engine.Write(t.Context(), batch); !errors.Is(err, delivery.ErrFenced) {
			t.Errorf("writing a batch: got %v, want %v", err, delivery.ErrFenced)
		}
		err := engine.SetDefaultRetries(t.Context(), 77)
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("changing the retries: got %v, want unavailable", err)
		}
	}
	return path
}

// TestStoreIsNotCreatedAgain opens a store with a missing or empty file.
func TestStoreIsNotCreatedAgain(t *testing.T) {
	remove := func(path string) error { return os.Remove(path) }
	empty := func(path string) error { return os.Truncate(path, 0) }
	for _, name := range []string{appdb.FileName, RecordsFile} {
		t.Run(name+" missing", func(t *testing.T) { openWithout(t, name, remove) })
		t.Run(name+" empty", func(t *testing.T) { openWithout(t, name, empty) })
	}
}

// openWithout opens a store that has lost one of its files, which is refused unless a new
// store may be created.
func openWithout(t *testing.T, name string, lose func(path string) error) {
	c := Config{Dir: t.TempDir(), Registry: record.Builtin(), Connections: 1}
	reopen := func() error {
		s, err := Open(t.Context(), c)
		if err != nil {
			return err
		}
		return s.Close()
	}
	for range 2 {
		if err := reopen(); err != nil {
			t.Fatal(err)
		}
	}

	path := filepath.Join(c.Dir, name)
	if err := lose(path); err != nil {
		t.Fatal(err)
	}
	err := reopen()
	if !fault.Is(err, fault.Unavailable) {
		t.Fatalf("opening the store: got %v, want unavailable", err)
	}
	for _, part := range []string{path + " is missing or empty", "--new-store"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("opening the store: got error %v, want %q in it", err, part)
		}
	}
	c.New = true
	if err := reopen(); err != nil {
		t.Errorf("opening the store with New: %v", err)
	}
}
