package delivery

import (
	"context"
	"maps"
	"time"

	"github.com/bizhook/whd/daemon/wake"
	"github.com/bizhook/whd/daemon/webhook"
)

// subscriptionCache keeps the snapshot of subscriptions that events are matched against up
// to date with the store.
type subscriptionCache struct {
	*core
	refreshing chan struct{}   // a semaphore of one
	changed    chan struct{}   // buffered; there are changes to read
	removed    chan<- struct{} // buffered; signals the janitor

	withheld map[string]map[string]bool // webhook.Owner.Withheld by owner; guarded by refreshing
}

// NotifyChanged schedules a refresh after subscriptions were changed in the store.
func (c *subscriptionCache) NotifyChanged() { wake.Signal(c.changed) }

// Reload reads the changed subscriptions. If that fails, it is repeated in the background
// and Reload returns anyway. The cancellation of ctx is ignored.
func (c *subscriptionCache) Reload(ctx context.Context) {
	if err := c.refresh(context.WithoutCancel(ctx)); err != nil {
		c.NotifyChanged()
	}
}

// run reads changes until ctx is done.
func (c *subscriptionCache) run(ctx context.Context) {
	repeat(ctx, c.Log, "reading the subscriptions failed", c.changed, 0, c.refresh)
}

// refresh reads the changed subscriptions and applies them to the queues. It includes
// all changes that were committed before the call.
func (c *subscriptionCache) refresh(ctx context.Context) error {
	select {
	case c.refreshing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.refreshing }()

	before := c.queues.Subscriptions()
	version, err := c.Store.Version(ctx)
	if err != nil || version == before.Version {
		return err
	}
	changed, whole, err := c.Store.ChangedSubscriptions(ctx, before.Version, version)
	if err != nil {
		return err
	}
	if whole { // those that it does not have were deleted
		for sub := range before.Subscriptions {
			if _, ok := changed[sub.ID]; !ok {
				changed[sub.ID] = nil
			}
		}
	}

	if c.Rules != nil {
		rules := c.Rules()
		for _, sub := range changed {
			if sub != nil {
				rules.Judge(sub)
				sub.Owner.Withheld = c.withheldFrom(sub.Owner.Name, rules)
			}
		}
	}
	for id, sub := range changed {
		if sub == nil && id != 0 { // 0: a change of a subscriber without subscriptions
			wake.Signal(c.removed) // deleted by this or another daemon
		}
	}
	c.queues.update(before.With(version, changed), changed)
	return nil
}

// withheldFrom returns the events that an owner may not read. Subscriptions with the same owner
// share them.
func (c *subscriptionCache) withheldFrom(owner string, rules webhook.Rules) map[string]bool {
	events, ok := c.withheld[owner]
	if !ok {
		events = rules.Withheld(owner)
		c.withheld[owner] = events
	}
	return events
}

// rightsInterval is the time between two checks of the rights of owners.
const rightsInterval = 2 * time.Second

// watchRights checks the rights of owners, and conditions by the present record kinds, until ctx
// is done.
func (c *subscriptionCache) watchRights(ctx context.Context) {
	repeat(ctx, c.Log, "checking the owners of subscriptions failed", nil, rightsInterval, c.review)
}

// review holds the subscriptions to events that their owners may no longer read, or with
// conditions that are not valid any more, and releases those that may go on.
func (c *subscriptionCache) review(ctx context.Context) error {
	rules := c.Rules()
	select {
	case c.refreshing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.refreshing }()

	clear(c.withheld) // the rights may have changed
	before := c.queues.Subscriptions()
	changed := make(map[int64]*webhook.Subscription)
	for sub := range before.Subscriptions {
		after := *sub
		after.Owner.Withheld = c.withheldFrom(sub.Owner.Name, rules)
		judged := rules.Judge(&after)
		if !judged && maps.Equal(sub.Owner.Withheld, after.Owner.Withheld) {
			continue
		}
		changed[sub.ID] = &after
		if isHeld(&after) != isHeld(sub) {
			c.Log.Info("the rights of a subscription's owner, or the kind of its records, have changed",
				"subscription", sub.GUID, "event", sub.Pattern,
				"held", isHeld(&after), "reason", after.InactiveReason())
		}
	}
	if len(changed) > 0 {
		c.queues.update(before.With(before.Version, changed), changed)
	}
	return nil
}

// isHeld reports whether a subscription rests because of its owner's rights or its condition.
func isHeld(sub *webhook.Subscription) bool {
	return sub.Owner.Held != "" || sub.Where.Invalid != ""
}
