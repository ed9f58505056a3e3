package sqlstore

import (
	"fmt"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/sqlite"
)

// checkpointer decides when the log of a file is written back into it. A writer
// that does so between two transactions of its own lets the log begin again from
// its start; one beside it never would.
type checkpointer struct {
	batches   int
	length    int64     // of the log, in pages, after the last transaction
	last      time.Time // that anything was written back
	restarted time.Time // that readers were waited for
	blocked   time.Time // that one kept the log from its bound
	drain     *executor.Drain
}

// What a transaction changes is not known from what it is asked to write: an
// outcome is a few hundred bytes, and eight pages of the log where the messages
// of many subscriptions take turns. So it is the log that is measured.
const (
	walBatches = 250
	walPage    = 4096
	walBehind  = 32 << 20 / walPage // pages after which it is written back
	walLong    = 40 << 20 / walPage // and after which readers are waited for,
	walMost    = 48 << 20 / walPage // longer, so that it stays below 64 MiB
	walPause   = 50 * time.Millisecond
	walRestart = time.Second
	walBlocked = 10 * time.Second // after a reader was waited for in vain
	walWait    = 100 * time.Millisecond
	walWaitMax = time.Second // the age of a reader that may let the log grow
)

// due counts a transaction, and reports whether it is time to write back.
func (k *checkpointer) due(conn *sqlite.Conn) bool {
	k.batches++
	_, length, done, err := checkpoint(conn, "NOOP")
	k.length = length
	return err == nil && (length > walMost && time.Since(k.blocked) >= walBlocked ||
		(k.batches >= walBatches || length-done >= walBehind) && time.Since(k.last) >= walPause)
}

// writeBack writes back what no reader needs any more, and where the log is
// long waits for readers so that it can begin again. What fails here is done the
// next time, and loses nothing.
func (k *checkpointer) writeBack(conn *sqlite.Conn) {
	_, _, _, _ = checkpoint(conn, "PASSIVE")
	switch {
	case k.length > walMost && time.Since(k.blocked) >= walBlocked:
		if !k.restart(conn, walWaitMax) {
			k.blocked = time.Now()
		}
	case k.length > walLong && time.Since(k.restarted) >= walRestart:
		k.restart(conn, walWait)
	}
	k.batches, k.last = 0, time.Now()
}

// restart waits for readers of the log, of which the long ones make way, and
// reports whether none was left.
func (k *checkpointer) restart(conn *sqlite.Conn, wait time.Duration) bool {
	defer k.drain.Begin()()
	if err := conn.Exec(fmt.Sprintf("PRAGMA busy_timeout = %d", wait.Milliseconds())); err != nil {
		return false
	}
	busy, _, _, err := checkpoint(conn, "RESTART")
	_ = conn.Exec(fmt.Sprintf("PRAGMA busy_timeout = %d", appdb.FileTimeout.Milliseconds()))
	k.restarted = time.Now()
	return err == nil && !busy
}

// checkpoint gives the length of the log and how much of it was written back, in
// pages, and whether a reader or a writer was in the way.
func checkpoint(conn *sqlite.Conn, mode string) (busy bool, length, done int64, err error) {
	err = conn.Query("PRAGMA wal_checkpoint("+mode+")", func(s *sqlite.Stmt) error {
		busy, length, done = s.Int(0) != 0, s.Int(1), s.Int(2)
		return nil
	})
	return busy, length, done, err
}
