package sqlite

import (
	"context"
	"testing"
	"time"
)

// TestInterruptAfterLimit checks that a step beyond the limit is interrupted, and that nothing of it
// remains for the next statement.
func TestInterruptAfterLimit(t *testing.T) {
	c := open(t)
	stop := c.InterruptAfter(t.Context(), time.Millisecond)
	if e := failure(t, c.Query(endless, nil)); !e.Interrupted() || !c.Expired() {
		t.Errorf("beyond the limit: got error %v, expired %v, want that the statement is interrupted", e, c.Expired())
	}
	stop()

	defer c.InterruptAfter(t.Context(), time.Hour)()
	if got := query(t, c, "SELECT 1"); got != "1" || c.Expired() {
		t.Errorf("the next statement: got %s, expired %v, want 1", got, c.Expired())
	}
}

// TestEndOfContextIsNoLimit checks that a statement with a limit is interrupted when its context
// ends, without being reported as too long.
func TestEndOfContextIsNoLimit(t *testing.T) {
	c := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	defer c.InterruptAfter(ctx, time.Hour)()
	if e := failure(t, c.Query(endless, nil)); !e.Interrupted() || c.Expired() {
		t.Errorf("got error %v, expired %v, want that the statement is interrupted without being too long", e, c.Expired())
	}
}

// TestLimitIsOfOneStep checks that a step counts from its first check on, without the time between
// steps.
func TestLimitIsOfOneStep(t *testing.T) {
	const limit = 30 * time.Second
	start := time.Now()
	for _, c := range []struct {
		name   string
		checks []check
		want   bool
	}{
		{"at the first check", []check{{1, 0}}, false},
		{"shortly before the limit", []check{{1, 0}, {1, limit - 1}}, false},
		{"at the limit", []check{{1, 0}, {1, limit}}, true},
		{"a later step", []check{{1, 0}, {3, limit - 1}, {3, limit + 1}}, false},
		{"a later step at its limit", []check{{1, 0}, {3, limit - 1}, {3, 2*limit - 1}}, true},
		{"between two steps", []check{{2, 0}, {2, limit}}, false},
		{"the step after a pause", []check{{2, 0}, {3, limit}}, false},
	} {
		i := interrupts{limit: limit, seen: -1}
		isOver := false
		for _, check := range c.checks {
			i.steps.Store(check.steps)
			isOver = i.isOver(start.Add(check.after))
		}
		if isOver != c.want {
			t.Errorf("%s: over the limit is %v, want %v", c.name, isOver, c.want)
		}
	}
}

// check is the number of steps at a time.
type check struct {
	steps int64
	after time.Duration
}

// TestInterruptsAreOfOneUse checks that a late check does not interrupt statements after stop, and
// that the timer is not set for statements that nothing can interrupt.
func TestInterruptsAreOfOneUse(t *testing.T) {
	c := open(t)
	c.InterruptAfter(context.Background(), 0)()
	if isTimerSet(c) {
		t.Error("without a limit and a context that ends: the timer is set")
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.InterruptOn(ctx)()
	c.checkInterrupts()
	if got := query(t, c, "SELECT 1"); got != "1" {
		t.Errorf("after stop: got %s, want 1", got)
	}
	if isTimerSet(c) {
		t.Error("after a check that found no statements: the timer is set")
	}
}

func isTimerSet(c *Conn) bool {
	c.interrupts.mu.Lock()
	defer c.interrupts.mu.Unlock()
	return c.interrupts.isSet
}
