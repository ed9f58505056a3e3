package delivery

import (
	"context"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/webhook/stats"
)

// The bounds of counting what is open.
const (
	backlogAge   = 10 * time.Second // that a count stays good for
	backlogShare = 20               // and this many times as long as it took
	backlogLimit = 15 * time.Second // that it may take
)

// backlogCounter counts what is open when somebody asks, once for all who ask.
type backlogCounter struct {
	asked chan struct{} // buffered

	mu   sync.Mutex
	open stats.BacklogCount
	err  error         // why it is not newer
	at   time.Time     // by this process's clock: when the last count ended
	took time.Duration // by it
	done chan struct{} // closed, and made anew, when one ends
}

func newBacklogCounter() *backlogCounter {
	return &backlogCounter{asked: make(chan struct{}, 1), done: make(chan struct{})}
}

// good reports whether the last count is not older than this, or else gives
// what is closed when the next one ends.
func (c *backlogCounter) good(age time.Duration) (o stats.BacklogCount, is bool, next <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	is = !c.at.IsZero() && time.Since(c.at) < max(age, backlogAge, backlogShare*c.took)
	return c.open, is, c.done, c.err
}

// Backlog gives what is open, as it was counted at most age ago, or a little longer
// where counting takes long. Where it cannot be counted it gives the last count
// with the error.
func (e *Engine) Backlog(ctx context.Context, age time.Duration) (stats.BacklogCount, error) {
	if err := e.unavailableErr(); err != nil {
		return stats.BacklogCount{}, err
	}
	o, is, next, err := e.backlog.good(age)
	if is {
		return o, err
	}
	signal(e.backlog.asked)
	select {
	case <-next:
		o, _, _, err = e.backlog.good(age)
	case <-e.ended:
		err = stopping()
	case <-ctx.Done():
		err = ctx.Err()
	}
	return o, err
}

// counting counts what is open whenever somebody asks.
func (e *Engine) counting(ctx context.Context) {
	for e.sleep(ctx, e.backlog.asked, 0) {
		if _, is, _, _ := e.backlog.good(0); is {
			continue // who asked has it already
		}
		e.backlog.count(ctx, e)
	}
}

func (c *backlogCounter) count(ctx context.Context, e *Engine) {
	ctx, cancel := context.WithTimeout(ctx, backlogLimit)
	defer cancel()
	began := time.Now()
	all, err := e.store.Backlog(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at, c.took, c.err = time.Now(), time.Since(began), err; err == nil {
		c.open = stats.BacklogCount{At: e.Now(), Each: all}
	}
	close(c.done)
	c.done = make(chan struct{})
}
