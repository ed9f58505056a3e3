package webhook

import (
	"cmp"
	"maps"
	"slices"
	"sort"
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

// headersFor are the headers of a message to a URL. They are for the origin that
// the subscription has now: a message that was made when it had another one must
// not take them there.
func (s *Subscription) headersFor(url string) []Header {
	if len(s.Headers) == 0 || !sameOrigin(url, s.URL) {
		return nil
	}
	return s.Headers
}

// Snapshot is the set of subscriptions at one version. It is immutable, so that
// it can be read without a lock. The next one shares with it whatever has not
// changed.
type Snapshot struct {
	Version  int64
	all      set
	patterns map[string]set // in lower case: exact names, family.* and *
}

// NewSnapshot orders subscriptions for matching.
func NewSnapshot(version int64, all []*Subscription) *Snapshot {
	all = slices.SortedFunc(slices.Values(all), func(a, b *Subscription) int { return cmp.Compare(a.ID, b.ID) })
	of := make(map[string][]*Subscription)
	for _, sub := range all {
		of[sub.pattern()] = append(of[sub.pattern()], sub)
	}
	s := &Snapshot{Version: version, all: newSet(all), patterns: make(map[string]set, len(of))}
	for pattern, some := range of {
		s.patterns[pattern] = newSet(some)
	}
	return s
}

func (s *Subscription) pattern() string { return strings.ToLower(s.Pattern) }

// with is the snapshot of a later version, in which some subscriptions have
// changed: nil for one that is gone. What it costs depends on how many these
// are, and hardly on how many there are.
func (s *Snapshot) with(version int64, changed map[int64]*Subscription) *Snapshot {
	next := &Snapshot{Version: version, all: s.all, patterns: maps.Clone(s.patterns)}
	for id, sub := range changed {
		if was := s.Subscription(id); was != nil {
			next.patterns[was.pattern()] = next.patterns[was.pattern()].put(id, nil)
		}
		if sub != nil {
			next.patterns[sub.pattern()] = next.patterns[sub.pattern()].put(id, sub)
		}
		next.all = next.all.put(id, sub)
	}
	return next
}

// Match lists the subscriptions that an event goes to, also those that are
// disabled: their messages wait.
func (s *Snapshot) Match(event string) []*Subscription {
	name := strings.ToLower(event)
	family, _, _ := strings.Cut(name, ".")
	var found []*Subscription
	for _, pattern := range [...]string{name, family + ".*", "*"} {
		for _, chunk := range s.patterns[pattern] {
			found = append(found, chunk...)
		}
	}
	return found
}

// Subscription finds one by its number, nil if it is gone.
func (s *Snapshot) Subscription(id int64) *Subscription {
	if len(s.all) == 0 {
		return nil
	}
	chunk, i, found := s.all.find(id)
	if !found {
		return nil
	}
	return s.all[chunk][i]
}

// Subscriptions calls yield with each subscription until it returns false, in
// the order of their numbers.
func (s *Snapshot) Subscriptions(yield func(*Subscription) bool) {
	for _, chunk := range s.all {
		for _, sub := range chunk {
			if !yield(sub) {
				return
			}
		}
	}
}

// set is subscriptions in the order of their numbers, in chunks. A change copies
// one chunk and the list of chunks.
type set [][]*Subscription

const chunkSize = 256

func newSet(all []*Subscription) set { return slices.Collect(slices.Chunk(all, chunkSize)) }

// find gives the place of a number in a set that is not empty, or the one where
// it belongs.
func (s set) find(id int64) (chunk, i int, found bool) {
	chunk = max(0, sort.Search(len(s), func(c int) bool { return s[c][0].ID > id })-1)
	i, found = slices.BinarySearchFunc(s[chunk], id, func(sub *Subscription, id int64) int { return cmp.Compare(sub.ID, id) })
	return chunk, i, found
}

// put gives the set in which a number has another subscription, or none where
// that is nil.
func (s set) put(id int64, sub *Subscription) set {
	if len(s) == 0 {
		return newSet(slices.DeleteFunc([]*Subscription{sub}, func(s *Subscription) bool { return s == nil }))
	}
	c, i, found := s.find(id)
	chunk := slices.Clone(s[c])
	switch {
	case found && sub != nil:
		chunk[i] = sub
	case found:
		chunk = slices.Delete(chunk, i, i+1)
	case sub != nil:
		chunk = slices.Insert(chunk, i, sub)
	}
	size := chunkSize
	if len(chunk) > size {
		size = chunkSize/2 + 1
	}
	return slices.Concat(s[:c], slices.Collect(slices.Chunk(chunk, size)), s[c+1:])
}
