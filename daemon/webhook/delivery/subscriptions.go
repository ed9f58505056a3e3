package delivery

import (
	"context"
)

// subscriptionCache keeps the snapshot of subscriptions, which events are matched with,
// up to date with the store.
type subscriptionCache struct {
	*core
	refreshing chan struct{}   // a semaphore of one
	changed    chan struct{}   // buffered; there are changes to read
	removed    chan<- struct{} // buffered; signals the janitor
}

// NotifyChanged reports that subscriptions were changed in the store.
func (c *subscriptionCache) NotifyChanged() { signal(c.changed) }

// Reload reads changed subscriptions before it returns or, if that fails, as soon as
// possible.
func (c *subscriptionCache) Reload(ctx context.Context) {
	if err := c.refresh(context.WithoutCancel(ctx)); err != nil {
		c.NotifyChanged()
	}
}

// run reads changes until ctx is done.
func (c *subscriptionCache) run(ctx context.Context) {
	repeat(ctx, c.Log, "reading the subscriptions failed", c.changed, 0, c.refresh)
}

// refresh reads the changed subscriptions and applies them to the queues. The result is
// at least as new as the call.
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
	if whole {
		for sub := range before.Subscriptions {
			if _, ok := changed[sub.ID]; !ok {
				changed[sub.ID] = nil
			}
		}
	}
	for id, sub := range changed {
		if sub == nil && id != 0 { // 0: a change of a subscriber without subscriptions
			signal(c.removed) // by any daemon
		}
	}
	c.queues.update(before.With(version, changed), changed)
	return nil
}
