package executor

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// guard interrupts one statement of a server if one of its steps takes too long. Between the steps
// the client consumes a row, for which there is no limit. A guard is not used again for another
// statement: a timer that fires late can only interrupt the statement that it was set for.
type guard struct {
	interrupt func() // makes the running step fail; it may be called repeatedly
	limit     time.Duration

	steps atomic.Int64 // odd while a step is running

	mu      sync.Mutex
	timer   *time.Timer // nil before the first step
	seen    int64       // value of steps when the timer was last set
	stopped bool
	expired bool // interrupt was called
}

// newGuard returns a guard that calls interrupt if a step exceeds limit: the first step after
// limit, a later one after at most twice the limit, since a timer for each step would cost more
// than reading a row. A limit of 0 means no limit.
func newGuard(interrupt func(), limit time.Duration) *guard {
	return &guard{interrupt: interrupt, limit: limit}
}

// enter is called at the start of each step.
func (g *guard) enter() {
	step := g.steps.Add(1)
	if step == 1 && g.limit > 0 {
		g.start(step)
	}
}

// leave is called at the end of each step.
func (g *guard) leave() { g.steps.Add(1) }

// start sets the timer for the first step.
func (g *guard) start(step int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return
	}
	g.seen = step
	g.timer = time.AfterFunc(g.limit, g.check)
}

// check interrupts the statement if the step that ran when the timer was set is still running. It
// goes on checking after an interrupt, which may come too early to have an effect.
func (g *guard) check() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return
	}
	step := g.steps.Load()
	isRunning := step%2 == 1
	if isRunning && step == g.seen {
		g.expired = true
		g.interrupt()
	}
	g.seen = step
	g.timer.Reset(g.limit)
}

// stop ends the guard. interrupt is not called after stop has returned, so the connection can be
// used for another statement. A nil guard, of a session without a statement, has nothing to stop.
func (g *guard) stop() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stopped = true
	if g.timer != nil {
		g.timer.Stop()
	}
}

// limitError returns an error if the guard has interrupted the statement, else nil. The driver
// only reports an interrupt or a closed connection.
func (g *guard) limitError() error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.expired {
		return nil
	}
	return fmt.Errorf("interrupted after %v without a row", g.limit)
}
