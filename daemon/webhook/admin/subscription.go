package admin

import (
	"bytes"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// Subscriber receives events. Its GUID is the key to its subscriptions: callers
// that know it may change them.
type Subscriber struct {
	GUID          string
	Name          string
	Enabled       bool
	ItemNo        int
	SavedAt       time.Time
	RowHash       []byte // another one after each change
	Subscriptions []webhook.Subscription
}

// SubscriberChange is what is to be different about a subscriber.
type SubscriberChange struct {
	Name    *string
	Enabled *bool
	RowHash []byte // that the change is based on; nil for whichever it is
}

// SubscriptionChange is what is to be different about a subscription.
type SubscriptionChange struct {
	Pattern     *string
	URL         *string
	Enabled     *bool
	Ordered     *bool
	MadeByAdmin *bool
	Schedule    *[]time.Duration  // a nil slice for the settings'
	Headers     *[]webhook.Header // all of them
	Bounded     bool              // the bounds of callers with a SubscriberID alone apply
	Secret      *Rotation
	RowHash     []byte // that the change is based on; nil for whichever it is
}

// leaves reports whether a change would leave a subscription as it is.
func (c *SubscriptionChange) leaves(r *webhook.Subscription) bool {
	return same(c.Pattern, r.Pattern) && same(c.URL, r.URL) && same(c.Ordered, r.Ordered) && same(c.MadeByAdmin, r.MadeByAdmin) &&
		(c.Enabled == nil || *c.Enabled == r.Enabled && r.DisabledReason == "" && r.FailingSince.IsZero()) &&
		(c.Schedule == nil || slices.Equal(*c.Schedule, r.Schedule) && (*c.Schedule == nil) == (r.Schedule == nil)) &&
		(c.Headers == nil || slices.Equal(*c.Headers, r.Headers)) &&
		c.Secret == nil && (c.RowHash == nil || bytes.Equal(c.RowHash, r.RowHash))
}

func same[T comparable](wanted *T, is T) bool { return wanted == nil || *wanted == is }

// Rotation replaces a secret. The old one signs as well until a time.
type Rotation struct {
	Secret   string
	OldUntil time.Time
}

// Address says where a message is, by the GUIDs of a route.
type Address struct{ Subscriber, Subscription, Message string }
