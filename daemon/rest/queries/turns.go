package queries

import (
	"context"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
)

const (
	maxTurns    = 4 // concurrent responses with changes to one reader
	turnTimeout = 30 * time.Second
	turnRate    = 32 << 20    // bytes per second that a turn may send
	maxSending  = time.Second // a client that reads slowly keeps its turn for at most this time

	maxWaiting         = 2000 // requests that wait for changes
	maxWaitingOfReader = 1000
)

// turns limits how many responses with changes are read and sent for one reader at a time. When
// a record changes, all requests that wait for it continue together: each would hold the same
// changes in memory, and the requests of one reader would keep out those of others. The zero value
// is ready to use.
type turns struct {
	mu      sync.Mutex
	queues  map[string]*queue // keyed by reader
	waiting int               // requests of all readers that wait for changes
}

// queue is the queue of the requests of one reader.
type queue struct {
	places  chan struct{} // one element for each request that has its turn
	length  int           // requests that wait for changes or a turn, or have a turn
	waiting int           // requests that wait for changes; included in length
}

// join adds a request to the queue of its reader, until leave is called.
func (t *turns) join(reader string) *queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[reader]
	if q == nil {
		q = &queue{places: make(chan struct{}, maxTurns)}
		if t.queues == nil {
			t.queues = make(map[string]*queue)
		}
		t.queues[reader] = q
	}
	q.length++
	return q
}

func (t *turns) leave(reader string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[reader]
	q.length--
	if q.length == 0 {
		delete(t.queues, reader)
	}
}

// wait counts a request that waits for changes until end is called. It fails if there are too
// many.
func (t *turns) wait(reader string) (end func(), err error) {
	q := t.join(reader)
	t.mu.Lock()
	full := t.waiting >= maxWaiting || q.waiting >= maxWaitingOfReader
	if !full {
		t.waiting++
		q.waiting++
	}
	t.mu.Unlock()
	if full {
		t.leave(reader)
		return nil, &fault.Error{
			Kind:       fault.Unavailable,
			Message:    "too many requests wait for changes; try again later",
			RetryAfter: 30 * time.Second,
		}
	}
	return func() {
		t.mu.Lock()
		t.waiting--
		q.waiting--
		t.mu.Unlock()
		t.leave(reader)
	}, nil
}

// turn is the right of a request to read and send changes. A nil *turn is no turn.
type turn struct {
	startedAt time.Time
	release   func() // ends the turn, once: the next request gets it
}

// take waits for the turn of a request, without its slot, and then for the slot.
func (t *turns) take(x *edge.Context) (*turn, error) {
	reader := x.Identity.Owner()
	q := t.join(reader)
	ctx, cancel := context.WithTimeout(x.Request.Context(), turnTimeout)
	defer cancel()
	select {
	case q.places <- struct{}{}:
	default:
		x.Response.Slot.Release()
		select {
		case q.places <- struct{}{}:
		case <-ctx.Done():
			t.leave(reader)
			return nil, &fault.Error{
				Kind:       fault.Unavailable,
				Message:    "too many requests of the same user or key read changes; try again later",
				RetryAfter: time.Second,
			}
		}
	}
	granted := &turn{startedAt: time.Now(), release: sync.OnceFunc(func() {
		<-q.places
		t.leave(reader)
	})}
	if err := x.Response.Slot.Retake(ctx); err != nil {
		granted.end(0)
		return nil, err
	}
	return granted, nil
}

// limit ends the turn some time after sending has begun: clients that read slowly must not keep out
// other programs with the same key. The memory of their responses is limited elsewhere.
func (t *turn) limit() { time.AfterFunc(maxSending, t.release) }

// end ends the turn after sent bytes. The next request gets it later if they were sent faster than
// at the rate of turns: a proxy, or the network, would otherwise be busy for seconds with the
// responses to a thousand requests that continue together.
func (t *turn) end(sent int64) {
	if t == nil {
		return
	}
	pause := time.Duration(sent)*time.Second/turnRate - time.Since(t.startedAt)
	if pause > 0 {
		time.AfterFunc(pause, t.release)
		return
	}
	t.release()
}
