package whd

import (
	"bytes"
	"io"
	"sync"
	"time"
)

const (
	maxQueuedLog = 1 << 20 // bytes
	logInterval  = 10 * time.Millisecond

	// logQueueGrace limits how long the program waits for a stalled reader of its log, and of its
	// final error.
	logQueueGrace = 3 * time.Second
)

// logQueue writes log lines in the background, so that nothing waits for a reader of the
// log that has stalled. Lines that find the queue full are dropped and counted.
type logQueue struct {
	out  io.Writer
	done chan struct{} // closed when everything is written

	mu       sync.Mutex
	changed  *sync.Cond // signals a change of the fields below
	lines    []byte
	lost     int64
	reported int64
	flushes  []chan struct{} // each is closed when the lines before it are written
	closed   bool
}

// newLogQueue returns a queue. It keeps its lines until start is called.
func newLogQueue(out io.Writer) *logQueue {
	q := &logQueue{out: out, done: make(chan struct{})}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// start starts writing, until Close. report logs the number of lines dropped since the previous
// report; that line is queued, too.
func (q *logQueue) start(report func(lost int64)) { go q.run(report) }

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

// logBatch is a part of the queue that run writes at once. It may have no lines, only a loss to
// report or flushes.
type logBatch struct {
	lines   []byte
	lost    int64           // number of lines to report as lost
	flushes []chan struct{} // to close when the lines are written
	isLast  bool            // the queue is closed
}

// run writes lines until Close. It pauses between writes, so that many lines need one.
// Lines that cannot be written are lost, but not reported: a report could not be written
// either.
func (q *logQueue) run(report func(lost int64)) {
	defer close(q.done)
	var buffer []byte // the lines of the previous batch, to use its memory again
	for {
		batch, ok := q.next(buffer)
		if !ok {
			return
		}
		unwritten := q.write(batch.lines)
		if batch.lost > 0 {
			report(batch.lost) // adds a line to the queue
		}
		q.count(batch.lost, unwritten) // before flushes end, so that Lost includes their lines
		for _, flushed := range batch.flushes {
			close(flushed)
		}
		if !batch.isLast {
			time.Sleep(logInterval)
		}
		buffer = batch.lines[:0]
	}
}

// write writes lines and returns the number of those that could not be written. It does not write
// an empty text: the reader of a pipe on Windows takes that for the end of the log.
func (q *logQueue) write(lines []byte) (unwritten int64) {
	if len(lines) == 0 {
		return 0
	}
	n, err := q.out.Write(lines)
	if err == nil {
		return 0
	}
	return int64(bytes.Count(lines[n:], []byte{'\n'}))
}

// next waits for lines and takes them out of the queue, which continues with an empty buffer.
// It returns false after Close, when nothing is left.
func (q *logQueue) next(buffer []byte) (batch logBatch, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && q.isIdle() {
		q.changed.Wait()
	}
	if q.isIdle() {
		return logBatch{}, false
	}
	batch = logBatch{
		lines:   q.lines,
		lost:    q.lost - q.reported,
		flushes: q.flushes,
		isLast:  q.closed,
	}
	q.lines = buffer
	q.flushes = nil
	return batch, true
}

// count counts lines that were reported as lost, and lines that could not be written.
func (q *logQueue) count(reported, unwritten int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lost += unwritten
	q.reported += reported + unwritten
}

// isIdle reports whether no entries wait to be written or reported. The caller holds q.mu.
func (q *logQueue) isIdle() bool {
	return len(q.lines) == 0 && q.lost == q.reported && len(q.flushes) == 0
}

// Flush waits until the lines queued so far are written, or for a limited time if the reader has
// stalled. After Close it does not wait for lines that were queued later.
func (q *logQueue) Flush() {
	flushed := make(chan struct{})
	q.mu.Lock()
	q.flushes = append(q.flushes, flushed)
	q.changed.Signal()
	q.mu.Unlock()
	select {
	case <-flushed:
	case <-q.done:
	case <-time.After(logQueueGrace):
	}
}

// Close writes the queued lines. It waits a limited time for a stalled reader.
func (q *logQueue) Close() {
	q.mu.Lock()
	q.closed = true
	q.changed.Signal()
	q.mu.Unlock()
	awaitReader(q.done)
}

// awaitReader waits until done is closed, or for a limited time: the reader of the text before may
// have stalled.
func awaitReader(done <-chan struct{}) {
	select {
	case <-done:
	case <-time.After(logQueueGrace):
	}
}
