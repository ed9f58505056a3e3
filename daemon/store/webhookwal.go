package store

import (
	"fmt"
	"time"

	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook"
)

// walKeeper decides when the log of a file is written back into it. A writer
// that does so between two transactions of its own lets the log begin anew; one
// beside it never would.
type walKeeper struct {
	batches   int
	bytes     int
	last      time.Time // that anything was written back
	restarted time.Time // that the log began anew
}

const (
	walBatches = 250
	walBytes   = 16 << 20
	walPause   = 50 * time.Millisecond
	walLong    = 64 << 20 / walPage // pages after which readers are waited for
	walPage    = 4096
	walRestart = time.Second
)

// rarelyBack has the connections beside the writer's, whose commits hold up the
// batches, leave the log to the writer. They write it back where there are no
// batches.
const rarelyBack = "wal_autocheckpoint(4096)" // pages, as many as walBytes

// due counts a transaction by about what it adds to the log, and reports
// whether it is time to write back.
func (k *walKeeper) due(weight int) bool {
	k.batches++
	k.bytes += weight
	return (k.batches >= walBatches || k.bytes >= walBytes) && time.Since(k.last) >= walPause
}

// batchWeight is about what a batch adds to the log.
func batchWeight(b *webhook.Batch) int {
	weight := (len(b.Messages) + len(b.Outcomes)) * 512
	for _, e := range b.Events {
		weight += len(e.Body)
	}
	return weight
}

// writeBack writes back what no reader needs any more, and where the log is
// long waits a little for readers so that it can begin anew. What fails here is
// done the next time, and loses nothing.
func (k *walKeeper) writeBack(conn *sqlite.Conn) {
	pages, err := checkpoint(conn, "PASSIVE")
	if err == nil && pages > walLong && time.Since(k.restarted) >= walRestart {
		if err := conn.Exec("PRAGMA busy_timeout = 100"); err == nil {
			_, _ = checkpoint(conn, "RESTART")
			_ = conn.Exec(fmt.Sprintf("PRAGMA busy_timeout = %d", fileBusy.Milliseconds()))
		}
		k.restarted = time.Now()
	}
	k.batches, k.bytes, k.last = 0, 0, time.Now()
}

// checkpoint gives the length of the log, in pages.
func checkpoint(conn *sqlite.Conn, mode string) (int64, error) {
	s, err := conn.Prepare("PRAGMA wal_checkpoint(" + mode + ")")
	if err != nil {
		return 0, err
	}
	defer s.Reset()
	if _, err := s.Step(); err != nil {
		return 0, err
	}
	return s.Int(1), nil
}
