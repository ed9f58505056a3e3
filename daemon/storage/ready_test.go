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
	r := &readiness{T: t, dir: t.TempDir()}
	var err error
	if r.store, err = Open(t.Context(), Config{Dir: r.dir, Registry: record.Builtin(), Connections: 2}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.store.Close(); err != nil {
			t.Error(err)
		}
	})
	r.expect("")
	return r
}

// ready calls Ready without the result of the previous write test.
func (r *readiness) ready(ctx context.Context) error {
	r.store.AppDB.Probe.At = time.Time{}
	return r.store.Ready(ctx)
}

// expect compares the error of Ready; an empty text means no error.
func (r *readiness) expect(why string) {
	r.Helper()
	err := r.ready(r.Context())
	if why == "" && err != nil || why != "" && (!fault.Is(err, fault.Unavailable) || !strings.Contains(fault.From(err).Message, why)) {
		r.Errorf("ready: %v, want %q", err, why)
	}
}

// exec runs a statement on a connection of another program.
func (r *readiness) exec(statement string) {
	r.Helper()
	conn, err := sqlite.Open(filepath.Join(r.dir, appdb.FileName), sqlite.Options{BusyTimeout: time.Minute})
	if err == nil {
		err = errors.Join(conn.Exec(statement), conn.Close())
	}
	if err != nil {
		r.Fatal(err)
	}
}

func TestReadyOfReadOnlyFile(t *testing.T) {
	r := openReadiness(t)
	r.store.AppDB.Pool.SetMaxOpenConns(1) // the connection with the pragma
	for _, step := range []struct{ pragma, why string }{{"ON", "the store cannot be used at the moment: the file is read-only"}, {"OFF", ""}} {
		if _, err := r.store.AppDB.Pool.Exec("PRAGMA query_only = " + step.pragma); err != nil {
			t.Fatal(err)
		}
		r.expect(step.why)
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
	r := openReadiness(t)
	w := r.store.Webhooks
	lease, err := w.Engine.Lease(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	write := func() error {
		version, err := w.Engine.Version(t.Context())
		if err != nil {
			return err
		}
		return w.Engine.Write(t.Context(), delivery.Batch{Version: version, Leases: []delivery.Lease{lease}})
	}
	const checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)"
	r.exec(checkpoint)
	path := filepath.Join(r.dir, appdb.FileName)
	const page = 4096
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put := func(text []byte, at int64) {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = file.WriteAt(text, at)
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put(bytes.Repeat([]byte{0xFF}, len(good)-page), page)
	r.expect("the store cannot be used at the moment: the file is damaged")
	if err := write(); !errors.Is(err, delivery.ErrDamaged) {
		t.Errorf("writing a batch: %v", err)
	}
	put(good, 0)
	r.exec("UPDATE WH_Number SET Next = Next + 1 WHERE Name = 'Probe'") // clears cached damaged pages
	r.expect("")
	if err := write(); err != nil {
		t.Errorf("writing a batch: %v", err)
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
			if err := r.store.Ready(ctx); !fault.Is(err, fault.Unavailable) && err != nil {
				t.Errorf("ready: %v", err)
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
		n, err := appdb.QueryOne(t.Context(), r.store.AppDB, appdb.ScanInt, `SELECT Next FROM whd.WH_Number WHERE Name = 'Probe'`)
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
		t.Errorf("%d writes for 100 calls", n)
	}
	r.expect("")
	if n := writes() - before; n != 1 {
		t.Errorf("%d writes for a later call", n)
	}
}
