package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// walOf returns the length of the WAL of a store in a file, in bytes.
func walOf(t *testing.T, f *fileWriter) int64 {
	t.Helper()
	info, err := os.Stat(f.path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// waitForCheckpoint waits until no checkpoint is running.
func waitForCheckpoint(f *fileWriter) {
	f.wal.running <- struct{}{}
	<-f.wal.running
}

// TestWALIsCheckpointed checks that the WAL stays small during continuous writes.
func TestWALIsCheckpointed(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	version := w.mustVersion(t)
	f := w.fileWriter()
	const batches, size = 8, 16 << 20
	for i := range int64(batches) {
		f.wal.running <- struct{}{}
		f.wal.last = time.Time{} // the next checkpoint need not wait
		<-f.wal.running
		w.mustWrite(t, hookBatch(version, 1+10*i, 1, r, l, strings.Repeat("x", size)))
	}

	waitForCheckpoint(f)
	const limit = 6 * size
	if got := walOf(t, f); got > limit {
		t.Errorf("the WAL has %d bytes after %d bytes were written, want at most %d", got, batches*size, limit)
	}
}

// TestBatchesDoNotWaitForCheckpoint writes batches while a checkpoint waits to end, and
// checks that the WAL restarts after it.
func TestBatchesDoNotWaitForCheckpoint(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	version := w.mustVersion(t)
	f := w.fileWriter()
	write := func(id int64, size int) {
		t.Helper()
		w.mustWrite(t, hookBatch(version, id, 1, r, l, strings.Repeat("x", size)))
	}
	walPages := func() int64 {
		t.Helper()
		unlock, err := f.db.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer unlock()
		_, length, _, err := runCheckpoint(f.conn, "NOOP")
		if err != nil {
			t.Fatal(err)
		}
		return length
	}

	// The checkpoint stops before its end, when it acquires the write lock.
	isEnding := make(chan struct{})
	mayEnd := make(chan struct{})
	lock := f.wal.lock
	f.wal.lock = func(ctx context.Context) (func(), error) {
		close(isEnding)
		<-mayEnd
		return lock(ctx)
	}
	reader, err := sqlite.Open(f.path, sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	exec := func(statement string) {
		t.Helper()
		if err := reader.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("BEGIN; SELECT COUNT(*) FROM WH_Event") // pages that it needs are left to the end
	write(1, 25<<20)
	<-isEnding
	exec("COMMIT")
	write(11, 1000)
	before := walPages()

	close(mayEnd)
	waitForCheckpoint(f)
	write(21, 1000)
	if after := walPages(); before < maxWALBehind || after > 100 {
		t.Errorf("the WAL has %d pages before the end of the checkpoint, and %d after it, want at least %d and at most 100",
			before, after, maxWALBehind)
	}
}

// TestUnmeasuredWALKeepsItsLength measures the WAL in vain, while its connection is in a transaction.
// Writers must wait for a checkpoint of a long WAL as before.
func TestUnmeasuredWALKeepsItsLength(t *testing.T) {
	w := hooksInFile(t)
	f := w.fileWriter()
	conn, err := openToWrite(f.path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = conn.Exec("BEGIN IMMEDIATE")
	if err != nil {
		t.Fatal(err)
	}
	f.wal.length.Store(maxWALSize)
	f.wal.written(conn)
	if got := f.wal.length.Load(); got != maxWALSize {
		t.Errorf("the length of the WAL is %d pages after an error, want %d as before", got, maxWALSize)
	}
}

// TestFailedSync lets a checkpoint fail to sync the file. Everything that is written must
// stay in the WAL, also after the connections are closed, and all later writes must fail.
func TestFailedSync(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	version := w.mustVersion(t)
	f := w.fileWriter()
	f.wal.sync = func(*sqlite.Conn) error { return errors.New("input/output error") }
	const size = 25 << 20
	w.mustWrite(t, hookBatch(version, 1, 1, r, l, strings.Repeat("x", size)))

	f.wal.running <- struct{}{} // waits for the checkpoint
	f.wal.last = time.Time{}
	isDue := f.wal.due(maxWALSize+1, maxWALSize)
	<-f.wal.running
	if isDue {
		t.Error("another checkpoint is due after a failed sync")
	}
	err := f.db.CheckFiles()
	if !errors.Is(err, appdb.ErrUnsynced) || !strings.Contains(err.Error(), "input/output error") {
		t.Errorf("checking the files: error %v, want %v because of an input/output error", err, appdb.ErrUnsynced)
	}
	err = w.Engine.Write(t.Context(), hookBatch(version, 11, 1, r, l, "{}"))
	if !errors.Is(err, delivery.ErrFenced) {
		t.Errorf("writing a batch: error %v, want %v", err, delivery.ErrFenced)
	}
	_, err = w.Engine.AllocateIDs(t.Context(), 1)
	if !errors.Is(err, appdb.ErrUnsynced) {
		t.Errorf("allocating an ID: error %v, want %v", err, appdb.ErrUnsynced)
	}

	err = f.conn.Close()
	f.conn = nil
	if err := errors.Join(err, w.Engine.Close(), w.Admin.db.Close()); err != nil {
		t.Error(err)
	}
	if got := walOf(t, f); got < size {
		t.Errorf("the WAL has %d bytes after all connections were closed, want at least %d", got, size)
	}
	if err := f.wal.conn.Close(); err != nil {
		t.Error(err)
	}
}

// TestWaitForCheckpointEnds cancels a write that waits for a checkpoint of a long WAL.
func TestWaitForCheckpointEnds(t *testing.T) {
	w := hooksInFile(t)
	r, l := subscribed(t, w)
	b := hookBatch(w.mustVersion(t), 1, 1, r, l, "{}")
	f := w.fileWriter()
	f.wal.running <- struct{}{}
	defer func() { <-f.wal.running }()
	f.wal.length.Store(waitWALSize + 1)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := w.Engine.Write(ctx, b)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("writing with a cancelled context: error %v, want %v", err, context.Canceled)
	}
}

// TestFailedCheckpointWaits checks that a checkpoint that cannot open the file is not
// repeated after each transaction.
func TestFailedCheckpointWaits(t *testing.T) {
	w := hooksInFile(t)
	k := &w.fileWriter().wal
	k.path += ".missing"
	k.checkpoint()
	if k.last.IsZero() {
		t.Error("the next checkpoint is due at once, want a wait after the one that failed")
	}
}

// TestWALStaysBounded writes many pages with small batches, as outcomes of many
// subscriptions do, while a reader is always active and ends only when the WAL
// needs to restart.
func TestWALStaysBounded(t *testing.T) {
	w := hooksInFile(t)
	f := w.fileWriter()
	if err := f.conn.Exec("CREATE TABLE scratch (n INTEGER PRIMARY KEY, filling BLOB)"); err != nil {
		t.Fatal(err)
	}
	stopReading := readContinuously(t, f)

	const transactions, size = 14, 8 << 20
	const limit = 64 << 20
	longest := int64(0)
	for range transactions {
		err := f.locked(t.Context(), func() error {
			return f.conn.Exec(fmt.Sprintf("INSERT OR REPLACE INTO scratch VALUES (1, zeroblob(%d))", size))
		})
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, walOf(t, f))
	}
	stopReading()
	if longest > limit {
		t.Errorf("the WAL had up to %d bytes when %d were written, want at most %d", longest, transactions*size, limit)
	}
}

// readContinuously reads the table scratch in a transaction, until the returned function is called.
// The transaction only ends, and another starts, if a checkpoint requests that.
func readContinuously(t *testing.T, f *fileWriter) (stop func()) {
	t.Helper()
	reader, err := sqlite.Open(f.path, sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	exec := func(statement string) {
		if err := reader.Exec(statement); err != nil {
			t.Error(err)
		}
	}
	const begin = "BEGIN; SELECT COUNT(*) FROM scratch"
	exec(begin)

	stopped := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			drained := f.db.Drain.Requested()
			if drained != nil {
				exec("COMMIT")
				<-drained
				exec(begin)
			}
			select {
			case <-stopped:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() {
		close(stopped)
		<-ended
		reader.Close()
	}
}
