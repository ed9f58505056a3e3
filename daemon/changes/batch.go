package changes

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

// Batch is changes of a kind in their order. Requests share batches, with the bodies that the first
// of them has joined: its fields must not be changed, and it must not be copied.
type Batch struct {
	Changes  []Change
	Next     string    // the token after the changes
	LookedAt time.Time // the last look before the changes were read; zero if there was none

	mu     sync.Mutex        // guards joined
	joined map[string][]byte // the results of Bodies, by separator
}

// Bodies returns the bodies of all changes, with a separator between them. The result is shared:
// it must not be changed.
func (b *Batch) Bodies(separator string) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	joined, ok := b.joined[separator]
	if ok {
		return joined
	}
	joined = make([]byte, 0, b.size()+len(separator)*len(b.Changes))
	for i, c := range b.Changes {
		if i > 0 {
			joined = append(joined, separator...)
		}
		joined = append(joined, c.Body...)
	}
	if b.joined == nil {
		b.joined = make(map[string][]byte)
	}
	b.joined[separator] = joined
	return joined
}

// size returns the size of the bodies in bytes.
func (b *Batch) size() int {
	size := 0
	for _, c := range b.Changes {
		size += len(c.Body)
	}
	return size
}

// batchKey identifies a batch: up to take changes of a kind after a position.
type batchKey struct {
	kind  string
	after position
	take  int
}

const (
	batchLifetime = time.Second // for which a batch is given to later requests
	maxKeptBatch  = 1 << 20     // bytes of the bodies of a batch that is kept so
	maxKept       = 8           // number of such batches
)

// batches reads batches of changes. It limits how many are read at a time, and requests for the
// same batch share one read: followers that are up to date all have the same token, and continue
// together when a record changes. Each would read the same changes again otherwise, on all
// processors and with a copy of its own.
type batches struct {
	reading chan struct{} // one element for each read in progress

	mu     sync.Mutex
	shared map[batchKey]*batchRead // reads that requests can join
	kept   int                     // how many of them have ended
}

// batchRead is the read of a batch.
type batchRead struct {
	done  chan struct{} // closed at the end
	batch *Batch
	err   error

	abandoned bool // it failed since the client of the request that started it is gone
}

// readBatch reads the batch of one key.
type readBatch func(context.Context) (*Batch, error)

// errUnread is the result of a read that panicked.
var errUnread = fault.New(fault.Internal, "the changes could not be read")

func newBatches() *batches {
	return &batches{
		reading: make(chan struct{}, max(2, runtime.GOMAXPROCS(0)/2)),
		shared:  make(map[batchKey]*batchRead),
	}
}

// get returns a batch. If it is empty, it was read after the call: there were no changes until
// then. A read is cancelled with the context of the request that started it; the others then
// start another.
func (b *batches) get(ctx context.Context, key batchKey, read readBatch) (*Batch, error) {
	for {
		r, first := b.join(key)
		if first {
			b.run(ctx, key, r, read)
			return r.batch, r.err
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !r.abandoned {
			return r.batch, r.err
		}
	}
}

// join returns the read of a batch, and whether the caller has to run it.
func (b *batches) join(key batchKey) (r *batchRead, first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, ok := b.shared[key]
	if ok {
		return r, false
	}
	r = &batchRead{done: make(chan struct{})}
	b.shared[key] = r
	return r, true
}

// run reads a batch when it is its turn. Later requests get it too if it has changes: they would
// get more of them at most, which the next batch has.
func (b *batches) run(ctx context.Context, key batchKey, r *batchRead, read readBatch) {
	defer close(r.done)
	select {
	case b.reading <- struct{}{}:
	case <-ctx.Done():
		b.forget(key)
		r.err = ctx.Err()
		r.abandoned = true
		return
	}
	defer func() { <-b.reading }()

	// Before the read: it may miss a change that is published while it runs, and requests from then
	// on are to find that change.
	b.forget(key)
	r.err = errUnread // the requests that wait for it get this if the read panics
	r.batch, r.err = read(ctx)
	r.abandoned = r.err != nil && ctx.Err() != nil
	if r.err == nil && len(r.batch.Changes) > 0 && r.batch.size() <= maxKeptBatch {
		b.keep(key, r)
	}
}

// forget lets no more requests join a read.
func (b *batches) forget(key batchKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.shared, key)
}

// keep lets later requests share a read that is about to end.
func (b *batches) keep(key batchKey, r *batchRead) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept >= maxKept || b.shared[key] != nil {
		return
	}
	b.kept++
	b.shared[key] = r
	time.AfterFunc(batchLifetime, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.kept--
		delete(b.shared, key)
	})
}
