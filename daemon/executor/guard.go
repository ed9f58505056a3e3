package executor

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// guard interrupts a statement if one of its steps takes too long. The time in which the
// client consumes a row does not count.
type guard struct {
	steps atomic.Int64 // odd while a step is running

	mu      sync.Mutex
	timer   *time.Timer // nil if inactive
	limit   time.Duration
	seen    int64 // value of steps when the timer last fired
	expired bool
}

// enter is called at the start of each step.
func (g *guard) enter() { g.steps.Add(1) }

// leave is called at the end of each step.
func (g *guard) leave() { g.steps.Add(1) }

// watch calls interrupt if a step exceeds limit: the first step after limit, later steps
// after at most twice the limit. 0 means no limit.
func (g *guard) watch(interrupt func(), limit time.Duration) {
	if limit <= 0 {
		return
	}
	g.stop() // the timer of a failed statement
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expired = false
	g.limit = limit
	g.seen = g.steps.Load() + 1 // the first step, which starts now
	g.timer = time.AfterFunc(limit, func() { g.check(interrupt) })
}

// check calls interrupt if the step that ran at the last check is still running.
func (g *guard) check(interrupt func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.timer == nil {
		return
	}
	steps := g.steps.Load()
	if steps == g.seen && steps%2 == 1 {
		g.expired = true
		interrupt()
	}
	g.seen = steps
	g.timer.Reset(g.limit)
}

// stop stops watching. interrupt is not called after stop has returned, so the connection
// can be reused.
func (g *guard) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.timer != nil {
		g.timer.Stop()
		g.timer = nil
	}
}

// limitError returns an error if the guard has interrupted the statement, else nil. The
// driver only reports a closed connection.
func (g *guard) limitError() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.expired {
		return nil
	}
	return fmt.Errorf("interrupted after %v without a row", g.limit)
}
