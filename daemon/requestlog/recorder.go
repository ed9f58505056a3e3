package requestlog

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/bizhook/whd/client/backoff"
)

// Config is what a Recorder works with.
type Config struct {
	Store Store
	Log   *slog.Logger
	Keep  func() Keep // asked whenever entries are removed; nil for all

	// Bounds of what waits to be written. 0 means the usual ones.
	MaxEntries int
	MaxBytes   int
}

// Keep bounds what is kept of entries. 0 is no limit.
type Keep struct {
	For  time.Duration
	Size int64 // of all entries, in bytes
}

const (
	usualEntries = 10_000
	usualBytes   = 16 << 20
)

// Recorder takes entries and has them written. It is started once.
type Recorder struct {
	Config
	wake    chan struct{}      // the buffer has its first entry
	enough  chan struct{}      // the buffer has enough for a batch
	flushes chan chan struct{} // closed when all that was there is written, or cannot be
	stop    chan struct{}
	done    chan struct{}
	ctx     context.Context // of what is written
	cancel  context.CancelFunc

	mu      sync.Mutex
	waiting []Entry
	held    Depth // in waiting and in the batch being written
	counts  Counts
	trouble trouble
}

// Depth is how much waits to be written.
type Depth struct{ Entries, Bytes int }

// Counts are what became of entries, since the start.
type Counts struct {
	Written  int64
	Dropped  int64
	Failures int64 // attempts to write that failed
}

// New makes a Recorder. Entries gather until it is started.
func New(c Config) *Recorder {
	if c.MaxEntries == 0 {
		c.MaxEntries = usualEntries
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = usualBytes
	}
	if c.Keep == nil {
		c.Keep = func() Keep { return Keep{} }
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Recorder{
		Config: c, ctx: ctx, cancel: cancel,
		wake: make(chan struct{}, 1), enough: make(chan struct{}, 1), flushes: make(chan chan struct{}),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
}

// Record takes an entry, or drops it where the buffer is full. It waits for
// nothing.
func (r *Recorder) Record(d *Draft) {
	e := d.entry()
	e.bound()
	size := e.Size()
	r.mu.Lock()
	if r.held.Entries >= r.MaxEntries || r.held.Bytes+size > r.MaxBytes {
		r.counts.Dropped++
		began := r.trouble.note(1, 0)
		r.mu.Unlock()
		if began {
			r.Log.Warn("the request log is slower than the requests; the newest entries are dropped")
		}
		return
	}
	r.held.Entries++
	r.held.Bytes += size
	r.waiting = append(r.waiting, e)
	n := len(r.waiting)
	r.mu.Unlock()
	switch n {
	case 1:
		signal(r.wake)
	case batchSize:
		signal(r.enough)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Start begins to write.
func (r *Recorder) Start() {
	go (&writer{Recorder: r, pause: backoff.Backoff{Min: minPause, Max: maxPause}}).run()
}

// Flush waits until what was recorded is written or has turned out not to be
// writable, or ctx is done. It is for those who read the log.
func (r *Recorder) Flush(ctx context.Context) {
	written := make(chan struct{})
	select {
	case r.flushes <- written:
	case <-r.done:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-written:
	case <-r.done:
	case <-ctx.Done():
	}
}

// Stop writes what is left and ends. Where that takes longer than ctx allows,
// the rest is lost, which the log says. It must follow Start, and may be called
// again.
func (r *Recorder) Stop(ctx context.Context) error {
	r.mu.Lock()
	select {
	case <-r.stop:
	default:
		close(r.stop)
	}
	r.mu.Unlock()
	unhook := context.AfterFunc(ctx, r.cancel)
	defer unhook()
	select {
	case <-r.done:
	case <-ctx.Done():
	}
	r.cancel()
	if lost := r.Depth().Entries; lost > 0 {
		r.Log.Warn("the request log could not be written before the end", "lost", lost)
	}
	return nil
}

// Depth tells how much waits.
func (r *Recorder) Depth() Depth {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}

// Counts tells what became of entries so far.
func (r *Recorder) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}
