package admin

import (
	"context"
	"time"

	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/webhook"
)

// Store keeps subscribers, subscriptions and messages. What does not exist is a
// fault of kind NotFound.
type Store interface {
	// HasSubscriber is NotFound where there is no such subscriber.
	HasSubscriber(ctx context.Context, guid string) error
	Subscriber(ctx context.Context, guid string) (Subscriber, error)
	AddSubscriber(ctx context.Context, s Subscriber, e audit.Entry) (Subscriber, error)
	ChangeSubscriber(ctx context.Context, guid string, c SubscriberChange, e audit.Entry) (Subscriber, error)
	RemoveSubscriber(ctx context.Context, guid string, e audit.Entry) (bool, error)

	Subscription(ctx context.Context, subscriber, guid string) (webhook.Subscription, error)
	// AddSubscription bounds what a subscriber has unless an admin adds to it.
	AddSubscription(ctx context.Context, r webhook.Subscription) (webhook.Subscription, error)
	ChangeSubscription(ctx context.Context, subscriber, guid string, c SubscriptionChange, at time.Time) (webhook.Subscription, error)
	RemoveSubscription(ctx context.Context, subscriber, guid string, at time.Time) (bool, error)

	RemoveMessage(ctx context.Context, a Address) (*webhook.Message, error)
	RetryMessage(ctx context.Context, a Address, at time.Time) (*webhook.Message, error)

	// LastMessage is the highest number of a message, 0 where there is none.
	LastMessage(ctx context.Context) (int64, error)
	// RetryMessages and RemoveMessages work, in one transaction, on the messages
	// that are still as they were picked, and give those that they have changed.
	RetryMessages(ctx context.Context, picked []Candidate, at time.Time) ([]Changed, error)
	RemoveMessages(ctx context.Context, picked []Candidate, at time.Time) ([]Changed, error)
	// Note adds an entry to the audit trail by itself.
	Note(ctx context.Context, e audit.Entry) error
}

// Notifier learns of changes that were stored. It is the delivery engine, which
// also sends test messages and knows the store's clock.
type Notifier interface {
	Now() time.Time
	// Reload reads subscriptions that were changed, if it can before it returns.
	Reload(ctx context.Context)
	// Due says that messages of a subscription were made due now.
	Due(subscription int64)
	// Forget says that messages of a subscription were deleted.
	Forget(subscription int64)
	// Announce shows changes of messages to the live streams.
	Announce(changes []webhook.Change)
	// SendTest sends a message to one subscription, whatever events it is for.
	SendTest(ctx context.Context, subscription int64, event string, body []byte) (*webhook.Message, error)
}
