package delivery

import (
	"context"
	"time"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/daemon/webhook"
)

// Changed tells the engine that subscriptions were changed through the store.
func (e *Engine) Changed() { signal(e.changed) }

// Reload reads subscriptions that were changed through the store before it
// returns, or where that fails as soon as it can.
func (e *Engine) Reload(ctx context.Context) {
	if err := e.refresh(context.WithoutCancel(ctx)); err != nil {
		e.Changed()
	}
}

// watching keeps the snapshot up to date.
func (e *Engine) watching(ctx context.Context) {
	wait := backoff.Backoff{Min: minBackoff, Max: maxBackoff}
	for e.sleep(ctx, e.changed, 0) {
		for {
			err := e.refresh(ctx)
			if err == nil {
				wait.Reset()
				break
			}
			e.log.Warn("reading the subscriptions failed", "error", err.Error())
			if !e.sleep(ctx, nil, wait.Next()) {
				return
			}
		}
	}
}

// refresh reads the subscriptions that have changed, and passes them on to the
// lanes. Its result is at least as new as the moment at which it is called.
func (e *Engine) refresh(ctx context.Context) error {
	select {
	case e.refreshing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-e.refreshing }()
	before := e.snapshot()
	version, err := e.store.Version(ctx)
	if err != nil || version == before.Version {
		return err
	}
	changed, whole, err := e.store.Changed(ctx, before.Version, version)
	if err != nil {
		return err
	}
	if whole {
		for sub := range before.Subscriptions {
			if _, is := changed[sub.ID]; !is {
				changed[sub.ID] = nil
			}
		}
	}
	e.adopt(before.With(version, changed), changed)
	return nil
}

// adopt gives the lanes of subscriptions that have changed what they are now.
// Messages of one that was disabled stay in the store until it is enabled again;
// one that was deleted took its messages along.
func (e *Engine) adopt(s *webhook.Snapshot, changed map[int64]*webhook.Subscription) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.subs.Store(s)
	for id, sub := range changed {
		if sub == nil && id != 0 { // 0: a change of a subscriber without subscriptions
			signal(e.pruneRequested) // whichever daemon removed it
		}
		l := e.queueOf(id)
		if l == nil {
			continue
		}
		was, tier := l.enabled(), e.budget.of(l)
		line := l.ordered()
		l.sub = sub
		if !was && l.enabled() {
			l.health = health{since: l.sub.FailingSince}
			tier.remove(l)
		}
		switch {
		case line != l.ordered():
			l.invalidate() // several may be under way, of which one at a time follows
		case was && !l.enabled():
			l.drop()
		}
		if l.sub == nil {
			e.close(l)
			continue
		}
		e.schedule(l)
	}
	e.dispatch()
}

// close ends a lane. Attempts under way find it gone when they land.
func (e *Engine) close(l *queue) {
	if l.timer != nil {
		l.timer.Stop()
	}
	delete(e.queues, l.id)
}

// queueOf is the queueOf of a subscription, made when it is first needed, nil for one
// that is gone.
func (e *Engine) queueOf(subscription int64) *queue {
	if l := e.queues[subscription]; l != nil {
		return l
	}
	sub := e.snapshot().Subscription(subscription)
	if sub == nil {
		return nil
	}
	l := newQueue(sub, max(1, e.Attempts/4), e.budget)
	l.daemons, l.shared = e.daemons, e.LeaseTerm > 0
	for _, lease := range e.leases {
		l.cursors = append(l.cursors, &cursor{partition: lease.Partition})
	}
	e.queues[subscription] = l
	return l
}

// Forget tells the engine that messages of a subscription were deleted.
func (e *Engine) Forget(subscription int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.queues[subscription]
	if l == nil {
		return
	}
	l.invalidate()
	e.schedule(l)
}

// Due tells the engine that messages of a subscription were made due now. Its
// breaker closes: whoever asks for another attempt expects one.
func (e *Engine) Due(subscription int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if l := e.queues[subscription]; l != nil {
		l.expedite()
		e.schedule(l)
	}
}

// rewindDelays are the times after a failed write at which all lanes look into the
// store again. A server may carry out late what it did not confirm.
var rewindDelays = [...]time.Duration{time.Second, 30 * time.Second, 2 * time.Minute}

// rewindLater has the lanes look again, now and later.
func (e *Engine) rewindLater() {
	e.rewind()
	for _, d := range rewindDelays {
		time.AfterFunc(d, e.rewind)
	}
}

func (e *Engine) rewind() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.queues {
		l.rewind()
		e.schedule(l)
	}
}
