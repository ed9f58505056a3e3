package delivery

import (
	"context"
)

// subscriptionCache keeps the subscriptions that events are matched with as new as
// the store's.
type subscriptionCache struct {
	*core
	refreshing chan struct{}   // a semaphore of one
	changed    chan struct{}   // buffered; there are changes to read
	removed    chan<- struct{} // buffered; the messages of subscriptions can be removed
}

// Changed notes that subscriptions were changed through the store.
func (c *subscriptionCache) Changed() { signal(c.changed) }

// Reload reads subscriptions that were changed through the store before it
// returns, or where that fails as soon as it can.
func (c *subscriptionCache) Reload(ctx context.Context) {
	if err := c.refresh(context.WithoutCancel(ctx)); err != nil {
		c.Changed()
	}
}

// run reads changes until ctx is done.
func (c *subscriptionCache) run(ctx context.Context) {
	repeat(ctx, c.Log, "reading the subscriptions failed", c.changed, 0, c.refresh)
}

// refresh reads the subscriptions that have changed, and passes them on to the
// queues. Its result is at least as new as the moment at which it is called.
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
	changed, whole, err := c.Store.Changed(ctx, before.Version, version)
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
	for id, sub := range changed {
		if sub == nil && id != 0 { // 0: a change of a subscriber without subscriptions
			signal(c.removed) // by whichever daemon
		}
	}
	c.queues.update(before.With(version, changed), changed)
	return nil
}
