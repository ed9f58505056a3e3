package requestlog

import (
	"context"
	"time"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/daemon/fault"
)

const (
	batchSize  = 1024
	gather     = 250 * time.Millisecond // for which a batch may wait to grow
	pruneEvery = time.Minute
	pruneAgain = 20 * time.Millisecond // where one time was not enough
	patience   = 10 * time.Second      // for one attempt to write
	minPause   = 500 * time.Millisecond
	maxPause   = 10 * time.Second
)

// writer writes what a Recorder holds, in a goroutine of its own.
type writer struct {
	*Recorder
	batch []Entry         // what has to be written first
	spare []Entry         // room for the next ones
	next  time.Time       // of pruning
	grown int64           // bytes written since entries were removed
	pause backoff.Backoff // before the next attempt, after one that failed
}

// run writes until Stop, and once more then.
func (w *writer) run() {
	defer close(w.done)
	for !w.stopping() {
		written := w.await()
		w.write()
		w.prune()
		if written != nil {
			close(written)
		}
	}
	w.write()
}

func (w *writer) stopping() bool {
	select {
	case <-w.stop:
		return true
	default:
		return false
	}
}

// await waits for something to do: entries, once they are worth a batch; the
// time for the next attempt, after one that failed; somebody who waits for a
// flush, who is returned; or the time to prune.
func (w *writer) await() chan struct{} {
	wake, wait := w.wake, max(0, time.Until(w.next))
	if pause := w.pause.Wait(); pause > 0 {
		wake, wait = nil, pause
	}
	idle := time.NewTimer(wait)
	defer idle.Stop()
	select {
	case <-wake:
		return w.gather()
	case written := <-w.flushes:
		return written
	case <-idle.C:
	case <-w.stop:
	}
	return nil
}

// gather gives the next batch time to grow.
func (w *writer) gather() chan struct{} {
	wait := time.NewTimer(gather)
	defer wait.Stop()
	select {
	case <-w.enough:
	case <-wait.C:
	case written := <-w.flushes:
		return written
	case <-w.stop:
	}
	return nil
}

// write writes all that waits, up to the first failure.
func (w *writer) write() {
	for w.take() {
		part := w.part()
		if err := w.attempt(part); err != nil && w.failed(err, part) {
			return
		}
		w.batch = w.batch[len(part):]
		w.prune()
	}
}

// grownShare is the part of the bound by which the log may grow before it is
// pruned.
const grownShare = 32

// part is the beginning of the batch: as much as is written at a time.
func (w *writer) part() []Entry {
	n, size, most := 0, int64(0), w.Keep().Size/grownShare
	for n < min(len(w.batch), batchSize) && (n == 0 || most == 0 || size < most) {
		size += int64(w.batch[n].Size())
		n++
	}
	if w.grown += size; most > 0 && w.grown >= most {
		w.next = time.Time{}
	}
	return w.batch[:n]
}

// take moves what waits into the batch, unless that still has something. It
// reports whether there is anything.
func (w *writer) take() bool {
	if len(w.batch) > 0 {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.waiting
	w.waiting = w.spare[:0]
	w.batch, w.spare = taken, taken
	if cap(taken) > 4*batchSize {
		w.spare = nil // a burst's room is not kept
	}
	return len(taken) > 0
}

func (w *writer) attempt(part []Entry) error {
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	if err := w.Store.Append(ctx, part); err != nil {
		return err
	}
	w.pause.Reset()
	w.mu.Lock()
	w.counts.Written += int64(len(part))
	w.release(part)
	var over trouble
	ended := false
	if w.held.Entries <= w.MaxEntries/2 && w.held.Bytes <= w.MaxBytes/2 { // else it would begin again at once
		over, ended = w.trouble.end()
	}
	w.mu.Unlock()
	if ended {
		w.Log.Warn("the request log is written again", "dropped", over.dropped, "failures", over.failures)
	}
	return nil
}

// release gives back the room that entries took, and what they hold.
func (w *writer) release(part []Entry) {
	w.held.Entries -= len(part)
	for i := range part {
		w.held.Bytes -= part[i].Size()
		part[i] = Entry{}
	}
}

// failed notes that a part could not be written, and reports whether it has to
// be tried again. A failure that would not pass ends with the part.
func (w *writer) failed(err error, part []Entry) (again bool) {
	again = fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Timeout) || w.ctx.Err() != nil
	w.mu.Lock()
	w.counts.Failures++
	began := w.trouble.note(0, 1)
	if !again {
		w.counts.Dropped += int64(len(part))
		w.trouble.dropped += int64(len(part))
		w.release(part)
	}
	w.mu.Unlock()
	if began {
		w.Log.Warn("the request log cannot be written; requests go on, and the newest entries are dropped once its buffer is full", "error", err.Error())
	}
	if again {
		w.pause.Next()
	}
	return again
}

// prune removes a few entries that are too old or too many, where it is time
// for that.
func (w *writer) prune() {
	now := time.Now()
	if now.Before(w.next) || w.pause.Wait() > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	keep := w.Keep()
	var before time.Time
	if keep.For > 0 {
		before = now.Add(-keep.For)
	}
	more, err := w.Store.Prune(ctx, before, keep.Size)
	w.grown = 0
	w.next = now.Add(pruneEvery)
	if err == nil && more {
		w.next = now.Add(pruneAgain)
	}
}

// trouble is what has gone wrong since it last went well.
type trouble struct {
	on       bool
	dropped  int64
	failures int64
}

// note adds to it, and reports whether it is the first.
func (t *trouble) note(dropped, failures int64) (began bool) {
	began, t.on = !t.on, true
	t.dropped += dropped
	t.failures += failures
	return began
}

// end notes that all is well. It reports whether it was not, and what it was.
func (t *trouble) end() (was trouble, ended bool) {
	was = *t
	*t = trouble{}
	return was, was.on
}
