// Package webhooks has the handlers of events, subscribers, subscriptions and messages.
package webhooks

import (
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/live"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Config has the dependencies and settings of the handlers.
type Config struct {
	Admin    *admin.Service   // nil if webhooks are disabled
	Engine   *delivery.Engine // nil if webhooks are disabled
	Captures Captures         // nil if changes are not captured
	Queries  *queries.Handler
	Accounts *account.Service
	Access   *accounts.Access

	// Changes limits changes of subscriptions by clients with the SubscriberID only, by subscriber.
	Changes edge.Rate

	Streams  *live.Hub
	Stall    time.Duration // a reader of a live stream receives nothing for at most this time
	InFlight Gauge         // does not count live streams
}

// Gauge is a number that goes up and down.
type Gauge interface {
	Inc()
	Dec()
}

// Handlers has the handlers of webhooks.
type Handlers struct {
	Events        events
	Subscribers   subscribers
	Subscriptions *subscriptions
	Messages      messages
	Bulk          bulk
	Stats         statistics
	Why           explanations
	Streams       streams
}

// New returns the handlers of webhooks.
func New(c Config) Handlers {
	// Subscribers and messages use the handlers of subscriptions, too.
	shared := &subscriptions{
		admin:    c.Admin,
		access:   c.Access,
		accounts: c.Accounts,
		engine:   c.Engine,
		queries:  c.Queries,
		captures: c.Captures,
		retries:  edge.NewLimiter(retryRate),
		changes:  edge.NewLimiter(c.Changes),
	}
	return Handlers{
		Events:        events{admin: c.Admin, engine: c.Engine, access: c.Access},
		Subscribers:   subscribers{admin: c.Admin, subscriptions: shared},
		Subscriptions: shared,
		Messages: messages{
			admin:         c.Admin,
			engine:        c.Engine,
			access:        c.Access,
			queries:       c.Queries,
			subscriptions: shared,
		},
		Bulk:  bulk{admin: c.Admin, queries: c.Queries},
		Stats: statistics{engine: c.Engine},
		Why:   explanations{admin: c.Admin, engine: c.Engine, captures: c.Captures},
		Streams: streams{
			hub:      c.Streams,
			accounts: c.Accounts,
			stall:    c.Stall,
			inFlight: c.InFlight,
		},
	}
}
