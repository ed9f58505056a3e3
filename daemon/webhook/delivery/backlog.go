package delivery

import (
	"context"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/webhook/stats"
)

// The bounds of counting what is open.
const (
	backlogMaxAge     = 10 * time.Second // that a count stays good for
	backlogCostFactor = 20               // and this many times as long as it took
	backlogTimeout    = 15 * time.Second // that it may take
)

// backlogCounter counts what is open on request, once for all who ask at that time.
type backlogCounter struct {
	*core
	requests chan struct{}   // buffered
	ended    <-chan struct{} // closed when the engine has stopped

	mu   sync.Mutex
	open stats.BacklogCount
	err  error         // why it is not newer
	at   time.Time     // by this process's clock: when the last count ended
	took time.Duration // by it
	done chan struct{} // closed, and replaced, when one ends
}

// last gives the last count, whether it is fresh enough for an age, and what is
// closed when the next one ends.
func (c *backlogCounter) last(age time.Duration) (o stats.BacklogCount, fresh bool, next <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh = !c.at.IsZero() && time.Since(c.at) < max(age, backlogMaxAge, backlogCostFactor*c.took)
	return c.open, fresh, c.done, c.err
}

// Backlog gives what is open, as it was counted at most age ago, or a little longer
// where counting takes long. Where it cannot be counted it gives the last count
// with the error.
func (c *backlogCounter) Backlog(ctx context.Context, age time.Duration) (stats.BacklogCount, error) {
	if err := c.unavailableErr(); err != nil {
		return stats.BacklogCount{}, err
	}
	o, fresh, next, err := c.last(age)
	if fresh {
		return o, err
	}
	signal(c.requests)
	select {
	case <-next:
		o, _, _, err = c.last(age)
	case <-c.ended:
		err = stopping()
	case <-ctx.Done():
		err = ctx.Err()
	}
	return o, err
}

// run counts on request, until ctx is done.
func (c *backlogCounter) run(ctx context.Context) {
	for sleep(ctx, c.requests, 0) {
		if _, fresh, _, _ := c.last(0); !fresh { // else who asked has it already
			c.count(ctx)
		}
	}
}

func (c *backlogCounter) count(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, backlogTimeout)
	defer cancel()
	began := time.Now()
	all, err := c.Store.Backlog(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at, c.took, c.err = time.Now(), time.Since(began), err; err == nil {
		c.open = stats.BacklogCount{At: c.Now(), Subscriptions: all}
	}
	close(c.done)
	c.done = make(chan struct{})
}
