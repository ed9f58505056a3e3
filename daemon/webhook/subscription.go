package webhook

import (
	"strings"
	"time"
)

// Header is one header that messages of a subscription are sent with.
type Header struct{ Name, Value string }

// Subscription is what the engine knows of one: where messages of which events
// go, and how.
type Subscription struct {
	ID             int64
	GUID           string
	Subscriber     string // its GUID
	SubscriberName string
	Pattern        string // the name of an event, family.*, or *
	URL            string
	Headers        []Header
	Secrets        []string        // that sign: one, or two while one is being replaced
	OldUntil       time.Time       // when the second of two stops signing, the zero time for never
	Enabled        bool            // itself and its subscriber
	DisabledReason string          // where it is not, if somebody gave one
	Ordered        bool            // each message waits for the one before it
	Private        bool            // an admin made it: private addresses are allowed
	Schedule       []time.Duration // its own; nil for the settings'
	FailingSince   time.Time       // when every attempt began to fail, as far as it was stored; the zero time after a success
}

// secretsAt are the secrets that sign at a time of the store's clock. It may be
// a while until the store forgets the old one.
func (s *Subscription) secretsAt(now time.Time) []string {
	if len(s.Secrets) > 1 && !s.OldUntil.IsZero() && !now.Before(s.OldUntil) {
		return s.Secrets[:1]
	}
	return s.Secrets
}

// Snapshot is the set of subscriptions at one version. It is immutable, so that
// everybody may read it without a lock.
type Snapshot struct {
	Version int64
	byID    map[int64]*Subscription
	byName  map[string][]*Subscription // exact names, in lower case
	family  map[string][]*Subscription // "debtor" for debtor.*
	every   []*Subscription
}

// NewSnapshot orders subscriptions for matching.
func NewSnapshot(version int64, all []*Subscription) *Snapshot {
	s := &Snapshot{Version: version, byID: make(map[int64]*Subscription, len(all)),
		byName: make(map[string][]*Subscription), family: make(map[string][]*Subscription)}
	for _, sub := range all {
		s.byID[sub.ID] = sub
		pattern := strings.ToLower(sub.Pattern)
		switch family, wild := strings.CutSuffix(pattern, ".*"); {
		case pattern == "*":
			s.every = append(s.every, sub)
		case wild:
			s.family[family] = append(s.family[family], sub)
		default:
			s.byName[pattern] = append(s.byName[pattern], sub)
		}
	}
	return s
}

// Match lists the subscriptions that an event goes to, also those that are
// disabled: their messages wait.
func (s *Snapshot) Match(event string) []*Subscription {
	name := strings.ToLower(event)
	family, _, _ := strings.Cut(name, ".")
	var found []*Subscription
	found = append(found, s.byName[name]...)
	found = append(found, s.family[family]...)
	return append(found, s.every...)
}

// Subscription finds one by its number, nil if it is gone.
func (s *Snapshot) Subscription(id int64) *Subscription { return s.byID[id] }

// Subscriptions calls yield with each subscription until it returns false, in
// no order.
func (s *Snapshot) Subscriptions(yield func(*Subscription) bool) {
	for _, sub := range s.byID {
		if !yield(sub) {
			return
		}
	}
}
