package requestlog

import (
	"context"
	"time"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/daemon/fault"
)

const (
	batchSize             = 1024
	gather                = 250 * time.Millisecond // how long a batch may grow before it is written
	pruneInterval         = time.Minute
	pruneContinueInterval = 20 * time.Millisecond // if the last pruning did not remove all
	writeTimeout          = 10 * time.Second      // of one attempt
	minPause              = 500 * time.Millisecond
	maxPause              = 10 * time.Second
)

// writer writes the entries of a Recorder, in its own goroutine.
type writer struct {
	*Recorder
	batch []Entry         // the entries to write next
	spare []Entry         // buffer to reuse for the queue
	next  time.Time       // time of the next pruning
	grown int64           // bytes written since the last pruning
	pause backoff.Backoff // before the next attempt after a failure
}

// run writes until Stop, and then a last time.
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

// await waits for work: the first entry of a batch, the next attempt after a
// failure, a flush (it returns the channel), or the next pruning.
func (w *writer) await() chan struct{} {
	wake := w.wake
	wait := max(0, time.Until(w.next))
	if pause := w.pause.Wait(); pause > 0 {
		wake = nil // new entries do not end the pause
		wait = pause
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

// gather waits for the batch to fill up.
func (w *writer) gather() chan struct{} {
	wait := time.NewTimer(gather)
	defer wait.Stop()
	select {
	case <-w.batchReady:
	case <-wait.C:
	case written := <-w.flushes:
		return written
	case <-w.stop:
	}
	return nil
}

// write writes all buffered entries, up to the first failure.
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

// grownShare is the part (1/32) of the maximum size that may be written before the
// log is pruned.
const grownShare = 32

// part returns the entries of the batch to write in one transaction.
func (w *writer) part() []Entry {
	maxBytes := w.Retention().MaxSize / grownShare
	n := 0
	size := int64(0)
	hasRoom := func() bool { return n == 0 || maxBytes == 0 || size < maxBytes }
	for n < min(len(w.batch), batchSize) && hasRoom() {
		size += int64(w.batch[n].Size())
		n++
	}
	w.grown += size
	if maxBytes > 0 && w.grown >= maxBytes {
		w.next = time.Time{}
	}
	return w.batch[:n]
}

// take moves the queued entries into the batch if that is empty. It reports whether
// the batch has entries.
func (w *writer) take() bool {
	if len(w.batch) > 0 {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	queue := w.queue
	w.queue = w.spare[:0]
	w.batch, w.spare = queue, queue
	if cap(queue) > 4*batchSize {
		w.spare = nil // do not keep the memory of a burst
	}
	return len(queue) > 0
}

// attempt writes entries in one transaction.
func (w *writer) attempt(part []Entry) error {
	ctx, cancel := context.WithTimeout(w.ctx, writeTimeout)
	defer cancel()
	if err := w.Store.Append(ctx, part); err != nil {
		return err
	}
	w.pause.Reset()
	if previous, ended := w.written(part); ended {
		w.Log.Warn("the request log can be written again",
			"dropped", previous.dropped, "failures", previous.failures)
	}
	return nil
}

// written removes written entries from the buffer, and returns the outage that this ended.
func (w *writer) written(part []Entry) (previous outage, ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts.Written += int64(len(part))
	w.release(part)
	// With a buffer that is nearly full, the next outage would start immediately.
	if w.buffered.Entries > w.MaxEntries/2 || w.buffered.Bytes > w.MaxBytes/2 {
		return outage{}, false
	}
	return w.outage.end()
}

// release removes written entries from the buffer.
func (w *writer) release(part []Entry) {
	for i := range part {
		size := part[i].Size()
		w.buffered.add(-1, -size)
		if part[i].Anonymous() {
			w.anonymous.add(-1, -size)
		}
		part[i] = Entry{}
	}
}

// failed handles a failed write and reports whether to retry. A permanent failure
// drops the part.
func (w *writer) failed(err error, part []Entry) (retry bool) {
	retry = fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Timeout) || w.ctx.Err() != nil
	w.mu.Lock()
	w.counts.Failures++
	first := w.outage.add(0, 1)
	if !retry {
		w.counts.Dropped += int64(len(part))
		w.outage.dropped += int64(len(part))
		w.release(part)
	}
	w.mu.Unlock()
	if first {
		w.Log.Warn("the request log cannot be written;"+
			" requests are served, but new entries are dropped once the buffer is full",
			"error", err.Error())
	}
	if retry {
		w.pause.Next()
	}
	return retry
}

// prune removes entries that exceed the retention, if pruning is due.
func (w *writer) prune() {
	now := time.Now()
	if now.Before(w.next) || w.pause.Wait() > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(w.ctx, writeTimeout)
	defer cancel()
	retention := w.Retention()
	var before time.Time
	if retention.MaxAge > 0 {
		before = now.Add(-retention.MaxAge)
	}
	hasMore, err := w.Store.Prune(ctx, before, retention.MaxSize)
	w.grown = 0
	w.next = now.Add(pruneInterval)
	if err == nil && hasMore {
		w.next = now.Add(pruneContinueInterval)
	}
}

// outage collects the failures since the last success.
type outage struct {
	active   bool
	dropped  int64
	failures int64
}

// add adds failures and reports whether they are the first.
func (o *outage) add(dropped, failures int64) (first bool) {
	first = !o.active
	o.active = true
	o.dropped += dropped
	o.failures += failures
	return first
}

// end resets the outage and returns the previous one; ended reports whether there
// was one.
func (o *outage) end() (previous outage, ended bool) {
	previous = *o
	*o = outage{}
	return previous, previous.active
}
