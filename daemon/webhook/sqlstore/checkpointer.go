package sqlstore

import (
	"fmt"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/sqlite"
)

// checkpointer decides when to checkpoint the WAL of a file. If the writer does so
// between its transactions, the WAL can restart from its beginning; a concurrent
// checkpoint never achieves that.
type checkpointer struct {
	batches   int
	length    int64     // of the WAL, in pages, after the last transaction
	last      time.Time // last checkpoint
	restarted time.Time // last wait for readers
	blocked   time.Time // last time a reader kept the WAL above its limit
	drain     *executor.Drain
}

// The WAL is measured, since the size of a transaction cannot be derived from the
// batch: an outcome has a few hundred bytes, but needs eight pages of the WAL if
// messages of many subscriptions alternate.
const (
	checkpointBatches  = 250
	walPageSize        = 4096
	maxWALBehind       = 32 << 20 / walPageSize // pages after which to checkpoint
	waitWALSize        = 40 << 20 / walPageSize // pages after which to wait for readers
	maxWALSize         = 48 << 20 / walPageSize // pages after which to wait longer, to stay below 64 MiB
	checkpointInterval = 50 * time.Millisecond
	restartInterval    = time.Second
	blockedInterval    = 10 * time.Second // after waiting for a reader in vain
	readerWait         = 100 * time.Millisecond
	maxReaderWait      = time.Second // max. duration of a read that may let the WAL grow
)

// due counts a transaction and reports whether a checkpoint is due.
func (k *checkpointer) due(conn *sqlite.Conn) bool {
	k.batches++
	_, length, done, err := runCheckpoint(conn, "NOOP")
	k.length = length
	return err == nil && (length > maxWALSize && time.Since(k.blocked) >= blockedInterval ||
		(k.batches >= checkpointBatches || length-done >= maxWALBehind) && time.Since(k.last) >= checkpointInterval)
}

// checkpoint writes back the pages that no reader needs, and waits for readers if
// the WAL is long, so that it can restart. Errors are ignored: no data is lost, and
// the next checkpoint repeats the work.
func (k *checkpointer) checkpoint(conn *sqlite.Conn) {
	_, _, _, _ = runCheckpoint(conn, "PASSIVE")
	switch {
	case k.length > maxWALSize && time.Since(k.blocked) >= blockedInterval:
		if !k.restart(conn, maxReaderWait) {
			k.blocked = time.Now()
		}
	case k.length > waitWALSize && time.Since(k.restarted) >= restartInterval:
		k.restart(conn, readerWait)
	}
	k.batches, k.last = 0, time.Now()
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
