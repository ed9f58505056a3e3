package sqlstore_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
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
		lose func(t *testing.T, store, shadow, older string)
		kept bool
	}{
		"untouched": {func(*testing.T, string, string, string) {}, true},
		"missing":   {func(t *testing.T, _, shadow, _ string) { check(t, os.Remove(shadow)) }, false},
		"empty":     {func(t *testing.T, _, shadow, _ string) { check(t, os.Truncate(shadow, 0)) }, false},
		"no database": {func(t *testing.T, _, shadow, _ string) {
			check(t, os.WriteFile(shadow, bytes.Repeat([]byte("no database "), 1000), 0o600))
		}, false},
		"damaged": {func(t *testing.T, _, shadow, _ string) {
			text, err := os.ReadFile(shadow)
			check(t, err)
			const page = 4096
			copy(text[page:], bytes.Repeat([]byte{0xFF}, len(text)-page))
			check(t, os.WriteFile(shadow, text, 0o600))
		}, false},
		"older, with the changes since": {func(t *testing.T, _, shadow, older string) {
			check(t, os.Rename(filepath.Join(older, sqlstore.FileName), shadow))
		}, true},
		"newer than the store": {func(t *testing.T, store, _, older string) {
			check(t, os.Rename(filepath.Join(older, appdb.FileName), store))
		}, false},
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
				check(t, errors.Join(err, os.WriteFile(filepath.Join(older, file), text, 0o600)))
			}
			s = open()
			begin(t, s, 2)
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
				Version:  delivery.AnyVersion,
				Leases:   []delivery.Lease{lease},
				Captured: &delivery.Captured{Kind: "K", Fence: 2, Changes: []delivery.CapturedChange{change}},
			}))
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

// TestShadowIsCreatedLater creates the tables of the shadow although that failed at first.
func TestShadowIsCreatedLater(t *testing.T) {
	dir := t.TempDir()
	conn, err := sqlite.Open(filepath.Join(dir, sqlstore.FileName), sqlite.Options{})
	check(t, err)
	defer conn.Close()
	check(t, conn.Exec("BEGIN IMMEDIATE"))
	s := reopening(t, storage.Config{Dir: dir})()
	if _, err := s.Changes.Begin(t.Context(), "K", 1); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("with a locked file: %v", err)
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
		keys, entries = append(keys, e.Key), append(entries, e)
	}
	check(t, s.Changes.Put(t.Context(), "K", 1, 0, entries))
	check(t, s.Close())
	s = open()
	begin(t, s, 2)
	path := filepath.Join(dir, sqlstore.FileName)
	text, err := os.ReadFile(path)
	check(t, err)
	const page = 4096
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	check(t, err)
	_, err = file.WriteAt(bytes.Repeat([]byte{0xFF}, len(text)-4*page), 4*page)
	check(t, errors.Join(err, file.Close()))
	for first := 0; err == nil; first += 1000 {
		if first == len(keys) {
			t.Fatal("the damage is not noticed")
		}
		var found []*changes.Entry
		if found, err = s.Changes.Find(t.Context(), "K", keys[first:first+1000]); err == nil && found[999] == nil {
			t.Fatal("an entry is missing")
		}
	}
	if !errors.Is(err, delivery.ErrCaptureLost) {
		t.Errorf("got %v, want that the capture is lost", err)
	}
	if _, err := s.Changes.Find(t.Context(), "K", keys[:1]); !errors.Is(err, delivery.ErrCaptureLost) {
		t.Errorf("after the file was removed: %v", err)
	}
	if err := s.Changes.Put(t.Context(), "K", 2, 0, entries[:1]); !errors.Is(err, delivery.ErrCaptureLost) {
		t.Errorf("after the file was removed: %v", err)
	}
	if got := begin(t, s, 2); got.State.Phase != changes.FirstLook {
		t.Errorf("capture is %+v", got)
	}
	check(t, s.Changes.Put(t.Context(), "K", 2, 0, entries[:1]))
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
		t.Errorf("%s exists (%v)", sqlstore.FileName, err)
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
