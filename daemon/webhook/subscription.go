package webhook

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"
)

// Header is an HTTP header that messages of a subscription are sent with. Its ID is
// empty until it is stored.
type Header struct {
	Name, Value string
	ID          string
}

// SameHeaders reports whether two lists have the same names and values.
func SameHeaders(a, b []Header) bool {
	return slices.EqualFunc(a, b, func(a, b Header) bool { return a.Name == b.Name && a.Value == b.Value })
}

// Subscription defines which events are sent to which URL, and how.
type Subscription struct {
	ID                int64
	GUID              string
	Subscriber        string // its GUID
	SubscriberName    string
	SubscriberEnabled bool   // whether the subscriber is enabled
	Pattern           string // the name of an event, family.*, or *
	URL               string
	ItemNo            int // position among those of the subscriber
	Enabled           bool
	DisabledReason    string          // empty if enabled or if none was given
	Ordered           bool            // each message waits for the previous one
	Schedule          []time.Duration // overrides the settings; nil for their schedule
	Headers           []Header
	Secret            string
	OldSecret         string    // also signs, until OldSecretUntil
	OldSecretUntil    time.Time // zero for no end
	MadeByAdmin       bool      // private addresses are allowed
	FailingSince      time.Time // start of an uninterrupted series of failures, zero after a success
	SavedAt           time.Time
	RowHash           []byte // differs after each change
}

// Active reports whether messages are sent: the subscription and its subscriber are
// enabled.
func (s *Subscription) Active() bool { return s.Enabled && s.SubscriberEnabled }

// InactiveReason returns why no messages are sent. It is empty if the subscription is
// active or no reason was given.
func (s *Subscription) InactiveReason() string {
	if s.DisabledReason == "" && s.Enabled && !s.SubscriberEnabled {
		return "its subscriber is disabled"
	}
	return s.DisabledReason
}

// SecretsAt returns the secrets that sign at a time of the store's clock. An expired
// secret may stay in the store for a while.
func (s *Subscription) SecretsAt(now time.Time) []string {
	if s.OldSecret == "" || !s.OldSecretUntil.IsZero() && !now.Before(s.OldSecretUntil) {
		return []string{s.Secret}
	}
	return []string{s.Secret, s.OldSecret}
}

// HeadersFor returns the headers for a message to a URL. Headers are only sent to the
// origin of the subscription's current URL: a message created for an earlier origin
// gets none.
func (s *Subscription) HeadersFor(url string) []Header {
	if len(s.Headers) == 0 || !SameOrigin(url, s.URL) {
		return nil
	}
	return s.Headers
}

// Members of a secret rotation.
const (
	MemberSecret  = "Secret"
	MemberKeepFor = "KeepFor"
)

// How long a replaced secret also signs.
const (
	DefaultKeepFor = 24 * time.Hour
	MaxKeepFor     = 720 * time.Hour
)

// CheckKeepFor returns an error if a replaced secret may not sign for this long.
func CheckKeepFor(d time.Duration) error {
	if d < 0 || d > MaxKeepFor {
		return Invalid(MemberKeepFor, "must be a duration from 0 to 720h")
	}
	return nil
}

// SecretPrefix starts every secret, as Standard Webhooks specifies.
const SecretPrefix = "whsec_"

// secretBytes is the length of new secrets, that of the hash.
const secretBytes = sha256.Size

// NewSecret generates a signing secret.
func NewSecret() string {
	key := make([]byte, secretBytes)
	_, _ = rand.Read(key) // never fails
	return SecretPrefix + base64.StdEncoding.EncodeToString(key)
}

var errSecret = errors.New("must be whsec_ and 24 to 64 bytes in base64")

// ParseSecret returns the key of a secret. Standard Webhooks requires 24 to 64 bytes.
func ParseSecret(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, SecretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errSecret
	}
	return key, nil
}

// Snapshot is the set of subscriptions at one version. It is immutable and needs no
// lock. The next version shares all unchanged parts with it.
type Snapshot struct {
	Version int64
	sets    map[string]set // by pattern in lower case: exact names, family.*, *; and all
}

// all is the key of the set of all subscriptions.
const all = ""

// NewSnapshot indexes subscriptions, given by ID, for matching.
func NewSnapshot(version int64, subs map[int64]*Subscription) *Snapshot {
	return (&Snapshot{sets: make(map[string]set)}).With(version, subs)
}

// With returns the snapshot of a later version. changed holds the changed
// subscriptions, nil for a deleted one. The cost depends on the number of changes,
// hardly on the number of subscriptions.
func (s *Snapshot) With(version int64, changed map[int64]*Subscription) *Snapshot {
	sets := maps.Clone(s.sets)
	for id, sub := range changed {
		if previous := s.Subscription(id); previous != nil {
			sets[previous.pattern()] = sets[previous.pattern()].put(id, nil)
		}
		if sub != nil {
			sets[sub.pattern()] = sets[sub.pattern()].put(id, sub)
		}
		sets[all] = sets[all].put(id, sub)
	}
	return &Snapshot{version, sets}
}

func (s *Subscription) pattern() string { return strings.ToLower(s.Pattern) }

// Match returns the subscriptions that an event is sent to, including disabled ones,
// whose messages stay queued.
func (s *Snapshot) Match(event string) (found []*Subscription) {
	name := strings.ToLower(event)
	family, _, _ := strings.Cut(name, ".")
	for _, pattern := range [...]string{name, family + ".*", "*"} {
		found = append(found, slices.Concat(s.sets[pattern]...)...)
	}
	return found
}

// Subscription returns a subscription by its ID, nil if it does not exist.
func (s *Snapshot) Subscription(id int64) *Subscription {
	if chunk, i, found := s.sets[all].find(id); found {
		return s.sets[all][chunk][i]
	}
	return nil
}

// Subscriptions calls yield with each subscription, in the order of IDs, until it
// returns false.
func (s *Snapshot) Subscriptions(yield func(*Subscription) bool) {
	for _, chunk := range s.sets[all] {
		for _, sub := range chunk {
			if !yield(sub) {
				return
			}
		}
	}
}

// set is a list of subscriptions ordered by ID, in chunks. A change copies one chunk
// and the list of chunks.
type set [][]*Subscription

const chunkSize = 256

// find returns the position of an ID, or the position to insert it at.
func (s set) find(id int64) (chunk, i int, found bool) {
	if len(s) == 0 {
		return 0, 0, false
	}
	chunk = max(0, sort.Search(len(s), func(c int) bool { return s[c][0].ID > id })-1)
	i, found = slices.BinarySearchFunc(s[chunk], id, func(sub *Subscription, id int64) int { return cmp.Compare(sub.ID, id) })
	return chunk, i, found
}

// put returns a set in which the subscription with the ID is replaced by sub, or
// removed if sub is nil.
func (s set) put(id int64, sub *Subscription) set {
	c, i, found := s.find(id)
	chunk := slices.Concat(s[c:min(c+1, len(s))]...)
	if found {
		chunk = slices.Delete(chunk, i, i+1)
	}
	if sub != nil {
		chunk = slices.Insert(chunk, i, sub)
	}
	size := chunkSize
	if len(chunk) > size {
		size = chunkSize/2 + 1
	}
	return slices.Concat(s[:c], slices.Collect(slices.Chunk(chunk, size)), s[min(c+1, len(s)):])
}

// Count returns the number of subscriptions, and of those that are disabled.
func (s *Snapshot) Count() (all, disabled int) {
	for sub := range s.Subscriptions {
		if all++; !sub.Active() {
			disabled++
		}
	}
	return all, disabled
}
