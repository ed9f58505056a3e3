package requestlog

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/daemon/wake"
)

// Config has the dependencies and limits of a Recorder. Store and Log are required.
type Config struct {
	Store     Store
	Log       *slog.Logger
	Retention func() Retention // called at each pruning; nil keeps all entries

	// MaxEntries and MaxBytes bound the buffer; 0 means the default.
	MaxEntries int
	MaxBytes   int
}

// Retention bounds the stored entries. 0 means no limit.
type Retention struct {
	MaxAge  time.Duration
	MaxSize int64 // limit of all entries, in bytes
}

const (
	defaultMaxEntries = 10_000
	defaultMaxBytes   = 16 << 20
)

// Recorder buffers entries and writes them in the background. Start must be called exactly
// once.
type Recorder struct {
	Config
	wake       chan struct{} // signals the first entry in the buffer
	batchReady chan struct{} // signals that the buffer has a full batch
	// flushes receives channels, which are closed when the entries buffered so far are
	// written or have failed.
	flushes chan chan struct{}
	stop    chan struct{}
	done    chan struct{}
	ctx     context.Context // context of writes
	cancel  context.CancelFunc

	mu        sync.Mutex
	queue     []Entry
	buffered  Depth // in queue and in the batch being written
	anonymous Depth // the part of buffered without a login
	counts    Counts
	outage    outage
}

// Depth is the number of buffered entries and their size in bytes.
type Depth struct{ Entries, Bytes int }

// Counts are the numbers of entries written and dropped, and of failed writes, since New.
type Counts struct {
	Written  int64
	Dropped  int64
	Failures int64 // failed write attempts
}

// New returns a Recorder. It buffers entries until it is started.
func New(c Config) *Recorder {
	if c.MaxEntries == 0 {
		c.MaxEntries = defaultMaxEntries
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultMaxBytes
	}
	if c.Retention == nil {
		c.Retention = func() Retention { return Retention{} }
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Recorder{
		Config:     c,
		ctx:        ctx,
		cancel:     cancel,
		wake:       make(chan struct{}, 1),
		batchReady: make(chan struct{}, 1),
		flushes:    make(chan chan struct{}),
		stop:       make(chan struct{}),
		done:       make(chan struct{}),
	}
}

func (d *Depth) add(entries, bytes int) {
	d.Entries += entries
	d.Bytes += bytes
}

// fits reports whether an entry fits into a part (1/share) of the buffer that is filled to
// depth.
func (r *Recorder) fits(depth Depth, size, share int) bool {
	return depth.Entries < r.MaxEntries/share && depth.Bytes+size <= r.MaxBytes/share
}

// Record adds an entry to the buffer, or drops it if the buffer is full, or the part of it
// for anonymous entries. It does not block.
func (r *Recorder) Record(b *EntryBuilder) {
	e := b.entry()
	e.bound()
	size := e.Size()
	r.mu.Lock()
	if e.Anonymous() && !r.fits(r.anonymous, size, AnonymousShare) {
		r.counts.Dropped++ // no warning: the log keeps up with the other entries
		r.mu.Unlock()
		return
	}
	if !r.fits(r.buffered, size, 1) {
		r.counts.Dropped++
		first := r.outage.add(1, 0)
		r.mu.Unlock()
		if first {
			r.Log.Warn("the request log cannot keep up with the requests; dropping new entries")
		}
		return
	}
	r.buffered.add(1, size)
	if e.Anonymous() {
		r.anonymous.add(1, size)
	}
	r.queue = append(r.queue, e)
	n := len(r.queue)
	r.mu.Unlock()
	switch n {
	case 1:
		wake.Signal(r.wake)
	case batchSize:
		wake.Signal(r.batchReady)
	}
}

// Start starts the background writer.
func (r *Recorder) Start() {
	go (&writer{Recorder: r, pause: backoff.Backoff{Min: minPause, Max: maxPause}}).run()
}

// Flush waits until the entries recorded so far are written or failed, or until ctx
// is done. Call it before reading the log.
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

// Stop writes the buffered entries and stops the writer. If ctx is done first, the
// remaining entries are dropped and their number is logged. It must be called after Start,
// and may be called again. The error is always nil.
func (r *Recorder) Stop(ctx context.Context) error {
	r.mu.Lock()
	select {
	case <-r.stop:
	default:
		close(r.stop)
	}
	r.mu.Unlock()
	stopCancel := context.AfterFunc(ctx, r.cancel)
	defer stopCancel()
	select {
	case <-r.done:
	case <-ctx.Done():
	}
	r.cancel()
	if lost := r.Depth().Entries; lost > 0 {
		r.Log.Warn("request log entries lost at shutdown", "lost", lost)
	}
	return nil
}

// Depth returns the current fill level.
func (r *Recorder) Depth() Depth {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buffered
}

// Counts returns the totals so far.
func (r *Recorder) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}
