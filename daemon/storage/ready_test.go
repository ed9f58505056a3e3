package storage

import (
	"bytes"
	"context"
	"errors"
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

// readiness is an open store whose readiness is asked for.
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

// ask is Ready without what the last call has found.
func (r *readiness) ask(ctx context.Context) error {
	r.store.AppDB.Probe.At = time.Time{}
	return r.store.Ready(ctx)
}

// expect compares what keeps the store from being ready, empty for nothing.
func (r *readiness) expect(why string) {
	r.Helper()
	err := r.ask(r.Context())
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

func TestReadyOfAReadOnlyFile(t *testing.T) {
	r := openReadiness(t)
	r.store.AppDB.Pool.SetMaxOpenConns(1) // the one that is set
	for _, step := range []struct{ pragma, why string }{{"ON", "the store cannot be used at the moment: the file is read-only"}, {"OFF", ""}} {
		if _, err := r.store.AppDB.Pool.Exec("PRAGMA query_only = " + step.pragma); err != nil {
			t.Fatal(err)
		}
		r.expect(step.why)
	}
}

// TestReadyOfADamagedFile overwrites all but the first page, and puts back what
// was there, as a repair by another program does.
func TestReadyOfADamagedFile(t *testing.T) {
	r := openReadiness(t)
	w := r.store.Webhooks
	lease, err := w.Lease(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	write := func() error {
		version, err := w.Version(t.Context())
		if err != nil {
			return err
		}
		return w.Write(t.Context(), delivery.Batch{Version: version, Leases: []delivery.Lease{lease}})
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
		t.Errorf("a batch gives %v", err)
	}
	put(good, 0)
	r.exec("UPDATE WH_Number SET Next = Next + 1 WHERE Name = 'Probe'") // and damaged pages are not remembered
	r.expect("")
	if err := write(); err != nil {
		t.Errorf("a batch gives %v", err)
	}
}

// TestReadyOfAFileThatHangs has the right to write taken for good, as by a write
// that does not end. Those who ask do not wait for it.
func TestReadyOfAFileThatHangs(t *testing.T) {
	r := openReadiness(t)
	leave, err := r.store.AppDB.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if err := r.store.Ready(ctx); !fault.Is(err, fault.Unavailable) && err != nil {
				t.Errorf("ready: %v", err)
			}
		})
	}
	asking.Wait()
	leave()
	r.expect("")
}

// TestReadyWritesSeldom asks often: one write serves all who ask within a while.
func TestReadyWritesSeldom(t *testing.T) {
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
		t.Errorf("%d writes for 100 who ask", n)
	}
	r.expect("")
	if n := writes() - before; n != 1 {
		t.Errorf("%d writes for one who asks later", n)
	}
}
