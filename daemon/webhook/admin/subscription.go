package admin

import (
	"bytes"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// Subscriber receives events. Its GUID is a credential: callers that know it may manage
// its subscriptions.
type Subscriber struct {
	GUID          string
	Name          string
	Enabled       bool
	ItemNo        int
	SavedAt       time.Time
	RowHash       []byte // differs after each change
	Subscriptions []webhook.Subscription
}

// SubscriberChange holds the new values of a subscriber's members; nil leaves a member
// unchanged.
type SubscriberChange struct {
	Name    *string
	Enabled *bool
	RowHash []byte // expected row version; nil for any
}

// SubscriptionChange holds the new values of a subscription's members; nil leaves a
// member unchanged.
type SubscriptionChange struct {
	Pattern      *string
	Where        *string // JSON; empty or without members for all events
	URL          *string
	Enabled      *bool
	Ordered      *bool // Order.All of the subscription
	ByKey        *bool // Order.ByKey; false if Ordered is true
	MadeByAdmin  *bool
	Owner        *string          // empty for a caller with only a SubscriberID
	Schedule     *[]time.Duration // a nil slice removes the schedule of the subscription
	MaxPerMinute *int             // 0 removes the rate limit of the subscription
	Format       *string
	Headers      *[]webhook.Header // replace all headers
	Limits       *webhook.Limits   // limits of callers with only a SubscriberID; nil for administrators
	Secret       *Rotation
	RowHash      []byte // expected row version; nil for any
}

// isNoop reports whether the change has no effect on a subscription. A caller with only a
// SubscriberID that changes nothing does not remove the owner.
func (c *SubscriptionChange) isNoop(s *webhook.Subscription) bool {
	sameEvents := unchanged(c.Pattern, s.Pattern) && unchanged(c.Where, s.Where.Text)
	sameTarget := unchanged(c.URL, s.URL) && c.Secret == nil &&
		(c.Headers == nil || webhook.SameHeaders(*c.Headers, s.Headers))
	sameOrder := unchanged(c.Ordered, s.Order.All) && unchanged(c.ByKey, s.Order.ByKey)
	sameOwner := unchanged(c.MadeByAdmin, s.MadeByAdmin) &&
		(unchanged(c.Owner, s.Owner.Name) || *c.Owner == "")

	isWell := s.DisabledReason == "" && s.FailingSince.IsZero()
	sameState := c.Enabled == nil || *c.Enabled == s.Enabled && isWell
	sameSchedule := c.Schedule == nil ||
		slices.Equal(*c.Schedule, s.Schedule) && (*c.Schedule == nil) == (s.Schedule == nil)
	sameMessages := unchanged(c.MaxPerMinute, s.MaxPerMinute) && unchanged(c.Format, s.Format)
	sameRow := c.RowHash == nil || bytes.Equal(c.RowHash, s.RowHash)

	return sameEvents && sameTarget && sameOrder && sameOwner && sameState && sameSchedule && sameMessages && sameRow
}

func unchanged[T comparable](requested *T, current T) bool {
	return requested == nil || *requested == current
}

// Rotation replaces a secret.
type Rotation struct {
	Secret string
	Old    []webhook.ReplacedSecret // that sign as well, the last one first
}

// Address identifies a message by the GUIDs of a route.
type Address struct{ Subscriber, Subscription, Message string }
