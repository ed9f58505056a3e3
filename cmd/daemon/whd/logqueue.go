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
	wake   chan struct{}    // buffered; there are lines
	closed chan struct{}
	done   chan struct{} // everything is written

	mu       sync.Mutex
	lines    []byte
	lost     int64
	reported int64
}

// newLogQueue returns a running queue. Close must be called.
func newLogQueue(out io.Writer) *logQueue {
	return &logQueue{out: out, wake: make(chan struct{}, 1), closed: make(chan struct{}), done: make(chan struct{})}
}

// Write queues one line. It never fails.
func (q *logQueue) Write(line []byte) (int, error) {
	q.mu.Lock()
	if len(q.lines)+len(line) > maxQueuedLog {
		q.lost++
	} else {
		q.lines = append(q.lines, line...)
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return len(line), nil
}

// Lost returns the number of lines dropped so far.
func (q *logQueue) Lost() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lost
}

// run writes lines until Close. It pauses between writes, so that many lines need one.
func (q *logQueue) run() {
	defer close(q.done)
	var lines []byte
	for closing := false; !closing; {
		select {
		case <-q.wake:
		case <-q.closed:
			closing = true
		}
		for {
			q.mu.Lock()
			lines, q.lines = q.lines, lines[:0]
			lost := q.lost - q.reported
			q.reported = q.lost
			q.mu.Unlock()
			if len(lines) == 0 && lost == 0 {
				break
			}
			if n, err := q.out.Write(lines); err != nil {
				q.unwritten(lines[n:])
			}
			if lost > 0 {
				q.report(lost)
			}
			select {
			case <-time.After(logInterval):
			case <-q.closed:
			}
		}
	}
}

// unwritten counts lines that could not be written. A report could not be written either.
func (q *logQueue) unwritten(lines []byte) {
	n := int64(bytes.Count(lines, []byte{'\n'}))
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lost, q.reported = q.lost+n, q.reported+n
}

// Close writes the queued lines. It waits a limited time for a stalled reader.
func (q *logQueue) Close() {
	close(q.closed)
	select {
	case <-q.done:
	case <-time.After(logQueueGrace):
	}
}
