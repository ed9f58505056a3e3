package sqlstore

import (
	"context"
	"fmt"
	"sync"
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
	drain *executor.Drain

	length atomic.Int64 // of the WAL, in pages, after the last transaction

	// running is held from the decision to checkpoint to its end, and acquired before the
	// write lock. It guards the following.
	running   sync.Mutex
	conn      *sqlite.Conn // nil before the first checkpoint and after a failure
	last      time.Time    // last checkpoint
	restarted time.Time    // last wait for readers
	blocked   time.Time    // last time a reader kept the WAL above its limit
}

// The WAL is measured, since the size of a transaction cannot be derived from the
// batch: an outcome has a few hundred bytes, but needs eight pages of the WAL if
// messages of many subscriptions alternate.
const (
	walPageSize        = 4096
	maxWALBehind       = 16 << 20 / walPageSize // pages to write back after which to checkpoint
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
	return sqlite.Open(path, sqlite.Options{Existing: true, BusyTimeout: appdb.FileTimeout,
		Pragmas: []string{"synchronous = FULL", "wal_autocheckpoint = 0", "cache_size = -8000", "journal_size_limit = 33554432", "temp_store = MEMORY"}})
}

// await waits for a running checkpoint if the WAL is long. It is called before the write
// lock is acquired.
func (k *checkpointer) await() {
	if k.length.Load() > waitWALSize {
		k.running.Lock()
		defer k.running.Unlock()
	}
}

// written starts a checkpoint if one is due after a transaction of a connection.
func (k *checkpointer) written(conn *sqlite.Conn) {
	_, length, done, err := runCheckpoint(conn, "NOOP")
	k.length.Store(length)
	if err != nil || !k.running.TryLock() {
		return
	}
	if !k.due(length, length-done) {
		k.running.Unlock()
		return
	}
	go func() {
		defer k.running.Unlock()
		k.checkpoint()
	}()
}

func (k *checkpointer) due(length, behind int64) bool {
	return length > maxWALSize && time.Since(k.blocked) >= blockedInterval || behind >= maxWALBehind && time.Since(k.last) >= checkpointInterval
}

// checkpoint writes back the pages that no reader needs, and waits for readers if
// the WAL is long, so that it can restart. Errors are ignored: no data is lost, and
// the next checkpoint repeats the work.
func (k *checkpointer) checkpoint() {
	if k.conn == nil {
		conn, err := openToWrite(k.path)
		if err != nil {
			return
		}
		k.conn = conn
	}
	_, _, _, err := runCheckpoint(k.conn, "PASSIVE")
	if err == nil {
		err = k.finish()
	}
	if err != nil {
		k.conn.Close()
		k.conn = nil
	}
	k.last = time.Now()
}

// finish writes back the pages of the transactions since the checkpoint while the writer
// pauses. This takes one short fsync: that of the transactions is done, and the pages that
// the checkpoint has written are synced before, since SQLite only does so at the end of
// the WAL.
func (k *checkpointer) finish() error {
	err := k.conn.Sync()
	if err != nil {
		return err
	}
	unlock, err := k.lock(context.Background())
	if err != nil {
		return err
	}
	defer unlock()
	_, length, _, err := runCheckpoint(k.conn, "PASSIVE")
	switch {
	case length > maxWALSize && time.Since(k.blocked) >= blockedInterval:
		if !k.restart(k.conn, maxReaderWait) {
			k.blocked = time.Now()
		}
	case length > waitWALSize && time.Since(k.restarted) >= restartInterval:
		k.restart(k.conn, readerWait)
	}
	return err
}

// close waits for a running checkpoint. No transactions may follow.
func (k *checkpointer) close() error {
	k.running.Lock()
	defer k.running.Unlock()
	if k.conn == nil {
		return nil
	}
	return k.conn.Close()
}

// restart waits for the readers of the WAL, interrupting long reads, and reports
// whether the WAL can restart.
func (k *checkpointer) restart(conn *sqlite.Conn, wait time.Duration) bool {
	defer k.drain.Begin()()
	if err := conn.Exec(fmt.Sprintf("PRAGMA busy_timeout = %d", wait.Milliseconds())); err != nil {
		return false
	}
	busy, _, _, err := runCheckpoint(conn, "RESTART")
	_ = conn.Exec(fmt.Sprintf("PRAGMA busy_timeout = %d", appdb.FileTimeout.Milliseconds()))
	k.restarted = time.Now()
	return err == nil && !busy
}

// runCheckpoint runs a checkpoint in a mode. It returns the length of the WAL and
// how much of it is written back, in pages, and whether a reader or writer blocked
// it.
func runCheckpoint(conn *sqlite.Conn, mode string) (busy bool, length, done int64, err error) {
	err = conn.Query("PRAGMA wal_checkpoint("+mode+")", func(s *sqlite.Stmt) error {
		busy, length, done = s.Int(0) != 0, s.Int(1), s.Int(2)
		return nil
	})
	return busy, length, done, err
}
