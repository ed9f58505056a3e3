package sqlstore_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/changes/sqlstore"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// TestLostShadow opens a store with a shadow.db that does not belong to it. Capture looks at
// all rows again, and followers resynchronize; a file that belongs to it is used.
func TestLostShadow(t *testing.T) {
	e := changes.Entry{Number: 1, Key: []byte("k"), Scheme: 1}
	for name, c := range map[string]struct {
		lose func(t *testing.T, store, shadow, older string) // gets the paths of the files, and a directory with older ones
		kept bool                                            // whether the shadow is used
	}{
		"untouched": {
			lose: func(*testing.T, string, string, string) {},
			kept: true,
		},
		"missing": {
			lose: func(t *testing.T, _, shadow, _ string) { check(t, os.Remove(shadow)) },
		},
		"empty": {
			lose: func(t *testing.T, _, shadow, _ string) { check(t, os.Truncate(shadow, 0)) },
		},
		"no database": {
			lose: func(t *testing.T, _, shadow, _ string) {
				check(t, os.WriteFile(shadow, bytes.Repeat([]byte("no database "), 1000), 0o600))
			},
		},
		"damaged": {
			lose: func(t *testing.T, _, shadow, _ string) {
				text, err := os.ReadFile(shadow)
				check(t, err)
				copy(text[pageSize:], bytes.Repeat([]byte{0xFF}, len(text)-pageSize))
				check(t, os.WriteFile(shadow, text, 0o600))
			},
		},
		"older, with the changes since": {
			lose: func(t *testing.T, _, shadow, older string) {
				check(t, os.Rename(filepath.Join(older, sqlstore.FileName), shadow))
			},
			kept: true,
		},
		"newer than the store": {
			lose: func(t *testing.T, store, _, older string) {
				check(t, os.Rename(filepath.Join(older, appdb.FileName), store))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, older := t.TempDir(), t.TempDir()
			open := reopening(t, storage.Config{Dir: dir})
			s := open()
			begin(t, s, 1)
			check(t, s.Changes.Save(t.Context(), "K", 1, changes.State{Phase: changes.Capturing, Stamp: []byte{1}}))
			check(t, s.Close())
			for _, file := range []string{appdb.FileName, sqlstore.FileName} {
				text, err := os.ReadFile(filepath.Join(dir, file))
				check(t, err)
				check(t, os.WriteFile(filepath.Join(older, file), text, 0o600))
			}

			s = open()
			begin(t, s, 2)
			publish(t, s, e)
			check(t, s.Changes.Put(t.Context(), "K", 2, 1, []changes.Entry{e}))
			check(t, s.Close())

			c.lose(t, filepath.Join(dir, appdb.FileName), filepath.Join(dir, sqlstore.FileName), older)
			s = open()
			got := begin(t, s, 3)
			found, err := s.Changes.Find(t.Context(), "K", [][]byte{e.Key})
			check(t, err)
			if c.kept {
				hasEntry := found[0] != nil && reflect.DeepEqual(*found[0], e)
				if got.State.Phase != changes.Capturing || got.FirstKept != 1 || !hasEntry {
					t.Errorf("capture is %+v, entry %+v, want the shadow of before", got, found[0])
				}
				return
			}
			if got.State.Phase != changes.FirstLook || got.State.Stamp != nil {
				t.Errorf("the state of the capture is %+v, want a first look", got.State)
			}
			if got.FirstKept != got.Next || found[0] != nil {
				t.Errorf("capture is %+v, entry %+v, want an empty shadow", got, found[0])
			}
		})
	}
}

// pageSize is the size of a page of a database file, in bytes.
const pageSize = 4096

// publish writes the first change of K, under fence 2, with an entry.
func publish(t *testing.T, s *storage.Store, e changes.Entry) {
	t.Helper()
	lease, err := s.Webhooks.Engine.Lease(t.Context(), 0)
	check(t, err)
	change := delivery.CapturedChange{
		ID:        1,
		Op:        "created",
		Key:       "k",
		Body:      []byte("{}"),
		Number:    1,
		ShadowKey: e.Key,
		Entry:     e.Encode(),
	}
	check(t, s.Webhooks.Engine.Write(t.Context(), delivery.Batch{
		Version: delivery.AnyVersion,
		Leases:  []delivery.Lease{lease},
		Captured: &delivery.Captured{
			Kind:    "K",
			Fence:   2,
			Changes: []delivery.CapturedChange{change},
		},
	}))
}

// TestShadowIsCreatedLater creates the tables of the shadow although that failed at first.
func TestShadowIsCreatedLater(t *testing.T) {
	dir := t.TempDir()
	conn, err := sqlite.Open(filepath.Join(dir, sqlstore.FileName), sqlite.Options{})
	check(t, err)
	defer conn.Close()
	check(t, conn.Exec("BEGIN IMMEDIATE"))
	s := reopening(t, storage.Config{Dir: dir})()
	if _, err := s.Changes.Begin(t.Context(), "K", 1); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("beginning with a locked file: got the error %v, want a fault of kind %v", err, fault.Unavailable)
	}
	check(t, conn.Exec("ROLLBACK"))
	begin(t, s, 1)
	check(t, s.Changes.Put(t.Context(), "K", 1, 0, []changes.Entry{{Number: 1, Key: []byte("k"), Scheme: 1}}))
}

// TestShadowDamagedInUse damages the file while it is open: reading it must not look like a
// shadow without entries.
func TestShadowDamagedInUse(t *testing.T) {
	dir := t.TempDir()
	open := reopening(t, storage.Config{Dir: dir})
	s := open()
	begin(t, s, 1)
	var keys [][]byte
	var entries []changes.Entry
	for n := range int64(50_000) {
		e := changes.Entry{
			Number: n + 1,
			Key:    bytes.Repeat([]byte{byte(n), byte(n >> 8)}, 50),
			Fields: make([]byte, 80),
		}
		keys = append(keys, e.Key)
		entries = append(entries, e)
	}
	check(t, s.Changes.Put(t.Context(), "K", 1, 0, entries))
	check(t, s.Close())
	s = open()
	begin(t, s, 2)
	overwritePages(t, filepath.Join(dir, sqlstore.FileName), 4)

	if err := findAll(t, s, keys); !errors.Is(err, delivery.ErrCaptureLost) {
		t.Errorf("finding entries in a damaged file: got the error %v, want %v", err, delivery.ErrCaptureLost)
	}
	if _, err := s.Changes.Find(t.Context(), "K", keys[:1]); !errors.Is(err, delivery.ErrCaptureLost) {
		t.Errorf("finding an entry after the file was removed: got the error %v, want %v",
			err, delivery.ErrCaptureLost)
	}
	if err := s.Changes.Put(t.Context(), "K", 2, 0, entries[:1]); !errors.Is(err, delivery.ErrCaptureLost) {
		t.Errorf("storing an entry after the file was removed: got the error %v, want %v",
			err, delivery.ErrCaptureLost)
	}
	if got := begin(t, s, 2); got.State.Phase != changes.FirstLook {
		t.Errorf("the phase of the next capture is %q, want %q", got.State.Phase, changes.FirstLook)
	}
	check(t, s.Changes.Put(t.Context(), "K", 2, 0, entries[:1]))
}

// overwritePages overwrites all pages of a file but the first ones.
func overwritePages(t *testing.T, path string, kept int64) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	check(t, err)
	defer file.Close()
	info, err := file.Stat()
	check(t, err)
	first := kept * pageSize
	_, err = file.WriteAt(bytes.Repeat([]byte{0xFF}, int(info.Size()-first)), first)
	check(t, err)
}

// findAll looks up keys, which all have an entry, until that fails.
func findAll(t *testing.T, s *storage.Store, keys [][]byte) error {
	t.Helper()
	for part := range slices.Chunk(keys, 1000) {
		entries, err := s.Changes.Find(t.Context(), "K", part)
		if err != nil {
			return err
		}
		if entries[len(entries)-1] == nil {
			t.Fatalf("the entry of %q is missing, want it or an error", part[len(part)-1])
		}
	}
	return nil
}

// TestNoShadowFile checks that a store without captures has no shadow.db.
func TestNoShadowFile(t *testing.T) {
	dir := t.TempDir()
	s := reopening(t, storage.Config{Dir: dir})()
	if _, err := s.Changes.Captures(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := s.Changes.Prune(t.Context(), time.Now(), 0, 1); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, sqlstore.FileName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("looking for %s: got the error %v, want %v", sqlstore.FileName, err, os.ErrNotExist)
	}
}

func begin(t *testing.T, s *storage.Store, fence int64) changes.Capture {
	t.Helper()
	c, err := s.Changes.Begin(t.Context(), "K", fence)
	check(t, err)
	return c
}

// check ends the test on an error.
func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
