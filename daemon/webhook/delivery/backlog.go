package delivery

import (
	"context"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/wake"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// Limits of counting the backlog.
const (
	backlogMaxAge     = 10 * time.Second // maximum age of a count
	backlogCostFactor = 20               // and at least this multiple of its duration
	backlogTimeout    = 15 * time.Second // of one count
)

// backlogCounter counts open messages on request, once for all concurrent requests.
type backlogCounter struct {
	*core
	requests chan struct{}   // buffered
	ended    <-chan struct{} // closed when the engine has stopped

	mu        sync.Mutex
	open      stats.BacklogCount
	err       error         // error of the last count, nil if it succeeded
	countedAt time.Time     // end of the last count, by the local clock
	took      time.Duration // duration of the last count
	done      chan struct{} // closed and replaced when a count ends
}

// last returns the last count, whether it is fresh enough for an age, and a channel
// that is closed when the next count ends.
func (c *backlogCounter) last(
	age time.Duration,
) (count stats.BacklogCount, fresh bool, next <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh = !c.countedAt.IsZero() && time.Since(c.countedAt) < max(age, backlogMaxAge, backlogCostFactor*c.took)
	return c.open, fresh, c.done, c.err
}

// Backlog returns the backlog as counted at most age ago, or a little longer ago if
// counting is slow. If counting fails it returns the last count with the error.
func (c *backlogCounter) Backlog(ctx context.Context, age time.Duration) (stats.BacklogCount, error) {
	if err := c.unavailableErr(); err != nil {
		return stats.BacklogCount{}, err
	}
	count, fresh, next, err := c.last(age)
	if fresh {
		return count, err
	}

	wake.Signal(c.requests)
	select {
	case <-next:
		count, _, _, err = c.last(age)
	case <-c.ended:
		err = stopping()
	case <-ctx.Done():
		err = ctx.Err()
	}
	return count, err
}

// latest returns the last count, without waiting for a new one if it is old.
func (c *backlogCounter) latest() stats.BacklogCount {
	count, fresh, _, _ := c.last(0)
	if !fresh {
		wake.Signal(c.requests)
	}
	return count
}

// run counts on request, until ctx is done.
func (c *backlogCounter) run(ctx context.Context) {
	for sleep(ctx, c.requests, 0) {
		if _, fresh, _, _ := c.last(0); !fresh { // otherwise an earlier request was served by a fresh count
			c.count(ctx)
		}
	}
}

func (c *backlogCounter) count(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, backlogTimeout)
	defer cancel()
	began := time.Now()
	backlogs, err := c.Store.Backlog(ctx)

	c.mu.Lock()
	defer c.mu.Unlock()
	c.countedAt = time.Now()
	c.took = time.Since(began)
	c.err = err
	if err == nil {
		c.open = stats.BacklogCount{At: c.Now(), Subscriptions: backlogs}
	}
	close(c.done)
	c.done = make(chan struct{})
}
