package requestlog

import (
	"context"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

const (
	batchSize  = 1024
	gather     = 250 * time.Millisecond // for which a batch may wait to grow
	pruneEvery = time.Minute
	pruneAgain = 20 * time.Millisecond // where one time was not enough
	patience   = 10 * time.Second      // for one attempt to write
	firstPause = 500 * time.Millisecond
	mostPause  = 10 * time.Second
)

// run writes until Stop, and once more then.
func (r *Recorder) run() {
	defer close(r.done)
	for !r.stopping() {
		written := r.await()
		r.write()
		r.prune()
		if written != nil {
			close(written)
		}
	}
	r.write()
}

func (r *Recorder) stopping() bool {
	select {
	case <-r.stop:
		return true
	default:
		return false
	}
}

// await waits for something to do: entries, once they are worth a batch; the
// time for the next attempt, after one that failed; somebody who waits for a
// flush, who is returned; or the time to prune.
func (r *Recorder) await() chan struct{} {
	idle := time.NewTimer(r.restUntilNext())
	defer idle.Stop()
	wake := r.wake
	if r.pause > 0 {
		wake = nil
	}
	select {
	case <-wake:
		return r.gather()
	case written := <-r.flushes:
		return written
	case <-idle.C:
	case <-r.stop:
	}
	return nil
}

// restUntilNext is how long there is nothing to do unless something happens.
func (r *Recorder) restUntilNext() time.Duration {
	if r.pause > 0 {
		return r.pause
	}
	return max(0, time.Until(r.next))
}

// gather gives the next batch time to grow.
func (r *Recorder) gather() chan struct{} {
	wait := time.NewTimer(gather)
	defer wait.Stop()
	select {
	case <-r.enough:
	case <-wait.C:
	case written := <-r.flushes:
		return written
	case <-r.stop:
	}
	return nil
}

// write writes all that waits, up to the first failure.
func (r *Recorder) write() {
	for r.take() {
		part := r.part()
		if err := r.attempt(part); err != nil && r.failed(err, part) {
			return
		}
		r.batch = r.batch[len(part):]
		r.prune()
	}
}

// grownShare is the part of the bound by which the log may grow before it is
// pruned.
const grownShare = 32

// part is the beginning of the batch: as much as is written at a time.
func (r *Recorder) part() []Entry {
	n, size, most := 0, int64(0), r.Keep().Size/grownShare
	for n < min(len(r.batch), batchSize) && (n == 0 || most == 0 || size < most) {
		size += int64(r.batch[n].Size())
		n++
	}
	if r.grown += size; most > 0 && r.grown >= most {
		r.next = time.Time{}
	}
	return r.batch[:n]
}

// take moves what waits into the batch, unless that still has something. It
// reports whether there is anything.
func (r *Recorder) take() bool {
	if len(r.batch) > 0 {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.waiting
	r.waiting = r.spare[:0]
	r.batch, r.spare = taken, taken
	if cap(taken) > 4*batchSize {
		r.spare = nil // a burst's room is not kept
	}
	return len(taken) > 0
}

func (r *Recorder) attempt(part []Entry) error {
	ctx, cancel := context.WithTimeout(r.ctx, patience)
	defer cancel()
	if err := r.Store.Append(ctx, part); err != nil {
		return err
	}
	r.pause = 0
	r.mu.Lock()
	r.counts.Written += int64(len(part))
	r.release(part)
	var over trouble
	ended := false
	if r.held.Entries <= r.MaxEntries/2 && r.held.Bytes <= r.MaxBytes/2 { // else it would begin again at once
		over, ended = r.trouble.end()
	}
	r.mu.Unlock()
	if ended {
		r.Log.Warn("the request log is written again", "dropped", over.dropped, "failures", over.failures)
	}
	return nil
}

// release gives back the room that entries took, and what they hold.
func (r *Recorder) release(part []Entry) {
	r.held.Entries -= len(part)
	for i := range part {
		r.held.Bytes -= part[i].Size()
		part[i] = Entry{}
	}
}

// failed notes that a part could not be written, and reports whether it has to
// be tried again. A failure that would not pass ends with the part.
func (r *Recorder) failed(err error, part []Entry) (again bool) {
	again = fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Timeout) || r.ctx.Err() != nil
	r.mu.Lock()
	r.counts.Failures++
	began := r.trouble.fail()
	if !again {
		r.counts.Dropped += int64(len(part))
		r.trouble.dropped += int64(len(part))
		r.release(part)
	}
	r.mu.Unlock()
	if began {
		r.Log.Warn("the request log cannot be written; requests go on, and the newest entries are dropped once its buffer is full", "error", err.Error())
	}
	if again {
		r.pause = min(max(firstPause, 2*r.pause), mostPause)
	}
	return again
}

// prune removes a few entries that are too old or too many, where it is time
// for that.
func (r *Recorder) prune() {
	now := time.Now()
	if now.Before(r.next) || r.pause > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(r.ctx, patience)
	defer cancel()
	keep := r.Keep()
	var before time.Time
	if keep.For > 0 {
		before = now.Add(-keep.For)
	}
	more, err := r.Store.Prune(ctx, before, keep.Size)
	r.grown = 0
	r.next = now.Add(pruneEvery)
	if err == nil && more {
		r.next = now.Add(pruneAgain)
	}
}

// trouble is what has gone wrong since it last went well.
type trouble struct {
	on       bool
	dropped  int64
	failures int64
}

// drop and fail note something, and report whether it is the first.
func (t *trouble) drop() (began bool) {
	began, t.on = !t.on, true
	t.dropped++
	return began
}

func (t *trouble) fail() (began bool) {
	began, t.on = !t.on, true
	t.failures++
	return began
}

// end notes that all is well. It reports whether it was not, and what it was.
func (t *trouble) end() (was trouble, ended bool) {
	was = *t
	*t = trouble{}
	return was, was.on
}
