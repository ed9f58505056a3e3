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
	for _, name := range []string{appdb.FileName, appdb.FileName + "-wal", RecordsFile} {
		for _, replaced := range []bool{false, true} {
			c := Config{Dir: t.TempDir(), Registry: record.Builtin(), Connections: 2}
			s, err := Open(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			w := s.Webhooks
			lease, err := w.Engine.Lease(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			version, err := w.Engine.Version(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			batch := delivery.Batch{Version: version, Leases: []delivery.Lease{lease}}
			if err := errors.Join(s.Ready(t.Context()), w.Engine.Write(t.Context(), batch)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(c.Dir, name)
			if replaced {
				err = errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path))
			} else {
				err = os.Remove(path)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Ready(t.Context()); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), strings.TrimSuffix(name, "-wal")) {
				t.Errorf("%s, replaced %v: ready: %v", name, replaced, err)
			}
			if name != RecordsFile {
				if err := w.Engine.Write(t.Context(), batch); !errors.Is(err, delivery.ErrFenced) {
					t.Errorf("%s, replaced %v: writing a batch: %v", name, replaced, err)
				}
				if err := w.Engine.SetDefaultRetries(t.Context(), 77); !fault.Is(err, fault.Unavailable) {
					t.Errorf("%s, replaced %v: a change: %v", name, replaced, err)
				}
			}
			_ = s.Close() // may fail because of the lost file
			if _, err := os.Stat(path); !replaced && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s was created again (%v)", name, err)
			}
		}
	}
}

// TestStoreIsNotCreatedAgain opens a store with a missing or empty file.
func TestStoreIsNotCreatedAgain(t *testing.T) {
	for _, name := range []string{appdb.FileName, RecordsFile} {
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
		for how, lose := range map[string]func() error{"missing": func() error { return os.Remove(path) }, "empty": func() error { return os.Truncate(path, 0) }} {
			if err := lose(); err != nil {
				t.Fatal(err)
			}
			c.New = false
			if err := reopen(); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), path+" is missing or empty") || !strings.Contains(err.Error(), "--new-store") {
				t.Errorf("%s is %s: %v", name, how, err)
			}
			c.New = true
			if err := reopen(); err != nil {
				t.Errorf("%s is %s, with New set: %v", name, how, err)
			}
		}
	}
}
