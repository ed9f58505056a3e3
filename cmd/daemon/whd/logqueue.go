package whd

import (
	"bytes"
	"io"
	"sync"
	"time"
)

const (
	maxQueuedLog  = 1 << 20 // bytes
	logInterval   = 10 * time.Millisecond
	logQueueGrace = 3 * time.Second // also for the final error
)

// logQueue writes log lines in the background, so that nothing waits for a reader of the
// log that has stalled. Lines that find the queue full are dropped and counted.
type logQueue struct {
	out    io.Writer
	report func(lost int64) // logs the number of lines dropped since the previous report
	done   chan struct{}    // closed when everything is written

	mu       sync.Mutex
	changed  *sync.Cond // signals a change of the fields below
	lines    []byte
	lost     int64
	reported int64
	flushes  []chan struct{} // each is closed when the lines before it are written
	closed   bool
}

// newLogQueue returns a queue for run. Close must be called.
func newLogQueue(out io.Writer) *logQueue {
	q := &logQueue{out: out, done: make(chan struct{})}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// Write queues one line. It never fails.
func (q *logQueue) Write(line []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines)+len(line) > maxQueuedLog {
		q.lost++
	} else {
		q.lines = append(q.lines, line...)
	}
	q.changed.Signal()
	return len(line), nil
}

// Lost returns the number of lines dropped so far.
func (q *logQueue) Lost() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lost
}

// run writes lines until Close. It pauses between writes, so that many lines need one.
// Lines that cannot be written are lost, but not reported: a report could not be written
// either.
func (q *logQueue) run() {
	defer close(q.done)
	var lines []byte
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for !q.closed && q.isIdle() {
			q.changed.Wait()
		}
		lost := q.lost - q.reported
		closed := q.closed
		lines, q.lines = q.lines, lines[:0]
		flushes := q.flushes
		q.flushes = nil
		if len(lines) == 0 && lost == 0 && len(flushes) == 0 {
			return
		}
		q.mu.Unlock()
		n, err := q.out.Write(lines)
		if lost > 0 {
			q.report(lost)
		}
		for _, flushed := range flushes {
			close(flushed)
		}
		if !closed {
			time.Sleep(logInterval)
		}
		q.mu.Lock()
		q.reported += lost
		if err != nil {
			unwritten := int64(bytes.Count(lines[n:], []byte{'\n'}))
			q.lost += unwritten
			q.reported += unwritten
		}
	}
}

// isIdle reports whether no entries wait to be written or reported. The caller holds q.mu.
func (q *logQueue) isIdle() bool {
	return len(q.lines) == 0 && q.lost == q.reported && len(q.flushes) == 0
}

// Flush waits until the lines queued so far are written, or for a limited time if nothing
// reads them.
func (q *logQueue) Flush() {
	flushed := make(chan struct{})
	q.mu.Lock()
	q.flushes = append(q.flushes, flushed)
	q.changed.Signal()
	q.mu.Unlock()
	awaitReader(flushed)
}

// Close writes the queued lines. It waits a limited time for a stalled reader.
func (q *logQueue) Close() {
	q.mu.Lock()
	q.closed = true
	q.changed.Signal()
	q.mu.Unlock()
	awaitReader(q.done)
}

// awaitReader waits until something is written, or for a limited time if nothing reads it.
func awaitReader(done <-chan struct{}) {
	select {
	case <-done:
	case <-time.After(logQueueGrace):
	}
}
