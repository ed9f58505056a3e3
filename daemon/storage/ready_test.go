package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// readiness is an open store.
type readiness struct {
	*testing.T
	store *Store
	dir   string
}

func openReadiness(t *testing.T) *readiness {
	t.Helper()
	dir := t.TempDir()
	store, err := Open(t.Context(), Config{Dir: dir, Registry: record.Builtin(), Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &readiness{T: t, store: store, dir: dir}
	r.expect("")
	return r
}

// ready calls Ready without the result of the previous write test.
func (r *readiness) ready(ctx context.Context) error {
	r.store.AppDB.Probe.At = time.Time{}
	return r.store.Ready(ctx)
}

// expect compares the error of Ready with a reason; an empty one means no error.
func (r *readiness) expect(reason string) {
	r.Helper()
	err := r.ready(r.Context())
	if reason == "" {
		if err != nil {
			r.Errorf("Ready: got error %v, want none", err)
		}
		return
	}
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.From(err).Message, reason) {
		r.Errorf("Ready: got error %v, want unavailable with %q", err, reason)
	}
}

// exec runs a statement on a connection of another program.
func (r *readiness) exec(statement string) {
	r.Helper()
	path := filepath.Join(r.dir, appdb.FileName)
	conn, err := sqlite.Open(path, sqlite.Options{BusyTimeout: time.Minute})
	if err != nil {
		r.Fatal(err)
	}
	if err := errors.Join(conn.Exec(statement), conn.Close()); err != nil {
		r.Fatal(err)
	}
}

func TestReadyOfReadOnlyFile(t *testing.T) {
	r := openReadiness(t)
	r.store.AppDB.Pool.SetMaxOpenConns(1) // the connection with the pragma
	for _, step := range []struct{ queryOnly, reason string }{
		{"ON", "the store cannot be used at the moment: the file is read-only"},
		{"OFF", ""},
	} {
		_, err := r.store.AppDB.Pool.Exec("PRAGMA query_only = " + step.queryOnly)
		if err != nil {
			t.Fatal(err)
		}
		r.expect(step.reason)
	}
}

func TestPingError(t *testing.T) {
	late := fmt.Errorf("reading: %w", context.DeadlineExceeded)
	for _, c := range []struct {
		err  error
		want string
	}{
		{late, "the database did not respond in time"},
		{errors.New("unexpected EOF"), "the database cannot be used at the moment"},
		{fault.New(fault.Invalid, "too complex"), "the database cannot be used at the moment"},
		{sqlite.ErrPoolClosed, "the service is stopping"},
	} {
		got := pingError(c.err)
		if !fault.Is(got, fault.Unavailable) || fault.From(got).Message != c.want || !errors.Is(got, c.err) {
			t.Errorf("ping with the error %q: got %v, want %q as the reason of a temporary error", c.err, got, c.want)
		}
	}
	if err := pingError(nil); err != nil {
		t.Errorf("ping without an error: got %v", err)
	}
}

// TestReadyOfDamagedFile overwrites all but the first page, and restores them, as a
// repair by another program does.
func TestReadyOfDamagedFile(t *testing.T) {
	const page = 4096
	r := openReadiness(t)
	engine := r.store.Webhooks.Engine
	lease, err := engine.Lease(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	writeBatch := func() error {
		version, err := engine.Version(t.Context())
		if err != nil {
			return err
		}
		batch := delivery.Batch{Version: version, Leases: []delivery.Lease{lease}}
		return engine.Write(t.Context(), batch)
	}
	r.exec("PRAGMA wal_checkpoint(TRUNCATE)") // so that the file has all pages
	intact := r.readFile()

	r.overwrite(page, bytes.Repeat([]byte{0xFF}, len(intact)-page))
	r.expect("the store cannot be used at the moment: the file is damaged")
	if err := writeBatch(); !errors.Is(err, delivery.ErrDamaged) {
		t.Errorf("writing a batch to the damaged file: got %v, want %v", err, delivery.ErrDamaged)
	}

	r.overwrite(0, intact)
	r.exec("UPDATE WH_Number SET Next = Next + 1 WHERE Name = 'Probe'") // clears cached damaged pages
	r.expect("")
	if err := writeBatch(); err != nil {
		t.Errorf("writing a batch to the repaired file: %v", err)
	}
}

// readFile returns the content of the file of the own data.
func (r *readiness) readFile() []byte {
	r.Helper()
	content, err := os.ReadFile(filepath.Join(r.dir, appdb.FileName))
	if err != nil {
		r.Fatal(err)
	}
	return content
}

// overwrite replaces a part of the file of the own data.
func (r *readiness) overwrite(offset int64, content []byte) {
	r.Helper()
	file, err := os.OpenFile(filepath.Join(r.dir, appdb.FileName), os.O_WRONLY, 0)
	if err != nil {
		r.Fatal(err)
	}
	_, err = file.WriteAt(content, offset)
	if err := errors.Join(err, file.Close()); err != nil {
		r.Fatal(err)
	}
}

// TestReadyWhileFileIsLocked holds the write lock, like a write that hangs. Callers
// of Ready do not wait for it.
func TestReadyWhileFileIsLocked(t *testing.T) {
	r := openReadiness(t)
	unlock, err := r.store.AppDB.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			err := r.store.Ready(ctx) // without an error if the last write test still holds
			if err != nil && !fault.Is(err, fault.Unavailable) {
				t.Errorf("Ready while the file is locked: got %v, want unavailable or none", err)
			}
		})
	}
	callers.Wait()
	unlock()
	r.expect("")
}

// TestReadyWritesAtIntervals checks that one write serves all callers within an
// interval.
func TestReadyWritesAtIntervals(t *testing.T) {
	r := openReadiness(t)
	writes := func() int64 {
		n, err := appdb.QueryOne(t.Context(), r.store.AppDB, appdb.ScanInt,
			`SELECT Next FROM whd.WH_Number WHERE Name = 'Probe'`)
		if err != nil {
			t.Fatal(err)
		}
		return *n
	}
	before := writes()
	r.store.AppDB.Probe.At = time.Now().Add(time.Hour)
	for range 100 {
		if err := r.store.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := writes() - before; n != 0 {
		t.Errorf("%d writes for 100 calls within the interval, want none", n)
	}
	r.expect("")
	if n := writes() - before; n != 1 {
		t.Errorf("%d writes for a later call, want 1", n)
	}
}
