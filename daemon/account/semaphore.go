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
	maxConcurrent = 2  // password hashes computed at a time, see atOnce; each takes 19 MiB
	maxWaiting    = 32 // in each queue; more are sent away
)

// semaphore is one with two bounded queues, so that a flood of logins costs
// neither memory nor the processor's time of everyone else. Those who signed in
// lately have a queue of their own, which is served first.
type semaphore struct {
	mu     sync.Mutex
	free   int
	queues [2][]chan struct{} // the trusted first; a channel is closed when its turn comes
}

func newSemaphore() *semaphore { return &semaphore{free: atOnce()} }

// atOnce leaves at least half of the processors to those who are signed in
// already.
func atOnce() int { return min(maxConcurrent, max(1, runtime.GOMAXPROCS(0)/2)) }

func (s *semaphore) acquire(ctx context.Context, trusted bool) error {
	queue := &s.queues[1]
	if trusted {
		queue = &s.queues[0]
	}
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return nil
	}
	if len(*queue) == maxWaiting {
		s.mu.Unlock()
		return &fault.Error{Kind: fault.Unavailable, Message: "too many logins at once", RetryAfter: time.Second}
	}
	turn := make(chan struct{})
	*queue = append(*queue, turn)
	s.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(*queue, turn); i >= 0 {
		*queue = slices.Delete(*queue, i, i+1)
	} else {
		s.next() // the turn came at the same moment
	}
	return fault.Wrap(ctx.Err(), fault.Unavailable, "the request ended before its password was checked")
}

func (s *semaphore) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next()
}

// next passes a place on. The caller holds mu.
func (s *semaphore) next() {
	for i, queue := range s.queues {
		if len(queue) > 0 {
			close(queue[0])
			s.queues[i] = slices.Delete(queue, 0, 1)
			return
		}
	}
	s.free++
}
