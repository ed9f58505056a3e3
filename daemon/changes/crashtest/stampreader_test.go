package crashtest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// stampReader is the usual program that copies rows with a later LastSavedDateTime than it
// has seen. It loses the rows that are committed later than others with later times.
type stampReader struct {
	erp     *erp
	session session
	cancel  context.CancelFunc
	ended   chan struct{}

	mu   sync.Mutex
	last string
	rows contents
	err  error
}

const stampReaderPause = 100 * time.Millisecond

func startStampReader(t *testing.T, e *erp) *stampReader {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &stampReader{
		erp:     e,
		session: e.open(t),
		cancel:  cancel,
		ended:   make(chan struct{}),
		last:    "2000-01-01T00:00:00.0000000",
		rows:    make(contents),
	}
	go func() {
		defer close(r.ended)
		for ctx.Err() == nil {
			r.read()
			pause(ctx, stampReaderPause)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-r.ended
		r.session.Close()
	})
	return r
}

// read reads the rows with later times.
func (r *stampReader) read() {
	r.mu.Lock()
	defer r.mu.Unlock()
	later := fmt.Sprintf("SELECT %s FROM %s WHERE LastSavedDateTime > '%s'", r.session.asTexts(), stamped, r.last)
	r.err = r.session.query(later, func(row []string) {
		at := normalStamp(row[len(row)-1])
		row[len(row)-1] = at
		r.rows.add(row)
		r.last = max(r.last, at)
	})
}

// seen returns the latest time that was read.
func (r *stampReader) seen() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// lost counts the rows of the source that the reader lacks or has in an older state, with an
// older time.
func (r *stampReader) lost(t *testing.T, source contents) (n int) {
	t.Helper()
	r.read()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		t.Error(r.err)
	}
	stampOf := func(values string) string { return values[strings.LastIndexByte(values, ' ')+1:] }
	for key, values := range source {
		if stampOf(r.rows[key]) < stampOf(values) {
			n++
		}
	}
	return n
}

// writeLate writes a row as a program does that takes the time first, and commits when a
// reader has seen a later one. The writers have to run.
func (r *stampReader) writeLate(t *testing.T, s session, number int) {
	t.Helper()
	stamp, err := s.now()
	if err != nil {
		t.Fatal(err)
	}
	await(t, "a reader sees a later time than "+stamp, func() (bool, string) {
		seen := r.seen()
		return seen > stamp, seen
	})
	r.erp.exec(t, s, fmt.Sprintf("INSERT INTO %s (Branch, No, Counter, LastSavedDateTime) VALUES (%d, 'late %d', %d, '%s')", stamped, writerCount, number, number, stamp))
}
