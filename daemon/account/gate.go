package account

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

const (
	mostAtOnce  = 2  // password hashes computed at a time, see atOnce; each takes 19 MiB
	mostWaiting = 32 // in each queue; more are sent away
)

// gate is a semaphore with two bounded queues, so that a flood of logins costs
// neither memory nor the processor's time of everyone else. Those who signed in
// lately have a queue of their own, which is served first.
type gate struct {
	mu     sync.Mutex
	free   int
	queues [2][]chan struct{} // the trusted first; a channel is closed when its turn comes
}

func newGate() *gate { return &gate{free: atOnce()} }

// atOnce leaves at least half of the processors to those who are signed in
// already.
func atOnce() int { return min(mostAtOnce, max(1, runtime.GOMAXPROCS(0)/2)) }

func (g *gate) enter(ctx context.Context, trusted bool) error {
	queue := &g.queues[1]
	if trusted {
		queue = &g.queues[0]
	}
	g.mu.Lock()
	if g.free > 0 {
		g.free--
		g.mu.Unlock()
		return nil
	}
	if len(*queue) == mostWaiting {
		g.mu.Unlock()
		return &fault.Error{Kind: fault.Unavailable, Message: "too many logins at once", RetryAfter: time.Second}
	}
	turn := make(chan struct{})
	*queue = append(*queue, turn)
	g.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(*queue, turn); i >= 0 {
		*queue = slices.Delete(*queue, i, i+1)
	} else {
		g.next() // the turn came at the same moment
	}
	return fault.Because(ctx.Err(), fault.Unavailable, "the request ended before its password was checked")
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next()
}

// next passes a place on. The caller holds mu.
func (g *gate) next() {
	for i, queue := range g.queues {
		if len(queue) > 0 {
			close(queue[0])
			g.queues[i] = slices.Delete(queue, 0, 1)
			return
		}
	}
	g.free++
}
