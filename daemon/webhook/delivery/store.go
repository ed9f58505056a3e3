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

// Store keeps what the engine must not forget. It is the only way in which the
// engine speaks to a database. Errors are faults of kind Unavailable where the
// store is away, full or busy: the engine tries again.
type Store interface {
	// Now is the store's clock, which is the same for all daemons.
	Now(ctx context.Context) (time.Time, error)

	// AllocateIDs sets n numbers aside that no other caller gets, and gives the first.
	AllocateIDs(ctx context.Context, n int) (first int64, err error)
	// Version reads the version of the subscriptions alone.
	Version(ctx context.Context) (int64, error)
	// Changed reads the subscriptions that changed after one version up to another,
	// or later, by their numbers: nil for one that is gone. Where the store does not
	// know which these are it gives the whole: all that there are.
	Changed(ctx context.Context, after, version int64) (changed map[int64]*webhook.Subscription, whole bool, err error)

	// Write does all of a batch in one transaction, or nothing. It fails with
	// ErrStale where subscriptions have changed since the batch's version, and
	// with ErrFenced where one of its leases is no longer held. Outcomes are
	// written once, however often they come: an attempt has its number.
	Write(ctx context.Context, b Batch) error
	// Page reads open messages of one subscription in the order in which they are
	// due or, where asked, in that of their numbers. Of the bodies of their events
	// it gives the sizes.
	Page(ctx context.Context, p Page) ([]*webhook.Message, error)
	// Bodies reads the bodies of events, by their numbers.
	Bodies(ctx context.Context, events []int64) (map[int64][]byte, error)
	// Due is when the first open message of one subscription behind the place is
	// due, the zero time where there is none.
	Due(ctx context.Context, p Page) (time.Time, error)
	// Sweep removes up to limit messages of subscriptions that are gone. It ends
	// what has run out, too: old secrets and idempotency keys. It may stop early
	// for the sake of others; then there is more.
	Sweep(ctx context.Context, limit int) (Removed, error)
	// Prune removes messages whose attempts ended long ago, with what is known of
	// these, and events that no message needs any more. It stops early as Sweep
	// does.
	Prune(ctx context.Context, p Prune) (Removed, error)
	// Reclaim removes up to limit texts of answers: those that no attempt refers to
	// and, where all take more than max bytes, the oldest. Where there are none it
	// gives a little of the room that nothing takes any more back to the system.
	Reclaim(ctx context.Context, limit int, max int64) (Removed, error)
	// Outbox reads events that other programs have put into the store within a
	// transaction of their own, the oldest first: up to limit, and fewer where
	// their bodies are large.
	Outbox(ctx context.Context, limit int) ([]OutboxEvent, error)
	// RefuseOutbox notes why one of them cannot be taken. It is not read again.
	RefuseOutbox(ctx context.Context, id int64, reason string) error
	// Open lists the subscriptions that have open messages in a partition.
	Open(ctx context.Context, partition int64) ([]int64, error)
	// Succeeded reports whether a subscription has received a message since a
	// time.
	Succeeded(ctx context.Context, subscription int64, since time.Time) (bool, error)
	// Backlog counts what is open, for each subscription that has any.
	Backlog(ctx context.Context) ([]stats.Backlog, error)
	// Key finds what an idempotency key was used for, nil where it is free.
	Key(ctx context.Context, hash [32]byte) (*Key, error)

	// What daemons that share a store know of each other, and which of them sends
	// which messages.

	// Lease takes a partition whose lease has run out, or makes one, for term.
	Lease(ctx context.Context, term time.Duration) (Lease, error)
	// TakeOver leases the partitions that were left behind with open messages:
	// their leases have run out or were given back. The first partition always has
	// a holder.
	TakeOver(ctx context.Context, term time.Duration) ([]Lease, error)
	// Renew prolongs leases and reports those that are still held. A lease that
	// another daemon has taken since is gone for good.
	Renew(ctx context.Context, leases []Lease, term time.Duration) ([]Lease, error)
	// Release gives leases back, so that another daemon need not wait.
	Release(ctx context.Context, leases []Lease) error
	// PeerEvents reads what other daemons have done since an event. Negative, it only
	// gives the number of the last.
	PeerEvents(ctx context.Context, after int64) (PeerEvents, error)
	// Watch notes for how long a stream of this daemon is read.
	Watch(ctx context.Context, home Lease, term time.Duration) error
	// Changes reads what other daemons have written since the marks, by
	// partition, and moves these on. Without any it only sets them: what comes
	// next is read.
	Changes(ctx context.Context, home int64, marks map[int64]int64) ([]webhook.Change, error)
	// PrunePeerEvents removes events and changes that all daemons have read by now.
	PrunePeerEvents(ctx context.Context) error
}

// Sender makes one attempt, which begins at a time of the store's clock. An
// outcome that ctx cut short is not counted.
type Sender interface {
	Send(ctx context.Context, m *webhook.Message, sub *webhook.Subscription, at time.Time) webhook.Outcome
}

// Config is what an Engine works with.
type Config struct {
	Store        Store
	Sender       Sender
	Log          *slog.Logger
	Policy       func() webhook.Policy    // asked for each failure, so that it may change
	Retention    func() webhook.Retention // asked for each walk over the old messages; nil for ever
	Attempts     int                      // the most that are under way at once
	Memory       int                      // bytes that the messages of all queues may take; 0 for the default
	LeaseTerm    time.Duration            // of leases; 0 where no other daemon shares the store
	PeerInterval time.Duration            // how often other daemons are asked what they have done; 0 for never

	EventName      func(name string) (string, error) // gives the name of a published event in its own letter case
	OutboxInterval time.Duration                     // how often the outbox is looked into; 0 for never

	OnChanges   func([]webhook.Change) // gets all changes, in their order, and must not block; nil for none
	Watched     func() bool            // reports whether a stream of changes is read; nil for never
	PeersJoined func()                 // called when other daemons' changes have begun to be among them; nil for none
}

// policyFor is the policy of a subscription: the settings', with its own
// schedule where it has one.
func (c *Config) policyFor(sub *webhook.Subscription) webhook.Policy {
	p := c.Policy()
	if sub != nil && sub.Schedule != nil {
		p.Schedule = sub.Schedule
	}
	return p
}

// The errors of Write that are no failures of the store.
var (
	// ErrStale means that the subscriptions have changed: match again.
	ErrStale = errors.New("the subscriptions have changed")
	// ErrDamaged means that the store's files do not hold what they should.
	ErrDamaged = errors.New("the store is damaged")
	// ErrFenced means that a lease was lost: its messages are another daemon's.
	ErrFenced = errors.New("the lease was lost")
	// ErrKeyTaken means that an idempotency key was used by another event
	// meanwhile: Key finds which.
	ErrKeyTaken = errors.New("an idempotency key is taken")
	// ErrOutboxTaken means that events of the outbox are not the next ones, or that
	// another daemon has taken them: read it again.
	ErrOutboxTaken = errors.New("the outbox has changed")
)

// firstPartition is the one that there is from the first daemon on. The daemon that
// holds it has the duties that one daemon must do for all, and sends the
// messages of ordered subscriptions.
const firstPartition = 1

// Lease is the right to work on a partition's messages.
type Lease struct {
	Partition int64
	Fence     int64 // grows with each lease of the partition
	Until     time.Time
}

func holds(leases []Lease, partition int64) bool {
	return slices.ContainsFunc(leases, func(l Lease) bool { return l.Partition == partition })
}

// Batch is what is written in one transaction. Events and messages have their
// numbers already. Outcomes of messages that were deleted meanwhile, or whose
// subscription was, are dropped.
type Batch struct {
	Version    int64   // of the snapshot that the events were matched with, or AnyVersion
	Leases     []Lease // of all partitions that the batch touches
	Events     []*webhook.Event
	Messages   []*webhook.Message
	Outcomes   []webhook.AttemptResult
	Disabled   []Disabled
	Keys       []Key
	Outbox     []int64 // the rows of the outbox that become events, or matched no subscription
	Health     []Health
	PeerEvents []PeerEvent      // messages of these subscriptions may be in partitions that the batch has no lease of
	Home       int64            // the partition whose Changes these are
	Number     int64            // of the Changes; grows
	Changes    []webhook.Change // for the streams of other daemons

	MaxTextSize int64 // of all answers together, in bytes, where the store can keep to it at once; 0 for no limit
}

// AnyVersion is the version of a batch whose events were there before the
// subscriptions were read that they were matched with. A change that is made
// since then is concurrent with them, and need not count.
const AnyVersion = -1

// OutboxEvent is an event that another program has put into the store, of which nothing
// is checked yet.
type OutboxEvent struct {
	ID       int64 // gives the order
	Name     string
	Body     []byte
	TooLarge bool // the body, which may be missing then
}

// MaxBodySize is the most bytes that the body of an event from the outbox may have.
const MaxBodySize = 4 << 20

// Prune asks for messages to be removed that ended long ago.
type Prune struct {
	After      int64     // those with higher numbers are looked at, in their order
	Limit      int       // the most that are removed
	Successful time.Time // those that were delivered before go; the zero time for none
	Failed     time.Time // those that failed for good before
}

// Removed is what has come of a removal.
type Removed struct {
	Rows int           // messages and idempotency keys
	Took time.Duration // during which others may have waited to write
	More bool          // there may be more to remove now
	Last int64         // the message up to which Prune has come
}

// Disabled is a subscription that the engine disables, and why.
type Disabled struct {
	Subscription int64
	Reason       string
	At           time.Time
}

// Health is since when every attempt at a subscription has failed, the zero time
// after a success.
type Health struct {
	Subscription int64
	Since        time.Time
	Replace      bool // there was a success before: what is stored does not count
}

// PeerEvent is what one daemon lets the others know about messages of a subscription.
type PeerEvent struct {
	Subscription int64
	Kind         PeerEventKind
}

// PeerEventKind is what has happened to messages that another daemon may hold. The
// numbers are stored.
type PeerEventKind uint8

// The kinds of events.
const (
	PeerDue     PeerEventKind = 1 // made due by a person
	PeerDeleted PeerEventKind = 2
	PeerAdded   PeerEventKind = 3 // to a partition that another daemon holds
)

// PeerEvents is what has happened at other daemons.
type PeerEvents struct {
	Version int64       // of the subscriptions
	Last    int64       // the number of the last
	Events  []PeerEvent // each once
	Daemons int         // that hold a lease, this one included
	Watched bool        // a stream of another daemon is read
	Orphans bool        // there is something to take over
}

// Key is an idempotency key that an event was published under. The body's
// digest distinguishes a repetition from another event.
type Key struct {
	Hash   [32]byte
	Digest [32]byte
	Event  string // its guid
	Count  int    // of its messages
	Until  time.Time
}

// Page asks for open messages. Those at the place After are not among them.
type Page struct {
	Partition    int64
	Subscription int64
	After        Place
	Until        time.Time // those due later are left out
	InOrder      bool      // by number, whenever due: Until and After.Next do not count
	Limit        int
}

// after is the same page beginning behind the messages, and what is due later.
func (p Page) after(messages []*webhook.Message) Page {
	if n := len(messages); n > 0 {
		p.After = Place{messages[n-1].Next, messages[n-1].ID}
	}
	return p
}

// Place is a message's place in the order in which messages are due.
type Place struct {
	Next time.Time
	ID   int64
}

// before compares places in the order in which messages are due, or in that of
// their numbers.
func (p Place) before(other Place, byNumber bool) bool {
	if byNumber || p.Next.Equal(other.Next) {
		return p.ID < other.ID
	}
	return p.Next.Before(other.Next)
}
