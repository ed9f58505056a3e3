package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/sqlite"
)

// checkpointer writes the WAL of a file back. It has its own connection and runs
// concurrently with the writer, so that batches do not wait for the disk. The WAL can
// only restart from its beginning if no transaction was added during the checkpoint;
// therefore the writer pauses for the last pages.
type checkpointer struct {
	path  string
	lock  func(context.Context) (unlock func(), err error) // the write lock
	fail  func(error)                                      // makes all writes fail
	sync  func(*sqlite.Conn) error                         // syncs the file without its WAL
	drain *executor.Drain

	length atomic.Int64 // of the WAL, in pages, after the last transaction

	// running has an element from the decision to checkpoint to its end; it is added before
	// the write lock is acquired. It guards the following.
	running   chan struct{}
	conn      *sqlite.Conn // nil before the first checkpoint and after a failure
	unsynced  bool         // a checkpoint has failed to sync: it was the last one
	last      time.Time    // last checkpoint
	restarted time.Time    // last wait for readers
	blocked   time.Time    // last time a reader kept the WAL above its limit
}

// The WAL is measured, since the size of a transaction cannot be derived from the
// batch: an outcome has a few hundred bytes, but needs eight pages of the WAL if
// messages of many subscriptions alternate.
const (
	walPageSize = 4096

	// The end of a checkpoint delays batches by two fsyncs.
	maxWALBehind       = 24 << 20 / walPageSize // pages to write back after which to checkpoint
	waitWALSize        = 40 << 20 / walPageSize // pages after which to wait for readers
	maxWALSize         = 48 << 20 / walPageSize // pages after which to wait longer, to stay below 64 MiB
	checkpointInterval = 50 * time.Millisecond
	restartInterval    = time.Second
	blockedInterval    = 10 * time.Second // after waiting for a reader in vain
	readerWait         = 100 * time.Millisecond
	maxReaderWait      = time.Second // max. duration of a read that may let the WAL grow
)

// openToWrite opens a connection of the batch writer. It disables automatic checkpoints,
// since SQLite would run them within a commit that many callers wait for. With temp_store,
// SQLite keeps the pages that each statement with triggers changes in memory, instead of
// writing them to a temporary file.
func openToWrite(path string) (*sqlite.Conn, error) {
	return sqlite.Open(path, sqlite.Options{
		Existing:    true,
		BusyTimeout: appdb.FileTimeout,
		Pragmas: []string{
			"synchronous = FULL",
			"wal_autocheckpoint = 0",
			"cache_size = -8000",
			"journal_size_limit = 33554432",
			"temp_store = MEMORY",
		},
	})
}

// await waits for a running checkpoint if the WAL is long. It is called before the write
// lock is acquired.
func (k *checkpointer) await(ctx context.Context) error {
	if k.length.Load() <= waitWALSize {
		return nil
	}
	select {
	case k.running <- struct{}{}:
		<-k.running
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// written starts a checkpoint if one is due after a transaction of a connection.
func (k *checkpointer) written(conn *sqlite.Conn) {
	_, length, done, err := runCheckpoint(conn, "NOOP")
	if err != nil {
		return // the length remains: await still counts on it
	}
	k.length.Store(length)
	select {
	case k.running <- struct{}{}:
	default:
		return
	}
	if !k.due(length, length-done) {
		<-k.running
		return
	}
	go func() {
		defer func() { <-k.running }()
		k.checkpoint()
	}()
}

// due reports whether to checkpoint a WAL of a length, with a number of pages to write back.
func (k *checkpointer) due(length, behind int64) bool {
	if k.unsynced {
		return false
	}
	if length > maxWALSize && time.Since(k.blocked) >= blockedInterval {
		return true
	}
	return behind >= maxWALBehind && time.Since(k.last) >= checkpointInterval
}

// checkpoint writes back the pages that no reader needs, and waits for readers if
// the WAL is long, so that it can restart. Errors are ignored, except those of run: the
// WAL keeps pages that are not written back, and the next checkpoint repeats the work.
func (k *checkpointer) checkpoint() {
	defer func() { k.last = time.Now() }()
	if k.conn == nil {
		conn, err := openToWrite(k.path)
		if err != nil {
			return
		}
		k.conn = conn
	}
	_, _, err := k.run(k.conn, "PASSIVE")
	if err == nil {
		err = k.finish()
	}
	if err != nil && !k.unsynced {
		k.conn.Close()
		k.conn = nil
	}
}

// run runs a checkpoint in a mode. If pages cannot be synced, it is the last one of this
// process: the next would not write these pages again, its fsync could succeed, and then
// the only copy of the pages, in the WAL, would be overwritten.
func (k *checkpointer) run(conn *sqlite.Conn, mode string) (busy bool, length int64, err error) {
	busy, length, _, err = runCheckpoint(conn, mode)
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Unsynced() {
		k.stop(err)
	}
	return busy, length, err
}

// stop ends checkpoints, and makes all writes fail.
func (k *checkpointer) stop(err error) {
	k.unsynced = true
	k.fail(err)
}

// finish writes back the pages of the transactions since the checkpoint while the writer
// pauses. This takes one short fsync: that of the transactions is done, and the pages that
// the checkpoint has written are synced before, since SQLite only does so at the end of
// the WAL.
func (k *checkpointer) finish() error {
	err := k.sync(k.conn)
	if err != nil {
		k.stop(err)
		return err
	}
	unlock, err := k.lock(context.Background())
	if err != nil {
		return err
	}
	defer unlock()
	_, length, err := k.run(k.conn, "PASSIVE")
	if err != nil {
		return err
	}
	if length > maxWALSize && time.Since(k.blocked) >= blockedInterval {
		if !k.restart(k.conn, maxReaderWait) {
			k.blocked = time.Now()
		}
	} else if length > waitWALSize && time.Since(k.restarted) >= restartInterval {
		k.restart(k.conn, readerWait)
	}
	return nil
}

// close waits for a running checkpoint. No transactions may follow. After a failed sync,
// the connection stays open, since SQLite would delete the WAL when the last one is closed.
func (k *checkpointer) close() error {
	k.running <- struct{}{}
	defer func() { <-k.running }()
	if k.conn == nil || k.unsynced {
		return nil
	}
	return k.conn.Close()
}

// restart waits for the readers of the WAL, interrupting long reads, and reports
// whether the WAL can restart.
func (k *checkpointer) restart(conn *sqlite.Conn, wait time.Duration) bool {
	endDrain := k.drain.Begin()
	defer endDrain()
	err := conn.Exec(fmt.Sprintf("PRAGMA busy_timeout = %d", wait.Milliseconds()))
	if err != nil {
		return false
	}
	busy, _, err := k.run(conn, "RESTART")
	_ = conn.Exec(fmt.Sprintf("PRAGMA busy_timeout = %d", appdb.FileTimeout.Milliseconds()))
	k.restarted = time.Now()
	return err == nil && !busy
}

// runCheckpoint runs a checkpoint in a mode. It returns the length of the WAL and
// how much of it is written back, in pages, and whether a reader or writer blocked
// it.
func runCheckpoint(conn *sqlite.Conn, mode string) (busy bool, length, done int64, err error) {
	err = conn.Query("PRAGMA wal_checkpoint("+mode+")", func(s *sqlite.Stmt) error {
		busy = s.Int(0) != 0
		length = s.Int(1)
		done = s.Int(2)
		return nil
	})
	return busy, length, done, err
}
