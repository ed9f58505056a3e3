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
	maxConcurrent = 2  // concurrent password hashes, see concurrency; each needs 19 MiB
	maxWaiting    = 32 // in each queue; further ones are rejected
)

// semaphore is a semaphore with two bounded queues, so that a flood of logins uses
// neither all memory nor all CPUs. Users who signed in recently have a separate queue
// with priority.
type semaphore struct {
	mu     sync.Mutex
	free   int                // number of further concurrent hashes
	queues [2][]chan struct{} // by priority; a channel is closed to grant the semaphore
}

// Indexes of the queues, the first one with priority.
const (
	trustedQueue = iota
	usualQueue
)

func newSemaphore() *semaphore { return &semaphore{free: concurrency()} }

// concurrency returns the number of concurrent hashes. At least half of the CPUs are
// left for other requests.
func concurrency() int { return min(maxConcurrent, max(1, runtime.GOMAXPROCS(0)/2)) }

// acquire waits for the semaphore. It fails if the queue is full, or ctx is done first.
func (s *semaphore) acquire(ctx context.Context, trusted bool) error {
	queue := &s.queues[usualQueue]
	if trusted {
		queue = &s.queues[trustedQueue]
	}
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return nil
	}
	if len(*queue) == maxWaiting {
		s.mu.Unlock()
		return &fault.Error{
			Kind:       fault.Unavailable,
			Message:    "too many concurrent logins",
			RetryAfter: time.Second,
		}
	}
	granted := make(chan struct{})
	*queue = append(*queue, granted)
	s.mu.Unlock()
	select {
	case <-granted:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(*queue, granted); i >= 0 {
		*queue = slices.Delete(*queue, i, i+1)
	} else {
		s.next() // it was granted concurrently
	}
	return fault.Wrap(ctx.Err(), fault.Unavailable,
		"the request was cancelled before its password was checked")
}

func (s *semaphore) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next()
}

// next grants the semaphore to the first in the queues. The caller holds mu.
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
