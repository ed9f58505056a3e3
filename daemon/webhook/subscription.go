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

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/webhook/condition"
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
	ID             int64
	GUID           string
	Subscriber     string // its GUID
	SubscriberInfo SubscriberInfo
	Pattern        string // the name of an event, family.*, or *
	URL            string
	ItemNo         int // position among the subscriber's subscriptions
	Enabled        bool
	DisabledReason string // empty if enabled or if none was given
	Order          Order
	Schedule       []time.Duration // overrides the settings; nil for their schedule
	MaxPerMinute   int             // attempts that may start in a minute; 0 for the default of the settings
	Format         string          // FormatCloudEvents; empty for the headers of Standard Webhooks only
	Headers        []Header
	Secret         string
	Replaced       ReplacedSecret   // the last one
	Earlier        []ReplacedSecret // those replaced before it that still sign, in no order
	MadeByAdmin    bool             // private addresses are allowed
	Owner          Owner
	Where          Where
	FailingSince   time.Time // start of an uninterrupted series of failures, zero after a success
	MovedAt        time.Time // last change of the URL, zero for none
	SavedAt        time.Time
	RowHash        []byte // differs after each change
}

// SubscriberInfo has the properties of the subscriber that its subscriptions show.
type SubscriberInfo struct {
	Name    string
	Enabled bool
}

// Order is which messages of a subscription wait until the previous one has ended. At most
// one of its fields is set.
type Order struct {
	All   bool // each message
	ByKey bool // each message with a key, for the previous one with the same key
}

// ReplacedSecret is a secret that signs in addition to the current one, for a while.
type ReplacedSecret struct {
	Secret string    // empty for none
	Until  time.Time // zero for no end
}

// Owner is the user or API key that made or last changed a subscription. It receives the
// captured events that its owner may read.
type Owner struct {
	Name string // user:NAME or key:ID; empty for a caller with only a SubscriberID
	Held string // the record kind of its event, if the owner may no longer read it; not stored

	// Withheld has the captured events that the owner may not read, even if they are no longer
	// captured, in lower case. It is shared and not stored.
	Withheld map[string]bool
}

// Where selects the events of a subscription by their bodies. Only its Text is stored.
type Where struct {
	Text      string               // JSON; empty for all events
	Condition *condition.Condition // nil if there is none, or if it is invalid
	Invalid   string               // why it cannot be parsed, as the record kinds are now
	// since when all values before changes that it compares are known; zero if it compares none
	From  time.Time
	Waits bool // some of them are not known yet
}

// Active reports whether messages are sent: the subscription and its subscriber are
// enabled, its owner may read the records of its event, and its condition is valid.
func (s *Subscription) Active() bool {
	return s.Enabled && s.SubscriberInfo.Enabled && s.Owner.Held == "" && s.Where.Invalid == ""
}

// Withholds reports whether a message with an event must not be sent now, since the owner may not
// read its record.
func (s *Subscription) Withholds(event string) bool {
	return len(s.Owner.Withheld) > 0 && s.Owner.Withheld[strings.ToLower(event)]
}

// InactiveReason returns why no messages are sent. It is empty if the subscription is
// active or no reason was given.
func (s *Subscription) InactiveReason() string {
	switch {
	case s.DisabledReason != "" || !s.Enabled:
		return s.DisabledReason
	case !s.SubscriberInfo.Enabled:
		return "its subscriber is disabled"
	case s.Owner.Held != "":
		return "its owner may no longer read " + s.Owner.Held
	case s.Where.Invalid != "":
		return "its condition is no longer valid: " + s.Where.Invalid
	}
	return ""
}

// signs reports whether a secret signs at a time.
func (r ReplacedSecret) signs(now time.Time) bool {
	return r.Secret != "" && (r.Until.IsZero() || now.Before(r.Until))
}

// ReplacedAt returns the replaced secrets that sign at a time of the store's clock, the last one
// first. An expired secret may stay in the store for a while.
func (s *Subscription) ReplacedAt(now time.Time) (valid []ReplacedSecret) {
	if s.Replaced.signs(now) {
		valid = append(valid, s.Replaced)
	}
	for _, r := range s.Earlier {
		if r.signs(now) {
			valid = append(valid, r)
		}
	}
	return valid
}

// SecretsAt returns the secrets that sign at a time of the store's clock, the current one first.
func (s *Subscription) SecretsAt(now time.Time) []string {
	secrets := []string{s.Secret}
	for _, r := range s.ReplacedAt(now) {
		secrets = append(secrets, r.Secret)
	}
	return secrets
}

// Maximum numbers of secrets that sign at a time, with the current one. The second one is for
// rotations by callers with only a SubscriberID.
const (
	MaxSecrets           = 5
	MaxSubscriberSecrets = 2
)

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
		return Invalid(MemberKeepFor, "must be a duration from 0 to %.0fh", MaxKeepFor.Hours())
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
	fits := len(key) >= 24 && len(key) <= 64
	if !ok || err != nil || !fits {
		return nil, errSecret
	}
	return key, nil
}

// Snapshot is the set of subscriptions at one version. It is immutable and needs no
// lock. The next version shares all unchanged parts with it.
type Snapshot struct {
	Version int64
	sets    map[string]set // keyed by pattern in lower case: exact names, family.*, *; and all
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
	patterns := [...]string{name, family + ".*", "*"}
	matching := patterns[:]
	if record.IsServiceEvent(name) {
		matching = patterns[:2] // not *
	}
	for _, pattern := range matching {
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
	i, found = slices.BinarySearchFunc(s[chunk], id, func(sub *Subscription, id int64) int {
		return cmp.Compare(sub.ID, id)
	})
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
func (s *Snapshot) Count() (total, disabled int) {
	for sub := range s.Subscriptions {
		total++
		if !sub.Active() {
			disabled++
		}
	}
	return total, disabled
}
