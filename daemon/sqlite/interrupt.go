package sqlite

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// interrupts is for the interrupts of a connection's statements: when their context ends, or if one
// of their steps takes too long. Both are checked every checkInterval: most statements take
// microseconds, and a timer for each would cost as much. The timer goes on until a check finds
// nothing that it could interrupt.
type interrupts struct {
	steps atomic.Int64 // of statements with a limit; odd while a step is running

	mu      sync.Mutex // held during an interrupt
	timer   *time.Timer
	isSet   bool            // the timer will fire
	ctx     context.Context // of the statements; nil while there are none
	limit   time.Duration   // of a step; 0 for none; Step reads it without mu, since only its goroutine sets it
	seen    int64           // value of steps at the last check, -1 before the first one
	since   time.Time       // of the first check with this value
	expired bool            // a step has been interrupted because of the limit
}

// checkInterval is the time between two checks.
const checkInterval = 100 * time.Millisecond

// InterruptOn interrupts running statements soon after ctx has ended, until stop is called. After
// stop has returned there are no more interrupts, so the connection can be reused.
func (c *Conn) InterruptOn(ctx context.Context) (stop func()) { return c.InterruptAfter(ctx, 0) }

// InterruptAfter is InterruptOn that also interrupts a statement if one of its steps takes longer
// than limit, which is noticed up to two intervals later. The time between the steps does not count.
// A limit of 0 means no limit, and Exec has none. Expired reports an interrupt by the limit.
//
// It replaces the context and the limit of an earlier call; stop ends those of the last one.
func (c *Conn) InterruptAfter(ctx context.Context, limit time.Duration) (stop func()) {
	i := &c.interrupts
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ctx = ctx
	i.limit = limit
	i.seen = -1
	i.expired = false
	if i.mayInterrupt() && !i.isSet {
		c.setTimer()
	}
	return c.stopInterrupts
}

// mayInterrupt reports whether there is anything to check.
func (i *interrupts) mayInterrupt() bool { return i.ctx != nil && (i.limit > 0 || i.ctx.Done() != nil) }

// setTimer makes the timer fire after the interval.
func (c *Conn) setTimer() {
	i := &c.interrupts
	i.isSet = true
	if i.timer == nil {
		i.timer = time.AfterFunc(checkInterval, c.checkInterrupts)
	} else {
		i.timer.Reset(checkInterval)
	}
}

// endInterrupts ends the effect of InterruptAfter.
func (c *Conn) endInterrupts() {
	c.interrupts.mu.Lock()
	defer c.interrupts.mu.Unlock()
	c.interrupts.ctx = nil
	c.interrupts.limit = 0
}

// Expired reports whether the limit of the last InterruptAfter has interrupted a statement.
func (c *Conn) Expired() bool {
	c.interrupts.mu.Lock()
	defer c.interrupts.mu.Unlock()
	return c.interrupts.expired
}

// checkInterrupts interrupts the running statement if it must not continue. It goes on checking
// after an interrupt, because SQLite ignores one that comes before it has begun to execute the step.
func (c *Conn) checkInterrupts() {
	i := &c.interrupts
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.mayInterrupt() {
		i.isSet = false
		return
	}
	if i.isOver(time.Now()) {
		i.expired = true
		c.Interrupt()
	} else if i.ctx.Err() != nil {
		c.Interrupt()
	}
	c.setTimer()
}

// isOver reports whether the running step has exceeded the limit.
func (i *interrupts) isOver(now time.Time) bool {
	if i.limit == 0 {
		return false
	}
	step := i.steps.Load()
	if step != i.seen {
		i.seen = step
		i.since = now
	}
	isRunning := step%2 == 1
	return isRunning && now.Sub(i.since) >= i.limit
}
