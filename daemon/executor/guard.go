package executor

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// guard interrupts one statement if one of its steps takes too long, or if its context ends during
// a step. Between the steps the client consumes a row, for which there is no limit. A guard is not
// used again for another statement: a timer that fires late can only interrupt the statement that
// it was set for.
//
// It looks at the statement every checkInterval, since a timer or a goroutine for each step, or even
// for each short statement, would cost more than reading a row.
type guard struct {
	ctx       context.Context
	interrupt func() // makes the running step fail; it may be called repeatedly
	limit     time.Duration

	steps atomic.Int64 // odd while a step is running

	mu      sync.Mutex
	timer   *time.Timer // nil before the first step
	seen    int64       // value of steps at the last check
	since   time.Time   // when it had this value for the first time
	stopped bool
	expired bool // interrupt was called because of the limit
}

// checkInterval is the time between two checks of a running statement.
const checkInterval = 100 * time.Millisecond

// newGuard returns a guard that calls interrupt after ctx has ended, or if a step exceeds limit, at
// the latest two checks later. A limit of 0 means no limit.
func newGuard(ctx context.Context, interrupt func(), limit time.Duration) *guard {
	return &guard{ctx: ctx, interrupt: interrupt, limit: limit}
}

// enter is called at the start of each step.
func (g *guard) enter() {
	step := g.steps.Add(1)
	if step == 1 {
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
	g.since = time.Now()
	g.timer = time.AfterFunc(g.interval(), g.check)
}

// interval returns the time until the next check.
func (g *guard) interval() time.Duration {
	if g.limit > 0 {
		return min(g.limit, checkInterval)
	}
	return checkInterval
}

// check interrupts the statement if it must not continue. It goes on checking after an interrupt,
// because SQLite ignores one that comes before it has begun to execute the step.
func (g *guard) check() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return
	}
	step := g.steps.Load()
	now := time.Now()
	if step != g.seen {
		g.seen = step
		g.since = now
	}
	isRunning := step%2 == 1
	if isRunning && g.limit > 0 && now.Sub(g.since) >= g.limit {
		g.expired = true
		g.interrupt()
	} else if isRunning && g.ctx.Err() != nil {
		g.interrupt()
	}
	g.timer.Reset(g.interval())
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
