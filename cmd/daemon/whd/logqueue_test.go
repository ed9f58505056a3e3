package whd

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fullDisk writes a part of each text.
type fullDisk struct{ room int }

func (d fullDisk) Write(text []byte) (int, error) { return d.room, errors.New("no space") }

// Lines that cannot be written are counted, but not reported: a report could not be
// written either.
func TestLinesThatCannotBeWritten(t *testing.T) {
	q := newLogQueue(fullDisk{room: len("first\nsec")})
	report := func(lost int64) { t.Errorf("%d lost lines were reported, want none", lost) }
	for _, line := range []string{"first\n", "second\n", "third\n"} {
		if _, err := q.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	q.start(report)
	q.Close()
	const want = 2 // the second one, which was written in part, and the third
	if got := q.Lost(); got != want {
		t.Errorf("%d lines were lost, want %d", got, want)
	}
}

// writeSizes records the sizes of writes.
type writeSizes []int

func (w *writeSizes) Write(text []byte) (int, error) {
	*w = append(*w, len(text))
	return len(text), nil
}

// TestIdleFlushWritesNothing checks that a flush without lines does not write: on a pipe of Windows,
// a reader takes a write of no bytes for the end.
func TestIdleFlushWritesNothing(t *testing.T) {
	var writes writeSizes
	q := newLogQueue(&writes)
	q.start(func(int64) {})
	q.Flush()
	if _, err := q.Write([]byte("line\n")); err != nil {
		t.Fatal(err)
	}
	q.Flush()
	q.Flush()
	q.Close()
	if want := (writeSizes{5}); !slices.Equal(writes, want) {
		t.Errorf("got writes of %d bytes, want %d", writes, want)
	}
}

// TestLostLinesAreReported checks that lines which find the queue full are counted when they have
// been reported.
func TestLostLinesAreReported(t *testing.T) {
	q := newLogQueue(io.Discard)
	line := []byte(strings.Repeat("x", maxQueuedLog-1) + "\n")
	for range 3 {
		if _, err := q.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	var reports []int64
	q.start(func(lost int64) { reports = append(reports, lost) })
	q.Close()
	if want := []int64{2}; !slices.Equal(reports, want) {
		t.Errorf("got reports of %d lost lines, want %d", reports, want)
	}
}

// TestFlushAfterClose checks that a flush of a closed queue does not wait.
func TestFlushAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newLogQueue(io.Discard)
		q.start(func(int64) {})
		q.Close()
		start := time.Now()
		q.Flush()
		if waited := time.Since(start); waited > 0 {
			t.Errorf("the flush waited %s, want no time", waited)
		}
	})
}

// terminal receives standard output and standard error. It reports the banner, and the text
// before it.
type terminal struct {
	mu     sync.Mutex
	text   bytes.Buffer
	banner chan string
}

func (w *terminal) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(text)
	return len(text), nil
}

// screen is the standard output of a terminal.
type screen struct{ *terminal }

func (s screen) Write(text []byte) (int, error) {
	_, _ = s.terminal.Write(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(string(text), " serves http://") {
		s.banner <- s.text.String()
	}
	return len(text), nil
}

// TestBannerFollowsLogOfStart checks that the banner is one piece below the log lines of
// the start.
func TestBannerFollowsLogOfStart(t *testing.T) {
	both := &terminal{banner: make(chan string, 1)}
	signals := make(chan os.Signal, 1)
	ended := make(chan int)
	go func() {
		ended <- Main(Process{
			Args:    []string{"serve", "--demo", "--listen", "127.0.0.1:0", "--data-dir", t.TempDir()},
			Stdin:   strings.NewReader(""),
			Stdout:  screen{both},
			Stderr:  both,
			Signals: signals,
		})
	}()
	select {
	case text := <-both.banner:
		log, banner, _ := strings.Cut(text, "\nwhd ")
		if want := "msg=listening"; !strings.Contains(log, want) {
			t.Errorf("whd serve printed\n%s\nwant %q before the banner", text, want)
		}
		if want := "Try, in another terminal:"; !strings.Contains(banner, want) {
			t.Errorf("whd serve printed\n%s\nwant %q in the banner", text, want)
		}
		if strings.Contains(banner, "level=INFO") {
			t.Errorf("whd serve printed\n%s\nwant no lines of the log in the banner", text)
		}
		signals <- os.Interrupt
		<-ended
	case status := <-ended:
		t.Fatalf("whd serve ended with status %d before the banner:\n%s", status, &both.text)
	}
}
