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

// Header is one header that messages of a subscription are sent with.
type Header struct{ Name, Value string }

// Subscription says where messages of which events go, and how.
type Subscription struct {
	ID             int64
	GUID           string
	Subscriber     string // its GUID
	SubscriberName string
	SubscriberOn   bool   // the subscriber is enabled
	Pattern        string // the name of an event, family.*, or *
	URL            string
	ItemNo         int // among those of the subscriber
	Enabled        bool
	DisabledReason string          // where it is not, if one was given
	Ordered        bool            // each message waits for the one before it
	Schedule       []time.Duration // its own; nil for the settings'
	Headers        []Header
	Secret         string
	OldSecret      string    // signs as well, until a time
	OldSecretUntil time.Time // the zero time for never
	MadeByAdmin    bool      // private addresses are allowed
	FailingSince   time.Time // when every attempt began to fail, as far as it was stored; the zero time after a success
	SavedAt        time.Time
	RowHash        []byte // another one after each change
}

// Active reports whether messages are sent: both the subscription and its subscriber
// are enabled.
func (s *Subscription) Active() bool { return s.Enabled && s.SubscriberOn }

// InactiveReason is why no messages are sent, empty where they are, or where no reason
// was given.
func (s *Subscription) InactiveReason() string {
	if s.DisabledReason == "" && s.Enabled && !s.SubscriberOn {
		return "its subscriber is disabled"
	}
	return s.DisabledReason
}

// SecretsAt are the secrets that sign at a time of the store's clock. It may be
// a while until the store forgets the old one.
func (s *Subscription) SecretsAt(now time.Time) []string {
	if s.OldSecret == "" || !s.OldSecretUntil.IsZero() && !now.Before(s.OldSecretUntil) {
		return []string{s.Secret}
	}
	return []string{s.Secret, s.OldSecret}
}

// HeadersFor are the headers of a message to a URL. They are for the origin that
// the subscription has now: a message that was made when it had another one must
// not take them there.
func (s *Subscription) HeadersFor(url string) []Header {
	if len(s.Headers) == 0 || !SameOrigin(url, s.URL) {
		return nil
	}
	return s.Headers
}

// The members of a rotation.
const (
	MemberSecret  = "Secret"
	MemberKeepFor = "KeepFor"
)

// How long a secret that was replaced signs as well.
const (
	DefaultKeepFor = 24 * time.Hour
	MaxKeepFor     = 720 * time.Hour
)

// CheckKeepFor reports why a secret that is replaced may not sign for so long.
func CheckKeepFor(d time.Duration) error {
	if d < 0 || d > MaxKeepFor {
		return Invalid(MemberKeepFor, "must be a duration from 0 to 720h")
	}
	return nil
}

// SecretPrefix begins every secret, as Standard Webhooks has it.
const SecretPrefix = "whsec_"

// secretBytes is the length of new secrets: that of the hash.
const secretBytes = sha256.Size

// NewSecret makes a secret to sign with.
func NewSecret() string {
	key := make([]byte, secretBytes)
	_, _ = rand.Read(key) // never fails
	return SecretPrefix + base64.StdEncoding.EncodeToString(key)
}

var errSecret = errors.New("must be whsec_ and 24 to 64 bytes in base64")

// ParseSecret gives the key that a secret holds. Standard Webhooks asks for 24
// to 64 bytes.
func ParseSecret(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, SecretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errSecret
	}
	return key, nil
}

// Snapshot is the set of subscriptions at one version. It is immutable, so that
// it can be read without a lock. The next one shares with it whatever has not
// changed.
type Snapshot struct {
	Version int64
	sets    map[string]set // by pattern in lower case: exact names, family.*, *; and all
}

// all is the key of the set of all subscriptions.
const all = ""

// NewSnapshot orders subscriptions, which are given by number, for matching.
func NewSnapshot(version int64, subs map[int64]*Subscription) *Snapshot {
	return (&Snapshot{sets: make(map[string]set)}).With(version, subs)
}

// With is the snapshot of a later version, in which some subscriptions have
// changed: nil for one that is gone. What it costs depends on how many these
// are, and hardly on how many there are.
func (s *Snapshot) With(version int64, changed map[int64]*Subscription) *Snapshot {
	sets := maps.Clone(s.sets)
	for id, sub := range changed {
		if was := s.Subscription(id); was != nil {
			sets[was.pattern()] = sets[was.pattern()].put(id, nil)
		}
		if sub != nil {
			sets[sub.pattern()] = sets[sub.pattern()].put(id, sub)
		}
		sets[all] = sets[all].put(id, sub)
	}
	return &Snapshot{version, sets}
}

func (s *Subscription) pattern() string { return strings.ToLower(s.Pattern) }

// Match lists the subscriptions that an event goes to, also those that are
// disabled: their messages wait.
func (s *Snapshot) Match(event string) (found []*Subscription) {
	name := strings.ToLower(event)
	family, _, _ := strings.Cut(name, ".")
	for _, pattern := range [...]string{name, family + ".*", "*"} {
		found = append(found, slices.Concat(s.sets[pattern]...)...)
	}
	return found
}

// Subscription finds one by its number, nil if it is gone.
func (s *Snapshot) Subscription(id int64) *Subscription {
	if chunk, i, found := s.sets[all].find(id); found {
		return s.sets[all][chunk][i]
	}
	return nil
}

// Subscriptions calls yield with each subscription until it returns false, in
// the order of their numbers.
func (s *Snapshot) Subscriptions(yield func(*Subscription) bool) {
	for _, chunk := range s.sets[all] {
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

// find gives the place of a number, or the one where it belongs.
func (s set) find(id int64) (chunk, i int, found bool) {
	if len(s) == 0 {
		return 0, 0, false
	}
	chunk = max(0, sort.Search(len(s), func(c int) bool { return s[c][0].ID > id })-1)
	i, found = slices.BinarySearchFunc(s[chunk], id, func(sub *Subscription, id int64) int { return cmp.Compare(sub.ID, id) })
	return chunk, i, found
}

// put gives the set in which a number has another subscription, or none where
// that is nil.
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

// Count is the number of subscriptions, and of those that are disabled.
func (s *Snapshot) Count() (all, disabled int) {
	for sub := range s.Subscriptions {
		if all++; !sub.Active() {
			disabled++
		}
	}
	return all, disabled
}
