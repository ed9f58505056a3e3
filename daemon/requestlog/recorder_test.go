package requestlog

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shelf is a store in memory that can be made to stall or to fail.
type shelf struct {
	mu      sync.Mutex
	paths   []string
	batches []int
	fail    error
	pruned  int
	more    int // how many more times there is something to prune

	stall   chan struct{} // nil: none; Append waits until it is closed
	entered chan struct{} // told of each Append
}

func (s *shelf) Append(ctx context.Context, entries []Entry) error {
	s.mu.Lock()
	stall, fail, entered := s.stall, s.fail, s.entered
	s.mu.Unlock()
	if entered != nil {
		entered <- struct{}{}
	}
	if stall != nil {
		<-stall // as a disk does, whatever ctx says
	}
	if fail != nil {
		return fail
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = append(s.batches, len(entries))
	for _, e := range entries {
		s.paths = append(s.paths, e.Texts[PathInfo])
	}
	return ctx.Err()
}

func (s *shelf) Prune(context.Context, time.Time, int64) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pruned++
	s.more--
	return s.more > 0, nil
}

func (s *shelf) prunings() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pruned
}

func (s *shelf) set(change func(*shelf)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *shelf) stored() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.paths)
}

// lines collects a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), part)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func begin(t *testing.T, s *shelf, c Config) (*Recorder, *lines) {
	t.Helper()
	log := &lines{}
	c.Store, c.Log = s, slog.New(slog.NewTextHandler(log, nil))
	r := New(c)
	r.Start()
	return r, log
}

func record(r *Recorder, from, to int) {
	for i := from; i < to; i++ {
		d := NewDraft()
		d.Texts[PathInfo] = "/" + strconv.Itoa(i)
		r.Record(d)
	}
}

func expect(t *testing.T, s *shelf, from, to int) {
	t.Helper()
	var want []string
	for i := from; i < to; i++ {
		want = append(want, "/"+strconv.Itoa(i))
	}
	if got := s.stored(); !slices.Equal(got, want) {
		t.Errorf("%d are stored: %s ...; want /%d to /%d", len(got), got[:min(len(got), 3)], from, to-1)
	}
}

func end(t *testing.T, r *Recorder) {
	t.Helper()
	for range 2 {
		if err := r.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestRecorderWritesInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		r, log := begin(t, s, Config{})
		record(r, 0, 10)
		time.Sleep(gather) // of the bubble's clock
		synctest.Wait()
		expect(t, s, 0, 10)
		record(r, 10, 10+3*batchSize)
		synctest.Wait()
		if n := len(s.stored()); n < 10+batchSize {
			t.Errorf("%d are stored: enough for a batch has waited for more", n)
		}
		time.Sleep(gather)
		synctest.Wait()
		expect(t, s, 0, 10+3*batchSize)
		if slices.Max(s.batches) > batchSize {
			t.Errorf("batches of %d", s.batches)
		}
		const all = 10 + 4*batchSize
		record(r, 10+3*batchSize, all)
		r.Flush(t.Context())
		expect(t, s, 0, all)
		record(r, all, all+1)
		end(t, r)
		expect(t, s, 0, all+1)
		if got := r.Counts(); got != (Counts{Written: all + 1}) || r.Depth() != (Depth{}) {
			t.Errorf("%+v, %+v left", got, r.Depth())
		}
		if log.String() != "" {
			t.Errorf("the log has\n%s", log)
		}
		r.Flush(t.Context()) // finds nobody, and returns
	})
}

// TestStall: while the store hangs nobody waits, the buffer takes what it may,
// the newest are dropped, and there is one line when it begins and one when it
// ends.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{stall: make(chan struct{})}
		r, log := begin(t, s, Config{MaxEntries: 1000})
		record(r, 0, 5)
		time.Sleep(gather)
		synctest.Wait() // now it hangs
		before := time.Now()
		record(r, 5, 50_000)
		if took := time.Since(before); took != 0 { // of the bubble's clock, which moves when all wait
			t.Errorf("recording took %v", took)
		}
		if got, held := r.Counts(), r.Depth(); got.Dropped != 49_000 || held.Entries != 1000 {
			t.Errorf("%+v, %+v held", got, held)
		}
		if n := log.count("newest entries are dropped"); n != 1 {
			t.Errorf("%d lines say so:\n%s", n, log)
		}
		waited := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r.Flush(ctx)
		if took := time.Since(waited); took != time.Second {
			t.Errorf("a reader waited %v", took)
		}
		close(s.stall)
		synctest.Wait()
		expect(t, s, 0, 1000)
		if n := log.count("written again\" dropped=49000"); n != 1 || log.count("\n") != 2 {
			t.Errorf("the log has\n%s", log)
		}
		end(t, r)
	})
}

// TestBytesAreBounded: it is not only the number of entries that counts.
func TestBytesAreBounded(t *testing.T) {
	s := &shelf{}
	r := New(Config{Store: s, Log: slog.New(slog.DiscardHandler), MaxBytes: 10_000})
	for range 100 {
		d := NewDraft()
		d.Texts[AbsoluteURI] = strings.Repeat("x", 900)
		r.Record(d)
	}
	if held := r.Depth(); held.Entries != 10 || held.Bytes > 10_000 {
		t.Errorf("%+v held", held)
	}
	r.Start()
	end(t, r)
	if got := r.Counts(); got != (Counts{Written: 10, Dropped: 90}) {
		t.Errorf("%+v", got)
	}
}

// TestFailuresThatPass are tried again, less and less often, and nothing is lost
// while the buffer has room.
func TestFailuresThatPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{fail: fault.Wrap(errors.New("disk full"), fault.Unavailable, "no")}
		r, log := begin(t, s, Config{})
		record(r, 0, 700)
		time.Sleep(time.Minute)
		record(r, 700, 800)
		tried := r.Counts().Failures
		if tried < 5 || tried > 15 {
			t.Errorf("%d attempts in a minute", tried)
		}
		s.set(func(s *shelf) { s.fail = nil })
		time.Sleep(maxPause)
		synctest.Wait()
		expect(t, s, 0, 800)
		if log.count("disk full") != 1 || log.count("written again\" dropped=0 failures=") != 1 || log.count("\n") != 2 {
			t.Errorf("the log has\n%s", log)
		}
		if r.Counts().Dropped != 0 {
			t.Errorf("%+v", r.Counts())
		}
		end(t, r)
	})
}

// TestFailuresThatStay: a part that the store will never take makes way for the
// next.
func TestFailuresThatStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{fail: errors.New("a value that no column takes")}
		r, log := begin(t, s, Config{})
		record(r, 0, 3)
		r.Flush(t.Context())
		s.set(func(s *shelf) { s.fail = nil })
		record(r, 3, 6)
		end(t, r)
		expect(t, s, 3, 6)
		if got := r.Counts(); got != (Counts{Written: 3, Dropped: 3, Failures: 1}) || r.Depth() != (Depth{}) {
			t.Errorf("%+v, %+v held", got, r.Depth())
		}
		if log.count("no column takes") != 1 || log.count("written again\" dropped=3 failures=1") != 1 {
			t.Errorf("the log has\n%s", log)
		}
	})
}

// TestStopIsBounded, also where the store hangs for good.
func TestStopIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{stall: make(chan struct{})}
		r, log := begin(t, s, Config{})
		record(r, 0, 10)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		before := time.Now()
		if err := r.Stop(ctx); err != nil {
			t.Error(err)
		}
		if took := time.Since(before); took != 3*time.Second {
			t.Errorf("it took %v", took)
		}
		if log.count("lost=10") != 1 {
			t.Errorf("the log has\n%s", log)
		}
		close(s.stall) // so that the bubble can end
	})
}

func TestPruning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{more: 5}
		r, _ := begin(t, s, Config{Keep: func() Keep { return Keep{For: time.Hour, Size: 1} }})
		time.Sleep(time.Second)
		synctest.Wait()
		if n := s.prunings(); n != 5 {
			t.Errorf("pruned %d times, want until no row is left to prune", n)
		}
		time.Sleep(10 * pruneEvery)
		synctest.Wait()
		if n := s.prunings(); n != 15 {
			t.Errorf("pruned %d times in ten times of once", n-5)
		}
		end(t, r)
	})
}

// TestRecordersAreSafe: everybody at once.
func TestRecordersAreSafe(t *testing.T) {
	s := &shelf{}
	r, _ := begin(t, s, Config{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 500 {
				record(r, i, i+1)
				if i%100 == 0 {
					r.Flush(t.Context())
				}
			}
		})
	}
	all.Wait()
	end(t, r)
	if got := r.Counts(); got.Written != 4000 || len(s.stored()) != 4000 {
		t.Errorf("%+v", got)
	}
}
