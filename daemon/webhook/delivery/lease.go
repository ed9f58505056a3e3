package delivery

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
)

// clock is the store's clock, which is the same for all daemons: this process's
// monotonic one, moved.
type clock struct {
	read atomic.Pointer[reading]
}

// reading is what two clocks said at the same time.
type reading struct {
	local time.Time // with the monotonic reading
	store time.Time
}

func (c *clock) set(ctx context.Context, s Store) error {
	before := time.Now()
	at, err := s.Now(ctx)
	if err == nil {
		c.read.Store(&reading{before.Add(time.Since(before) / 2), at})
	}
	return err
}

func (c *clock) now() time.Time {
	now := time.Now()
	if r := c.read.Load(); r != nil { // else not started yet
		now = r.store.Add(now.Sub(r.local))
	}
	return now.UTC().Truncate(100 * time.Nanosecond)
}

func (e *Engine) leased() []Lease {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.leases)
}

// keeping renews the leases well before they run out, and takes over what other
// daemons left behind.
func (e *Engine) keeping(ctx context.Context) {
	pause := e.LeaseTerm / 3
	for e.sleep(ctx, e.orphaned, pause) {
		pause = e.LeaseTerm / 3
		if err := e.keep(ctx); err != nil && ctx.Err() == nil {
			e.log.Warn("renewing the leases failed", "error", err.Error())
			pause = e.LeaseTerm / 12
		}
	}
}

// divideLeases finds the leases of partitions whose messages are done. They are
// given back, so that daemons which start need not make more and more.
func (e *Engine) divideLeases(ctx context.Context, held []Lease) (kept, done []Lease, err error) {
	home := e.homeLease().Partition
	for _, l := range held {
		if l.Partition == home || l.Partition == firstPartition {
			kept = append(kept, l)
			continue
		}
		open, err := e.store.Open(ctx, l.Partition)
		if err != nil {
			return nil, nil, err
		}
		if len(open) > 0 {
			kept = append(kept, l)
		} else {
			done = append(done, l)
		}
	}
	return kept, done, nil
}

// lapsing reports whether a lease may run out before an attempt that begins now
// has ended: then another daemon could make the same one. The engine's lock is
// held.
func (e *Engine) lapsing() bool { return e.LeaseTerm > 0 && elapsed(e.renewed) > e.LeaseTerm*2/3 }

// elapsed is the time since a moment by that clock which has gone further: the
// monotonic one may stand while a machine is suspended.
func elapsed(since time.Time) time.Duration {
	return max(time.Since(since), time.Now().Round(0).Sub(since))
}

func (e *Engine) keep(ctx context.Context) error {
	e.leasing.Lock()
	defer e.leasing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, e.LeaseTerm/3)
	defer cancel()
	began := time.Now()
	held, err := e.store.Renew(ctx, e.leased(), e.LeaseTerm)
	if err != nil {
		return err
	}
	held, done, err := e.divideLeases(ctx, held)
	if err != nil {
		return err
	}
	if len(done) > 0 {
		e.hold(held, began) // before they can be somebody else's
		if err := e.store.Release(ctx, done); err != nil {
			return err
		}
	}
	found, err := e.store.TakeOver(ctx, e.LeaseTerm)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		e.log.Info("took over messages of a daemon that is gone", "partitions", len(found))
	}
	e.hold(append(held, found...), began)
	return e.clock.set(ctx, e.store)
}

// hold makes these the engine's leases, as asked for at a time: lanes stop
// reading from partitions that were lost and begin to read from new ones.
func (e *Engine) hold(leases []Lease, at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leases, e.renewed = leases, at
	for _, l := range e.queues {
		lost := slices.ContainsFunc(l.cursors, func(f *cursor) bool { return !holds(leases, f.partition) })
		l.cursors = slices.DeleteFunc(l.cursors, func(f *cursor) bool { return !holds(leases, f.partition) })
		for _, lease := range leases {
			if l.cursorOf(lease.Partition) == nil {
				l.cursors = append(l.cursors, &cursor{partition: lease.Partition})
			}
		}
		if lost {
			l.drop()
		}
		e.schedule(l)
	}
	e.dispatch()
}

func holds(leases []Lease, partition int64) bool {
	return slices.ContainsFunc(leases, func(l Lease) bool { return l.Partition == partition })
}

// errFencedOff is why an engine without leases to renew has nothing to do.
var errFencedOff = fault.Because(ErrFenced, fault.Unavailable, "the files of the store were replaced, or another whd works with them; this one has stopped delivering")

// relinquish finds out which lease was lost, after a write that was fenced off,
// and leases a new partition if it was our own. Outcomes of messages that are
// somebody else's now are dropped: that daemon attempts them again.
func (e *Engine) relinquish(ctx context.Context, l batch) {
	if e.LeaseTerm == 0 {
		e.yield()
		return
	}
	e.leasing.Lock()
	defer e.leasing.Unlock()
	began := time.Now()
	held, err := e.store.Renew(ctx, e.leased(), e.LeaseTerm)
	if err == nil && !holds(held, e.home.Partition) {
		var home Lease
		if home, err = e.store.Lease(ctx, e.LeaseTerm); err == nil {
			e.moveTo(home)
			held = append(held, home)
		}
	}
	if err != nil {
		e.log.Warn("leasing a partition failed", "error", err.Error())
		l.publications = nil
		e.pending.giveBack(l)
		e.sleep(ctx, nil, maxBackoff)
		return
	}
	e.log.Warn("a lease was lost to another daemon", "held", len(held))
	e.dropLost(&l, held)
	e.hold(held, began)
	e.pending.giveBack(l)
}

// moveTo makes a lease that of the partition which new messages belong to. The
// numbers begin anew, since those of the partition grow.
func (e *Engine) moveTo(home Lease) {
	e.ids.left = 0
	e.mu.Lock()
	defer e.mu.Unlock()
	e.home = home
}

// yield leaves the messages to a daemon that has begun to work on the same
// store. Leasing them again would only begin a quarrel.
func (e *Engine) yield() {
	e.log.Error(errFencedOff.Error())
	e.pending.close()
	e.stopDispatch()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unavailable = errFencedOff
	e.leases = nil
}

// dropLost takes the outcomes of messages that are not ours any more out of a
// load.
func (e *Engine) dropLost(l *batch, held []Lease) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l.publications = nil
	l.outcomes = slices.DeleteFunc(l.outcomes, func(r webhook.AttemptResult) bool {
		lost := !holds(held, r.Message.Partition)
		if lane := e.queues[r.Message.Subscription]; lost && lane != nil {
			delete(lane.away, r.Message.ID)
		}
		if lost {
			e.budget.release(r.Message)
		}
		return lost
	})
}
