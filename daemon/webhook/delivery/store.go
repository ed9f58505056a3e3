package delivery

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// Store is the persistent state of the engine, and its only access to a database. If
// the store is unreachable, full or busy, methods return faults of kind Unavailable,
// and the engine tries again.
type Store interface {
	// Now returns the time of the store's clock, which all daemons share.
	Now(ctx context.Context) (time.Time, error)

	// AllocateIDs reserves n IDs and returns the first.
	AllocateIDs(ctx context.Context, n int) (first int64, err error)
	// Version returns the version of the set of subscriptions.
	Version(ctx context.Context) (int64, error)
	// ChangedSubscriptions returns the subscriptions that changed after one version up to another,
	// or later, by ID: nil for a deleted one. If the store cannot determine the
	// changes, it returns all subscriptions, and whole is true.
	ChangedSubscriptions(ctx context.Context, after, version int64) (changed map[int64]*webhook.Subscription, whole bool, err error)

	// Write writes a batch in one transaction. It fails with ErrStale if subscriptions
	// have changed since the batch's version, with ErrFenced if one of its leases is no
	// longer held, and with ErrCaptureLost if a capture has another fence or position than
	// the batch's changes. Writing a result twice has no effect: attempts are numbered. Each
	// row that it stores is counted in its minute, for the daemon with the partition Home.
	Write(ctx context.Context, b Batch) error
	// OpenMessages returns open messages of one subscription, ordered by due time or, if
	// requested, by ID. It returns the sizes of their events' bodies, not the bodies.
	OpenMessages(ctx context.Context, p Page) ([]*webhook.Message, error)
	// LateRetries returns up to limit messages of a subscription, in the partitions of all daemons,
	// with a next attempt after a time, the latest first. It returns no bodies.
	LateRetries(ctx context.Context, subscription int64, after time.Time, limit int) ([]*webhook.Message, error)
	// MakeDue makes up to limit open messages of a subscription in a partition due now that are due
	// later and have not been attempted at its URL: they were saved before it moved, or have another
	// URL. It returns their number.
	MakeDue(ctx context.Context, subscription, partition int64, moved, now time.Time, limit int) (int64, error)
	// Bodies returns the bodies of events, by event ID.
	Bodies(ctx context.Context, events []int64) (map[int64][]byte, error)
	// NextDue returns when the first open message of a subscription after the page is due,
	// zero if there is none.
	NextDue(ctx context.Context, p Page) (time.Time, error)
	// Sweep removes up to limit messages of deleted subscriptions, and expired secrets
	// and idempotency keys. It may stop early so as not to block other writers;
	// Removed.More is then true.
	Sweep(ctx context.Context, limit int) (Removed, error)
	// Prune removes messages that ended long ago with their attempts, and events
	// without messages. It may stop early, as Sweep does.
	Prune(ctx context.Context, p Prune) (Removed, error)
	// Reclaim removes up to limit response bodies: those without an attempt and, if all
	// together exceed maxSize bytes, the oldest. If there are none, it releases some unused
	// disk space.
	Reclaim(ctx context.Context, limit int, maxSize int64) (Removed, error)
	// OutboxTable is the outbox in the store.
	OutboxTable
	// OutboxMarks returns the GUIDs of rows of an external outbox that were published
	// and may not be deleted yet.
	OutboxMarks(ctx context.Context, source string) ([]string, error)
	// RemoveOutboxMarks removes the marks of rows that are deleted.
	RemoveOutboxMarks(ctx context.Context, source string, guids []string) error
	// OpenSubscriptions returns the subscriptions that have open messages in a partition.
	OpenSubscriptions(ctx context.Context, partition int64) ([]int64, error)
	// Succeeded reports whether a subscription has received a message since a time.
	Succeeded(ctx context.Context, subscription int64, since time.Time) (bool, error)
	// Backlog counts open messages, for each subscription that has any.
	Backlog(ctx context.Context) ([]stats.Backlog, error)
	// Minutes returns the traffic of all daemons in the minutes of a period that have any.
	Minutes(ctx context.Context, first, last int64) ([]stats.Minute, error)
	// Activity returns the counts of all daemons in a period.
	Activity(ctx context.Context, p stats.Period) (stats.Activity, error)
	// RemoveMinutes removes counts of minutes before the given one, about limit at a time.
	RemoveMinutes(ctx context.Context, before int64, limit int) (Removed, error)
	// IdempotencyKey returns the record of an idempotency key, nil if the key is unused.
	IdempotencyKey(ctx context.Context, hash [32]byte) (*Key, error)

	// The methods below coordinate daemons that share a store.

	// Lease leases a partition with an expired lease, or a new one, for term.
	Lease(ctx context.Context, term time.Duration) (Lease, error)
	// TakeOver leases partitions with open messages after their leases have expired or were
	// released. The first partition always has a holder.
	TakeOver(ctx context.Context, term time.Duration) ([]Lease, error)
	// Renew extends leases and returns those that are still held. A lease that another
	// daemon has acquired is lost.
	Renew(ctx context.Context, leases []Lease, term time.Duration) ([]Lease, error)
	// Release releases leases, so that other daemons need not wait for their expiry.
	Release(ctx context.Context, leases []Lease) error
	// PeerEvents returns the events of other daemons after the given one. If after is
	// negative, it only returns the ID of the last event.
	PeerEvents(ctx context.Context, after int64) (PeerEvents, error)
	// Watch records that a stream of this daemon is open, for term.
	Watch(ctx context.Context, home Lease, term time.Duration) error
	// Changes returns changes that other daemons have written after the given
	// positions, by partition, and advances the positions. An empty map is only filled:
	// later changes will be returned.
	PeerChanges(ctx context.Context, home int64, marks map[int64]int64) ([]webhook.Change, error)
	// PrunePeerEvents removes events and changes that all daemons have read.
	PrunePeerEvents(ctx context.Context) error
}

// OutboxTable is a table into which other programs insert events within their own
// transactions.
type OutboxTable interface {
	// ReadOutbox returns events, the oldest first: up to limit, fewer if their bodies are
	// large. It leaves out rows that open transactions have locked, and rows with the
	// given GUIDs.
	ReadOutbox(ctx context.Context, limit int, except []string) ([]OutboxEvent, error)
	// RefuseOutbox records why a row is invalid. It is not read again.
	RefuseOutbox(ctx context.Context, e OutboxEvent, reason string) error
}

// ExternalOutbox is an outbox in another database than the store. A row cannot be
// deleted in the transaction that stores its event. Instead the transaction also stores
// a mark, the row is deleted, and then the mark is removed.
type ExternalOutbox interface {
	OutboxTable
	// Source is the name of the table in marks.
	Source() string
	// Delete deletes rows.
	Delete(ctx context.Context, guids []string) error
}

// Sender makes one attempt, which starts at a time of the store's clock. An outcome is
// not counted if ctx was done before it.
type Sender interface {
	Send(ctx context.Context, m *webhook.Message, sub *webhook.Subscription, at time.Time) webhook.Outcome
}

// Config configures an Engine.
type Config struct {
	Store     Store
	Sender    Sender
	Log       *slog.Logger
	Policy    func() webhook.Policy    // called for each failure, since settings can be reloaded
	Retention func() webhook.Retention // called for each scan of old messages; nil to keep them forever
	Attempts  int                      // maximum number of concurrent attempts
	Overdue   func() int               // number of requests of the sender that outlast their attempts; nil for none

	// the rate limit of subscriptions without one of their own, 0 for none; read again from time to time;
	// nil for none
	MaxPerMinute func() int

	AttemptTimeout func() time.Duration // limit of an attempt, which the sender enforces; nil if unknown

	Memory       int           // bytes for the messages of all queues; 0 for the default
	LeaseTerm    time.Duration // 0 if no other daemon shares the store
	PeerInterval time.Duration // time between two reads of other daemons' events; 0 for never

	Rules func() webhook.Rules // for captured events: called for each, and every rightsInterval; nil for none

	// returns the name of an event that may be posted in canonical letter case
	EventName      func(name string) (string, error)
	OutboxInterval time.Duration  // time between two reads of the outbox; 0 for never
	Outbox         ExternalOutbox // nil for the outbox in the store

	OnChanges   func([]webhook.Change) // receives all changes in order; must not block; nil for none
	Watched     func() bool            // reports whether a stream of changes is open; nil for never
	PeersJoined func()                 // called when changes of other daemons are included from now on; nil for none
}

// policyFor returns the policy of a subscription: that of the settings, with the
// subscription's own schedule if it has one.
func (c *Config) policyFor(sub *webhook.Subscription) webhook.Policy {
	p := c.Policy()
	if sub != nil && sub.Schedule != nil {
		p.Schedule = sub.Schedule
	}
	return p
}

// recipients returns which of the subscriptions that match a captured event receive it.
func (c *Config) recipients(event string) func(*webhook.Subscription) bool {
	return func(sub *webhook.Subscription) bool {
		return c.Rules != nil && c.Rules().Receives(sub, event)
	}
}

// Errors of Write that are not failures of the store.
var (
	// ErrStale means that the subscriptions have changed: match again.
	ErrStale = errors.New("the subscriptions have changed")
	// ErrDamaged means that the store's files are corrupt.
	ErrDamaged = errors.New("the store is damaged")
	// ErrFenced means that a lease was lost: its messages belong to another daemon.
	ErrFenced = errors.New("the lease was lost")
	// ErrKeyTaken means that an idempotency key was used concurrently for another
	// event: IdempotencyKey returns it.
	ErrKeyTaken = errors.New("an idempotency key is taken")
	// ErrOutboxTaken means that rows of the outbox are not the next ones, were published
	// before or by another daemon, or were read under another lease: read it again.
	ErrOutboxTaken = errors.New("the outbox has changed")
)

// FirstPartition always exists. The daemon that holds its lease does the work that one
// daemon does for all, and sends the messages of ordered subscriptions.
const FirstPartition = 1

// Lease is the exclusive right to work on a partition's messages until a time.
type Lease struct {
	Partition int64
	Fence     int64 // ascending with each lease of the partition
	Until     time.Time
}

func holds(leases []Lease, partition int64) bool {
	return slices.ContainsFunc(leases, func(l Lease) bool { return l.Partition == partition })
}

// Batch is the content of one transaction. Events and messages already have their IDs.
// Results of deleted messages and of deleted subscriptions are dropped.
type Batch struct {
	Version    int64   // version of the snapshot that the events were matched with, or AnyVersion
	Leases     []Lease // leases of all partitions that the batch changes
	Events     []*webhook.Event
	Messages   []*webhook.Message
	Outcomes   []webhook.AttemptResult
	Disabled   []Disabled
	Keys       []Key
	Outbox     []int64  // rows of the outbox that become events or match no subscription
	Source     string   // source of the rows of an external outbox
	Taken      []string // their GUIDs
	Health     []Health
	PeerEvents []PeerEvent      // for subscriptions with messages in partitions that the batch has no lease of
	Home       int64            // the daemon's partition for new messages
	Number     int64            // number of Changes; ascending
	Changes    []webhook.Change // for the streams of other daemons
	Captured   *Captured        // changes of records, nil for none

	// limit of all response bodies together, in bytes, if the store can enforce it immediately; 0 for no limit
	MaxTextSize int64
}

// AnyVersion is the version of a batch of events that were published before the
// subscriptions they were matched with were read. Later changes of subscriptions are
// concurrent and need not be considered.
const AnyVersion = -1

// OutboxEvent is an event that another program has inserted into an outbox. It is not
// validated.
type OutboxEvent struct {
	ID       int64  // defines the order
	GUID     string // identifies the row of an external outbox: its IDs can be reused
	Name     string
	Body     []byte
	TooLarge bool // the body, which may be missing then
}

// Limits of events from outboxes, in bytes.
const (
	// MaxEventBody is the maximum size of the body of an event from an outbox, and of a message
	// that is imported. That of an event that is posted depends on http.max_body.
	MaxEventBody = 4 << 20

	// OutboxBytes is the size of the bodies after which a read of an outbox ends.
	OutboxBytes = 1 << 20
)

// Prune selects finished messages to remove.
type Prune struct {
	After      int64     // only messages with higher IDs are considered, in order
	Limit      int       // maximum number of messages to remove
	Successful time.Time // removes messages delivered before; zero for none
	Failed     time.Time // removes messages finally failed before; zero for none

	// SkipBlocks continues at the next block of messages, some of which were added before Successful or
	// Failed, or well after Now: the clock was ahead when they were. The other blocks are not read.
	SkipBlocks bool
	Now        time.Time // by the clock of the store
}

// Removed is the result of one step of a removal.
type Removed struct {
	Rows int           // removed rows, of those that the limit of the step applies to
	Took time.Duration // time during which other writers may have been blocked, 0 if it only read
	More bool          // there may be more to remove
	Last int64         // the last message that Prune has considered

	// Beyond is where Prune can continue behind many messages that are not old, the last of which it
	// is; 0 if Prune has found old ones or the last message.
	Beyond int64
}

// Disabled is a subscription that the engine disables, with the reason.
type Disabled struct {
	Subscription int64
	Reason       string
	At           time.Time
}

// Health is the start of a subscription's uninterrupted series of failures, zero after
// a success.
type Health struct {
	Subscription int64
	Since        time.Time
	Replace      bool // after a success in between: overwrites the stored time
}

// PeerEvent notifies other daemons of changes to messages of a subscription.
type PeerEvent struct {
	Subscription int64
	Kind         PeerEventKind
}

// PeerEventKind is the kind of a PeerEvent. The numbers are stored.
type PeerEventKind uint8

// Kinds of peer events.
const (
	PeerDue     PeerEventKind = 1 // made due on request
	PeerDeleted PeerEventKind = 2
	PeerAdded   PeerEventKind = 3 // to a partition that another daemon holds
)

// PeerEvents holds events of other daemons.
type PeerEvents struct {
	Version int64       // version of the subscriptions
	Last    int64       // ID of the last event
	Events  []PeerEvent // without duplicates
	Daemons int         // daemons that hold a lease, including this one
	Watched bool        // a stream of another daemon is open
	Orphans bool        // there are partitions to take over
}

// Key is an idempotency key with the event that was published under it. The digest of
// the event distinguishes a repetition from another event.
type Key struct {
	Hash   [32]byte
	Digest [32]byte
	Event  string // GUID
	Count  int    // number of its messages
	Until  time.Time
}

// Page selects open messages. The one at the position After is excluded.
type Page struct {
	Partition    int64
	Subscription int64
	After        Position
	Until        time.Time // excludes messages that are due later
	InOrder      bool      // ordered by ID, regardless of due times: Until and After.Next are ignored
	Replays      bool      // only replays; without it and InOrder, only other messages
	Key          string    // only messages of events with this key, InOrder; empty for all
	Limit        int

	sequence  *sequence      // sequence of the messages, nil for all
	requested int64          // the only message to read, on request; 0 for all
	probe     int64          // the only message to read, as a probe; 0 for all
	share     int            // bytes of memory for the messages, when the page was requested
	left      map[int64]bool // messages to leave to the store
}

// loaded reports whether a message of the page was read with its body. It was deleted if its
// body is missing.
func (p Page) loaded(m *webhook.Message) bool {
	return !p.left[m.ID] && (len(m.Event.Body) > 0 || m.Event.Size == 0)
}

// after returns the page that follows the messages, which need not be due.
func (p Page) after(messages []*webhook.Message) Page {
	if n := len(messages); n > 0 {
		last := messages[n-1]
		p.After = Position{Next: last.Next, ID: last.ID}
	}
	return p
}

// Position is a position in the order in which messages are due.
type Position struct {
	Next time.Time
	ID   int64
}

// before compares positions in the order of due times, or of IDs.
func (p Position) before(other Position, byID bool) bool {
	if byID || p.Next.Equal(other.Next) {
		return p.ID < other.ID
	}
	return p.Next.Before(other.Next)
}
