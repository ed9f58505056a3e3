// Package deliverytest has a store for tests of the delivery engine: a real one
// that fails, hangs and lies on command.
package deliverytest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// Call names a method of delivery.Store.
type Call string

// The calls.
const (
	Lease           Call = "Lease"
	TakeOver        Call = "TakeOver"
	Renew           Call = "Renew"
	Release         Call = "Release"
	Now             Call = "Now"
	AllocateIDs     Call = "AllocateIDs"
	Version         Call = "Version"
	Changed         Call = "Changed"
	Write           Call = "Write"
	Page            Call = "Page"
	Bodies          Call = "Bodies"
	Due             Call = "Due"
	Open            Call = "Open"
	Key             Call = "Key"
	Sweep           Call = "Sweep"
	Prune           Call = "Prune"
	Reclaim         Call = "Reclaim"
	Outbox          Call = "Outbox"
	RefuseOutbox    Call = "RefuseOutbox"
	PeerEvents      Call = "PeerEvents"
	Watch           Call = "Watch"
	Changes         Call = "Changes"
	PrunePeerEvents Call = "PrunePeerEvents"

	Succeeded Call = "Succeeded"
	Backlog   Call = "Backlog"
)

// Rule decides what becomes of a call: whether the work is done, when, and what
// the engine learns about it.
type Rule func(ctx context.Context, do func(context.Context) error) error

// Away is what a store says that cannot work at the moment.
func Away(why string) error {
	return fault.New(fault.Unavailable, "the store cannot be used at the moment: %s", why)
}

// Refuse does nothing and fails.
func Refuse(err error) Rule {
	return func(context.Context, func(context.Context) error) error { return err }
}

// Deny does the work and says that it failed, as a connection does that is lost
// before the answer comes.
func Deny(err error) Rule {
	return func(ctx context.Context, do func(context.Context) error) error {
		if failed := do(ctx); failed != nil {
			return failed
		}
		return err
	}
}

// Gate holds calls up until it is opened.
type Gate struct {
	open    chan struct{}
	once    sync.Once
	late    sync.WaitGroup
	mu      sync.Mutex
	waiting int
	arrived chan struct{} // closed and replaced at each arrival
}

// NewGate makes a Gate.
func NewGate() *Gate { return &Gate{open: make(chan struct{}), arrived: make(chan struct{})} }

// Open lets all calls pass, and waits for those whose callers have given up.
func (g *Gate) Open() {
	g.once.Do(func() { close(g.open) })
	g.late.Wait()
}

func (g *Gate) arrive() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting++
	close(g.arrived)
	g.arrived = make(chan struct{})
}

// Await waits until so many calls have come.
func (g *Gate) Await(n int) {
	for {
		g.mu.Lock()
		enough, arrived := g.waiting >= n, g.arrived
		g.mu.Unlock()
		if enough {
			return
		}
		<-arrived
	}
}

// Hold does the work once the gate is open. A caller that gives up before that
// has nothing done.
func (g *Gate) Hold(ctx context.Context, do func(context.Context) error) error {
	g.arrive()
	select {
	case <-g.open:
		return do(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Late is Hold, but does the work of those who have given up as well: they do
// not know what became of it.
func (g *Gate) Late(ctx context.Context, do func(context.Context) error) error {
	g.arrive()
	select {
	case <-g.open:
		return do(ctx)
	case <-ctx.Done():
	}
	g.late.Go(func() {
		<-g.open
		_ = do(context.WithoutCancel(ctx)) // the caller has gone
	})
	return ctx.Err()
}

// Store is a delivery.Store with rules for its calls.
type Store struct {
	Clock func() time.Time // instead of the real store's; nil for that one

	kept   delivery.Store
	wholes atomic.Int64

	mu    sync.Mutex
	rules map[Call]Rule
	calls map[Call]int
}

var _ delivery.Store = (*Store)(nil)

// New makes a Store that works until rules are set.
func New(kept delivery.Store) *Store {
	return &Store{kept: kept, rules: make(map[Call]Rule), calls: make(map[Call]int)}
}

// Set makes a rule for calls, nil for none.
func (s *Store) Set(r Rule, calls ...Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range calls {
		s.rules[c] = r
	}
}

// Once makes a rule for the next call alone.
func (s *Store) Once(r Rule, c Call) {
	s.Set(func(ctx context.Context, do func(context.Context) error) error {
		s.Set(nil, c)
		return r(ctx, do)
	}, c)
}

// Calls counts how often a method was called.
func (s *Store) Calls(c Call) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[c]
}

func (s *Store) rule(c Call) Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[c]++
	return s.rules[c]
}

func (s *Store) do(ctx context.Context, c Call, work func(context.Context) error) error {
	if r := s.rule(c); r != nil {
		return r(ctx, work)
	}
	return work(ctx)
}

// got is do for a method with a result, which is dropped where the call fails.
func got[T any](ctx context.Context, s *Store, c Call, work func(context.Context) (T, error)) (T, error) {
	var mu sync.Mutex // a call may be carried out after its caller has gone
	var result T
	err := s.do(ctx, c, func(ctx context.Context) error {
		r, err := work(ctx)
		mu.Lock()
		defer mu.Unlock()
		result = r
		return err
	})
	mu.Lock()
	defer mu.Unlock()
	if err != nil {
		var none T
		return none, err
	}
	return result, nil
}

// Lease is delivery.Store's.
func (s *Store) Lease(ctx context.Context, term time.Duration) (delivery.Lease, error) {
	return got(ctx, s, Lease, func(ctx context.Context) (delivery.Lease, error) { return s.kept.Lease(ctx, term) })
}

// TakeOver is delivery.Store's.
func (s *Store) TakeOver(ctx context.Context, term time.Duration) ([]delivery.Lease, error) {
	return got(ctx, s, TakeOver, func(ctx context.Context) ([]delivery.Lease, error) { return s.kept.TakeOver(ctx, term) })
}

// Renew is delivery.Store's.
func (s *Store) Renew(ctx context.Context, leases []delivery.Lease, term time.Duration) ([]delivery.Lease, error) {
	return got(ctx, s, Renew, func(ctx context.Context) ([]delivery.Lease, error) { return s.kept.Renew(ctx, leases, term) })
}

// Release is delivery.Store's.
func (s *Store) Release(ctx context.Context, leases []delivery.Lease) error {
	return s.do(ctx, Release, func(ctx context.Context) error { return s.kept.Release(ctx, leases) })
}

// Now is delivery.Store's.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	return got(ctx, s, Now, func(ctx context.Context) (time.Time, error) {
		if s.Clock != nil {
			return s.Clock(), nil
		}
		return s.kept.Now(ctx)
	})
}

// AllocateIDs is delivery.Store's.
func (s *Store) AllocateIDs(ctx context.Context, n int) (int64, error) {
	return got(ctx, s, AllocateIDs, func(ctx context.Context) (int64, error) { return s.kept.AllocateIDs(ctx, n) })
}

// Version is delivery.Store's.
func (s *Store) Version(ctx context.Context) (int64, error) {
	return got(ctx, s, Version, s.kept.Version)
}

// Changed is delivery.Store's.
func (s *Store) Changed(ctx context.Context, after, version int64) (map[int64]*webhook.Subscription, bool, error) {
	whole := new(atomic.Bool)
	changed, err := got(ctx, s, Changed, func(ctx context.Context) (map[int64]*webhook.Subscription, error) {
		changed, is, err := s.kept.Changed(ctx, after, version)
		if whole.Store(is); is {
			s.wholes.Add(1)
		}
		return changed, err
	})
	return changed, whole.Load(), err
}

// Wholes counts how often all subscriptions were read.
func (s *Store) Wholes() int64 { return s.wholes.Load() }

// Write is delivery.Store's.
func (s *Store) Write(ctx context.Context, b delivery.Batch) error {
	return s.do(ctx, Write, func(ctx context.Context) error { return s.kept.Write(ctx, b) })
}

// Page is delivery.Store's.
func (s *Store) Page(ctx context.Context, p delivery.Page) ([]*webhook.Message, error) {
	return got(ctx, s, Page, func(ctx context.Context) ([]*webhook.Message, error) { return s.kept.Page(ctx, p) })
}

// Bodies is delivery.Store's.
func (s *Store) Bodies(ctx context.Context, events []int64) (map[int64][]byte, error) {
	return got(ctx, s, Bodies, func(ctx context.Context) (map[int64][]byte, error) { return s.kept.Bodies(ctx, events) })
}

// Due is delivery.Store's.
func (s *Store) Due(ctx context.Context, p delivery.Page) (time.Time, error) {
	return got(ctx, s, Due, func(ctx context.Context) (time.Time, error) { return s.kept.Due(ctx, p) })
}

// Open is delivery.Store's.
func (s *Store) Open(ctx context.Context, partition int64) ([]int64, error) {
	return got(ctx, s, Open, func(ctx context.Context) ([]int64, error) { return s.kept.Open(ctx, partition) })
}

// Key is delivery.Store's.
func (s *Store) Key(ctx context.Context, hash [32]byte) (*delivery.Key, error) {
	return got(ctx, s, Key, func(ctx context.Context) (*delivery.Key, error) { return s.kept.Key(ctx, hash) })
}

// Sweep is delivery.Store's.
func (s *Store) Sweep(ctx context.Context, limit int) (delivery.Removed, error) {
	return got(ctx, s, Sweep, func(ctx context.Context) (delivery.Removed, error) { return s.kept.Sweep(ctx, limit) })
}

// Prune is delivery.Store's.
func (s *Store) Prune(ctx context.Context, p delivery.Prune) (delivery.Removed, error) {
	return got(ctx, s, Prune, func(ctx context.Context) (delivery.Removed, error) { return s.kept.Prune(ctx, p) })
}

// Reclaim is delivery.Store's.
func (s *Store) Reclaim(ctx context.Context, limit int, max int64) (delivery.Removed, error) {
	return got(ctx, s, Reclaim, func(ctx context.Context) (delivery.Removed, error) { return s.kept.Reclaim(ctx, limit, max) })
}

// Outbox is delivery.Store's.
func (s *Store) Outbox(ctx context.Context, limit int) ([]delivery.OutboxEvent, error) {
	return got(ctx, s, Outbox, func(ctx context.Context) ([]delivery.OutboxEvent, error) { return s.kept.Outbox(ctx, limit) })
}

// RefuseOutbox is delivery.Store's.
func (s *Store) RefuseOutbox(ctx context.Context, id int64, reason string) error {
	return s.do(ctx, RefuseOutbox, func(ctx context.Context) error { return s.kept.RefuseOutbox(ctx, id, reason) })
}

// PeerEvents is delivery.Store's.
func (s *Store) PeerEvents(ctx context.Context, after int64) (delivery.PeerEvents, error) {
	return got(ctx, s, PeerEvents, func(ctx context.Context) (delivery.PeerEvents, error) { return s.kept.PeerEvents(ctx, after) })
}

// Watch is delivery.Store's.
func (s *Store) Watch(ctx context.Context, home delivery.Lease, term time.Duration) error {
	return s.do(ctx, Watch, func(ctx context.Context) error { return s.kept.Watch(ctx, home, term) })
}

// Changes is delivery.Store's.
func (s *Store) Changes(ctx context.Context, home int64, marks map[int64]int64) ([]webhook.Change, error) {
	return got(ctx, s, Changes, func(ctx context.Context) ([]webhook.Change, error) { return s.kept.Changes(ctx, home, marks) })
}

// PrunePeerEvents is delivery.Store's.
func (s *Store) PrunePeerEvents(ctx context.Context) error {
	return s.do(ctx, PrunePeerEvents, s.kept.PrunePeerEvents)
}

// Succeeded is delivery.Store's.
func (s *Store) Succeeded(ctx context.Context, subscription int64, since time.Time) (bool, error) {
	return got(ctx, s, Succeeded, func(ctx context.Context) (bool, error) { return s.kept.Succeeded(ctx, subscription, since) })
}

// Backlog is delivery.Store's.
func (s *Store) Backlog(ctx context.Context) ([]stats.Backlog, error) {
	return got(ctx, s, Backlog, s.kept.Backlog)
}
