package executor

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// guard interrupts a statement that has been in one step for too long. Time
// that the client takes to read what it got does not count.
type guard struct {
	steps atomic.Int64 // odd while a step is running

	mu      sync.Mutex
	timer   *time.Timer // nil while nothing is watched
	limit   time.Duration
	seen    int64 // steps when the timer fired last
	expired bool
}

// enter and leave are called around each step.
func (g *guard) enter() { g.steps.Add(1) }
func (g *guard) leave() { g.steps.Add(1) }

// watch calls interrupt when a step runs for longer than limit: a first step
// that begins now after limit, a later one after twice that at most. A limit of
// 0 means none.
func (g *guard) watch(interrupt func(), limit time.Duration) {
	if limit <= 0 {
		return
	}
	g.stop() // of a statement that failed
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expired = false
	g.limit, g.seen = limit, g.steps.Load()+1
	g.timer = time.AfterFunc(limit, func() { g.check(interrupt) })
}

func (g *guard) check(interrupt func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.timer == nil {
		return
	}
	now := g.steps.Load()
	if now == g.seen && now%2 == 1 {
		g.expired = true
		interrupt()
	}
	g.seen = now
	g.timer.Reset(g.limit)
}

// stop ends the watch. When it has returned no interrupt comes any more, so
// that the next user of the connection is safe.
func (g *guard) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.timer != nil {
		g.timer.Stop()
		g.timer = nil
	}
}

// overrun is what the guard did, if it did: what the driver says of it is that
// there is no connection.
func (g *guard) overrun() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.expired {
		return nil
	}
	return fmt.Errorf("cut off after %v without a row", g.limit)
}
