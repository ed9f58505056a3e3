package executor

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// guarded is a statement with a guard that counts its interrupts.
type guarded struct {
	*guard
	interrupts atomic.Int64
}

func newGuarded(limit time.Duration) *guarded {
	g := new(guarded)
	g.guard = newGuard(func() { g.interrupts.Add(1) }, limit)
	return g
}

// expect checks whether the guard has interrupted the statement.
func (g *guarded) expect(t *testing.T, step string, want bool) {
	t.Helper()
	synctest.Wait()
	hasError := g.limitError() != nil
	if g.interrupts.Load() > 0 != want || hasError != want {
		t.Errorf("%s: %d interrupts, error %v, want interrupted %v", step, g.interrupts.Load(), g.limitError(), want)
	}
}

const stepLimit = 30 * time.Second

func TestGuardInterruptsLongSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := newGuarded(stepLimit)
		first.enter()
		time.Sleep(stepLimit - 1)
		first.expect(t, "the first step before the limit", false)
		time.Sleep(time.Nanosecond)
		first.expect(t, "the first step at the limit", true)
		time.Sleep(stepLimit)
		synctest.Wait()
		if first.interrupts.Load() != 2 {
			t.Errorf("a step that continues after an interrupt is interrupted %d times in all, want 2", first.interrupts.Load())
		}
		first.stop()

		second := newGuarded(stepLimit)
		second.enter()
		time.Sleep(time.Second)
		second.leave()
		second.enter()
		time.Sleep(stepLimit - time.Second)
		second.expect(t, "the second step after less than the limit", false)
		time.Sleep(stepLimit)
		second.expect(t, "the second step after twice the limit", true)
		second.stop()
	})
}

// TestGuardIgnoresClient checks that only steps count, not the time before the first one or between
// two.
func TestGuardIgnoresClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuarded(stepLimit)
		defer g.stop()
		time.Sleep(stepLimit - time.Second)
		for range 3 {
			g.enter()
			time.Sleep(2 * time.Second)
			g.leave()
			time.Sleep(3 * stepLimit)
		}
		g.expect(t, "short steps with long pauses", false)
	})
}

func TestGuardWithoutLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuarded(0)
		g.enter()
		time.Sleep(24 * time.Hour)
		g.expect(t, "a step of a day without a limit", false)
		g.stop()
	})
}

// TestGuardIsOfOneStatement checks that nothing of a statement remains for the next one on the
// same connection: neither its error, nor a timer that fires while the guard is stopped.
func TestGuardIsOfOneStatement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := newGuarded(stepLimit)
		before.enter()
		time.Sleep(stepLimit)
		before.expect(t, "a long step", true)
		before.leave()
		before.stop()
		interrupts := before.interrupts.Load()

		next := newGuarded(stepLimit)
		defer next.stop()
		next.enter()
		before.check() // has waited for the lock
		next.expect(t, "the next statement", false)
		if before.interrupts.Load() != interrupts {
			t.Error("a guard that was stopped interrupts the connection")
		}
	})
}

// TestStoppedGuard checks that a guard that was stopped before its first step sets no timer.
func TestStoppedGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuarded(stepLimit)
		g.stop()
		g.enter()
		time.Sleep(2 * stepLimit)
		g.expect(t, "a step after stop", false)
	})
}

// TestNoGuard checks a session that has not run a statement.
func TestNoGuard(t *testing.T) {
	var g *guard
	g.stop()
	if err := g.limitError(); err != nil {
		t.Errorf("without a statement: got the error %v, want none", err)
	}
}
