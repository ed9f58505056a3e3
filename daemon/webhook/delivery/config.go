package delivery

import (
	"context"
	"log/slog"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// Sender makes one attempt, which begins at a time of the store's clock. An
// outcome that ctx cut short is not counted.
type Sender interface {
	Send(ctx context.Context, m *webhook.Message, sub *webhook.Subscription, at time.Time) webhook.Outcome
}

// Config is what an Engine works with.
type Config struct {
	Store        Store
	Sender       Sender
	Log          *slog.Logger
	Policy       func() webhook.Policy    // asked for each failure, so that it may change
	Retention    func() webhook.Retention // asked for each walk over the old messages; nil for ever
	Attempts     int                      // the most that are under way at once
	Memory       int                      // bytes that the messages of all queues may take; 0 for the default
	LeaseTerm    time.Duration            // of leases; 0 where no other daemon shares the store
	PeerInterval time.Duration            // how often other daemons are asked what they have done; 0 for never

	EventName      func(name string) (string, error) // gives the name of a published event in its own letter case
	OutboxInterval time.Duration                     // how often the outbox is looked into; 0 for never

	Show    func([]webhook.Change) // gets all changes, in their order, and must not block; nil for none
	Watched func() bool            // reports whether a stream of changes is read; nil for never
	Joined  func()                 // called when other daemons' changes have begun to be among them; nil for none
}

// policyFor is the policy of a subscription: the settings', with its own
// schedule where it has one.
func (c *Config) policyFor(sub *webhook.Subscription) webhook.Policy {
	p := c.Policy()
	if sub != nil && sub.Schedule != nil {
		p.Schedule = sub.Schedule
	}
	return p
}
