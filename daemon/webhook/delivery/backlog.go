package delivery

import (
	"context"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/webhook/stats"
)

// The bounds of counting what is open.
const (
	censusAge   = 10 * time.Second // that a count stays good for
	censusShare = 20               // and this many times as long as it took
	censusLimit = 15 * time.Second // that it may take
)

// census counts what is open when somebody asks, once for all who ask.
type census struct {
	asked chan struct{} // buffered

	mu   sync.Mutex
	open stats.BacklogCount
	err  error         // why it is not newer
	at   time.Time     // by this process's clock: when the last count ended
	took time.Duration // by it
	done chan struct{} // closed, and made anew, when one ends
}

func newCensus() *census { return &census{asked: make(chan struct{}, 1), done: make(chan struct{})} }

// good reports whether the last count is not older than this, or else gives
// what is closed when the next one ends.
func (c *census) good(age time.Duration) (o stats.BacklogCount, is bool, next <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	is = !c.at.IsZero() && time.Since(c.at) < max(age, censusAge, censusShare*c.took)
	return c.open, is, c.done, c.err
}

// Backlog gives what is open, as it was counted at most age ago, or a little longer
// where counting takes long. Where it cannot be counted it gives the last count
// with the error.
func (e *Engine) Backlog(ctx context.Context, age time.Duration) (stats.BacklogCount, error) {
	if err := e.troubled(); err != nil {
		return stats.BacklogCount{}, err
	}
	o, is, next, err := e.census.good(age)
	if is {
		return o, err
	}
	signal(e.census.asked)
	select {
	case <-next:
		o, _, _, err = e.census.good(age)
	case <-e.ended:
		err = stopping()
	case <-ctx.Done():
		err = ctx.Err()
	}
	return o, err
}

// counting counts what is open whenever somebody asks.
func (e *Engine) counting(ctx context.Context) {
	for e.sleep(ctx, e.census.asked, 0) {
		if _, is, _, _ := e.census.good(0); is {
			continue // who asked has it already
		}
		e.census.count(ctx, e)
	}
}

func (c *census) count(ctx context.Context, e *Engine) {
	ctx, cancel := context.WithTimeout(ctx, censusLimit)
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
