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

// memoryStore is a store in memory that can block or fail.
type memoryStore struct {
	mu      sync.Mutex
	paths   []string // PathInfo of the stored entries
	batches []int    // number of entries of each Append
	fail    error    // error of Append
	pruned  int      // calls of Prune
	more    int      // how many more times Prune reports more

	block   chan struct{} // Append waits until it is closed; nil does not block
	entered chan struct{} // receives a value for each Append
}

func (s *memoryStore) Append(ctx context.Context, entries []Entry) error {
	s.mu.Lock()
	block := s.block
	fail := s.fail
	entered := s.entered
	s.mu.Unlock()
	if entered != nil {
		entered <- struct{}{}
	}
	if block != nil {
		<-block // like a disk, regardless of ctx
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

func (s *memoryStore) Prune(context.Context, time.Time, int64) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pruned++
	s.more--
	return s.more > 0, nil
}

func (s *memoryStore) prunings() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pruned
}

func (s *memoryStore) set(change func(*memoryStore)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *memoryStore) stored() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.paths)
}

// logBuffer collects log output.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logBuffer) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), part)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// start starts a recorder with a store, and returns it with its log.
func start(t *testing.T, s *memoryStore, c Config) (*Recorder, *logBuffer) {
	t.Helper()
	log := &logBuffer{}
	c.Store = s
	c.Log = slog.New(slog.NewTextHandler(log, nil))
	r := New(c)
	r.Start()
	return r, log
}

// record records entries with a user and the paths from /from up to, but not including, /to.
func record(r *Recorder, from, to int) {
	for i := from; i < to; i++ {
		d := NewEntryBuilder()
		d.Texts[PathInfo] = "/" + strconv.Itoa(i)
		d.Texts[UserAuthID] = "ann"
		r.Record(d)
	}
}

// expect expects that the store has exactly the entries that record has recorded.
func expect(t *testing.T, s *memoryStore, from, to int) {
	t.Helper()
	var want []string
	for i := from; i < to; i++ {
		want = append(want, "/"+strconv.Itoa(i))
	}
	if got := s.stored(); !slices.Equal(got, want) {
		t.Errorf("%d entries are stored: %s ...; want /%d to /%d", len(got), got[:min(len(got), 3)], from, to-1)
	}
}

// stop stops a recorder twice, which is allowed.
func stop(t *testing.T, r *Recorder) {
	t.Helper()
	for range 2 {
		if err := r.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestRecorderWritesInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const (
			few     = 10
			batches = few + 3*batchSize
			flushed = batches + batchSize
			total   = flushed + 1
		)
		s := &memoryStore{}
		r, log := start(t, s, Config{})

		// A few entries are written after a while, in the fake time of synctest.
		record(r, 0, few)
		time.Sleep(gather)
		synctest.Wait()
		expect(t, s, 0, few)

		// A full batch is written immediately.
		record(r, few, batches)
		synctest.Wait()
		if n := len(s.stored()); n < few+batchSize {
			t.Errorf("after recording full batches: %d entries are stored, want at least %d",
				n, few+batchSize)
		}
		time.Sleep(gather)
		synctest.Wait()
		expect(t, s, 0, batches)
		if largest := slices.Max(s.batches); largest > batchSize {
			t.Errorf("the largest batch has %d entries, want at most %d", largest, batchSize)
		}

		// Flush and Stop write the entries recorded before.
		record(r, batches, flushed)
		r.Flush(t.Context())
		expect(t, s, 0, flushed)
		record(r, flushed, total)
		stop(t, r)
		expect(t, s, 0, total)
		if got, want := r.Counts(), (Counts{Written: total}); got != want {
			t.Errorf("after Stop: got counts %+v, want %+v", got, want)
		}
		if got := r.Depth(); got != (Depth{}) {
			t.Errorf("after Stop: %+v are buffered, want none", got)
		}
		if log.String() != "" {
			t.Errorf("without failures: the log has\n%s", log)
		}
		r.Flush(t.Context()) // returns immediately after Stop
	})
}

// TestRecordWhileStoreBlocks checks that recording does not wait for a blocked
// store, that the buffer fills up and new entries are dropped, and that one line is
// logged at the start and one at the end of the outage.
func TestRecordWhileStoreBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &memoryStore{block: make(chan struct{})}
		r, log := start(t, s, Config{MaxEntries: 1000})
		record(r, 0, 5)
		time.Sleep(gather)
		synctest.Wait() // now it is blocked
		before := time.Now()
		record(r, 5, 50_000)
		// The fake time advances only while all goroutines wait.
		if took := time.Since(before); took != 0 {
			t.Errorf("recording took %v, want no waiting", took)
		}
		if got := r.Counts(); got.Dropped != 49_000 {
			t.Errorf("while the store blocks: got counts %+v, want 49000 dropped", got)
		}
		if got := r.Depth(); got.Entries != 1000 {
			t.Errorf("while the store blocks: %+v are buffered, want 1000", got)
		}
		if n := log.count("dropping new entries"); n != 1 {
			t.Errorf("while the store blocks: the warning is logged %d times, want once:\n%s", n, log)
		}

		flushedAt := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r.Flush(ctx)
		if took := time.Since(flushedAt); took != time.Second {
			t.Errorf("Flush waited %v, want %v", took, time.Second)
		}

		close(s.block)
		synctest.Wait()
		expect(t, s, 0, 1000)
		if n := log.count("written again\" dropped=49000"); n != 1 || log.count("\n") != 2 {
			t.Errorf("after the outage: want 2 lines, one of them about its end; the log has\n%s", log)
		}
		stop(t, r)
	})
}

// TestBufferBytesAreBounded checks the bound in bytes.
func TestBufferBytesAreBounded(t *testing.T) {
	s := &memoryStore{}
	r := New(Config{Store: s, Log: slog.New(slog.DiscardHandler), MaxBytes: 10_000})
	for range 100 {
		d := NewEntryBuilder()
		d.Texts[AbsoluteURI] = strings.Repeat("x", 900)
		d.Texts[UserAuthID] = "ann"
		r.Record(d)
	}
	if got := r.Depth(); got.Entries != 10 || got.Bytes > 10_000 {
		t.Errorf("after 100 entries of 964 bytes: %+v are buffered, want 10 entries", got)
	}
	r.Start()
	stop(t, r)
	if got, want := r.Counts(), (Counts{Written: 10, Dropped: 90}); got != want {
		t.Errorf("after Stop: got counts %+v, want %+v", got, want)
	}
}

// TestAnonymousEntriesFillAQuarterOfTheBuffer checks that three quarters are left for entries
// with a user, and that dropped entries are counted.
func TestAnonymousEntriesFillAQuarterOfTheBuffer(t *testing.T) {
	limits := map[string]Config{
		"entries": {MaxEntries: 100},
		"bytes":   {MaxBytes: 100_000},
	}
	for limit, c := range limits {
		log := &logBuffer{}
		c.Store = &memoryStore{}
		c.Log = slog.New(slog.NewTextHandler(log, nil))
		r := New(c)
		for range 200 {
			d := NewEntryBuilder()
			d.Texts[AbsoluteURI] = strings.Repeat("x", 1000-BaseSize)
			r.Record(d)
		}
		if got, buffered := r.Counts(), r.Depth(); got.Dropped != 175 || buffered.Entries != 25 {
			t.Errorf("%s: 200 anonymous entries: %+v, %+v buffered, want 25", limit, got, buffered)
		}
		record(r, 0, 75)
		if got := r.Counts(); got.Dropped != 175 {
			t.Errorf("%s: 75 entries of a user: %+v, want none of them dropped", limit, got)
		}
		r.Start()
		stop(t, r)
		if got := r.Counts(); got.Written != 100 {
			t.Errorf("%s: after Stop: got counts %+v, want 100 written", limit, got)
		}
		if r.anonymous != (Depth{}) {
			t.Errorf("%s: after Stop: %+v anonymous are buffered, want none", limit, r.anonymous)
		}
		if log.String() != "" {
			t.Errorf("%s: after Stop: the log has %q, want nothing", limit, log)
		}
	}
}

// TestTemporaryFailuresAreRetried checks that retries become less frequent and that
// nothing is lost while the buffer has room.
func TestTemporaryFailuresAreRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &memoryStore{fail: fault.Wrap(errors.New("disk full"), fault.Unavailable, "no")}
		r, log := start(t, s, Config{})
		record(r, 0, 700)
		time.Sleep(time.Minute)
		record(r, 700, 800)
		if n := r.Counts().Failures; n < 5 || n > 15 {
			t.Errorf("got %d attempts in a minute, want 5 to 15", n)
		}
		s.set(func(s *memoryStore) { s.fail = nil })
		time.Sleep(maxPause)
		synctest.Wait()
		expect(t, s, 0, 800)
		starts := log.count("disk full")
		ends := log.count("written again\" dropped=0 failures=")
		if starts != 1 || ends != 1 || log.count("\n") != 2 {
			t.Errorf("want one line at the start and one at the end of the outage; the log has\n%s", log)
		}
		if got := r.Counts(); got.Dropped != 0 {
			t.Errorf("after temporary failures: got counts %+v, want none dropped", got)
		}
		stop(t, r)
	})
}

// TestPermanentFailuresAreDropped checks that a part that the store rejects is
// dropped and the next one written.
func TestPermanentFailuresAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &memoryStore{fail: errors.New("a value that no column accepts")}
		r, log := start(t, s, Config{})
		record(r, 0, 3)
		r.Flush(t.Context())
		s.set(func(s *memoryStore) { s.fail = nil })
		record(r, 3, 6)
		stop(t, r)
		expect(t, s, 3, 6)
		if got, want := r.Counts(), (Counts{Written: 3, Dropped: 3, Failures: 1}); got != want {
			t.Errorf("after Stop: got counts %+v, want %+v", got, want)
		}
		if got := r.Depth(); got != (Depth{}) {
			t.Errorf("after Stop: %+v are buffered, want none", got)
		}
		starts := log.count("no column accepts")
		ends := log.count("written again\" dropped=3 failures=1")
		if starts != 1 || ends != 1 {
			t.Errorf("want one line at the start and one at the end of the outage; the log has\n%s", log)
		}
	})
}

// TestStopIsBounded checks that Stop ends with its context while the store blocks.
func TestStopIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &memoryStore{block: make(chan struct{})}
		r, log := start(t, s, Config{})
		record(r, 0, 10)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		before := time.Now()
		if err := r.Stop(ctx); err != nil {
			t.Error(err)
		}
		if took := time.Since(before); took != 3*time.Second {
			t.Errorf("Stop took %v, want %v", took, 3*time.Second)
		}
		if log.count("lost=10") != 1 {
			t.Errorf("want a line with lost=10; the log has\n%s", log)
		}
		close(s.block) // lets the goroutines of synctest end
	})
}

func TestPruning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &memoryStore{more: 5}
		retention := Retention{MaxAge: time.Hour, MaxSize: 1}
		r, _ := start(t, s, Config{Retention: func() Retention { return retention }})
		time.Sleep(time.Second)
		synctest.Wait()
		if n := s.prunings(); n != 5 {
			t.Errorf("at the start: pruned %d times, want 5, until no row is left to prune", n)
		}
		time.Sleep(10 * pruneInterval)
		synctest.Wait()
		if n := s.prunings(); n != 15 {
			t.Errorf("pruned %d times in ten intervals, want 10", n-5)
		}
		stop(t, r)
	})
}

// TestConcurrentRecording records and flushes concurrently, for the race detector.
func TestConcurrentRecording(t *testing.T) {
	s := &memoryStore{}
	r, _ := start(t, s, Config{})
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
	stop(t, r)
	if got := r.Counts(); got.Written != 4000 || len(s.stored()) != 4000 {
		t.Errorf("got counts %+v and %d stored entries, want 4000", got, len(s.stored()))
	}
}
