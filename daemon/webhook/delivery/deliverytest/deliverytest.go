// Package deliverytest provides a store for tests of the delivery engine: a real
// store that fails, hangs or reports wrong results on command.
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

// The methods.
const (
	Lease                Call = "Lease"
	TakeOver             Call = "TakeOver"
	Renew                Call = "Renew"
	Release              Call = "Release"
	Now                  Call = "Now"
	AllocateIDs          Call = "AllocateIDs"
	Version              Call = "Version"
	ChangedSubscriptions Call = "ChangedSubscriptions"
	Write                Call = "Write"
	OpenMessages         Call = "OpenMessages"
	Bodies               Call = "Bodies"
	LateRetries          Call = "LateRetries"
	MakeDue              Call = "MakeDue"
	NextDue              Call = "NextDue"
	OpenSubscriptions    Call = "OpenSubscriptions"
	IdempotencyKey       Call = "IdempotencyKey"
	Sweep                Call = "Sweep"
	Prune                Call = "Prune"
	Reclaim              Call = "Reclaim"
	ReadOutbox           Call = "ReadOutbox"
	RefuseOutbox         Call = "RefuseOutbox"
	OutboxMarks          Call = "OutboxMarks"
	RemoveOutboxMarks    Call = "RemoveOutboxMarks"
	PeerEvents           Call = "PeerEvents"
	Watch                Call = "Watch"
	PeerChanges          Call = "PeerChanges"
	PrunePeerEvents      Call = "PrunePeerEvents"

	Succeeded     Call = "Succeeded"
	Backlog       Call = "Backlog"
	Minutes       Call = "Minutes"
	Activity      Call = "Activity"
	RemoveMinutes Call = "RemoveMinutes"
)

// Rule decides how a call is carried out: whether and when the work is done, and the
// error returned to the engine.
type Rule func(ctx context.Context, do func(context.Context) error) error

// Unavailable returns the error of a store that is temporarily unavailable.
func Unavailable(reason string) error {
	return fault.New(fault.Unavailable, "the store cannot be used at the moment: %s", reason)
}

// Refuse returns a rule that fails without doing the work.
func Refuse(err error) Rule {
	return func(context.Context, func(context.Context) error) error { return err }
}

// FailAfter returns a rule that does the work but reports a failure, as when a
// connection is lost before the response.
func FailAfter(err error) Rule {
	return func(ctx context.Context, do func(context.Context) error) error {
		if failed := do(ctx); failed != nil {
			return failed
		}
		return err
	}
}

// Gate blocks calls until it is opened.
type Gate struct {
	open     chan struct{}
	detached sync.WaitGroup
	mu       sync.Mutex
	isOpen   bool // guarded by mu, like the following
	waiting  int
	arrived  chan struct{} // closed and replaced at each arrival
}

// NewGate returns a Gate.
func NewGate() *Gate { return &Gate{open: make(chan struct{}), arrived: make(chan struct{})} }

// Open lets all calls proceed, and waits for the work of detached ones.
func (g *Gate) Open() {
	g.mu.Lock()
	if !g.isOpen {
		g.isOpen = true
		close(g.open)
	}
	g.mu.Unlock()
	g.detached.Wait()
}

// detach makes Open wait for the work of a cancelled call. It returns false once the gate is open.
func (g *Gate) detach() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.isOpen {
		g.detached.Add(1)
	}
	return !g.isOpen
}

func (g *Gate) arrive() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting++
	close(g.arrived)
	g.arrived = make(chan struct{})
}

// Await waits until n calls have arrived.
func (g *Gate) Await(n int) {
	for {
		g.mu.Lock()
		enough := g.waiting >= n
		arrived := g.arrived
		g.mu.Unlock()
		if enough {
			return
		}
		<-arrived
	}
}

// Hold is a rule that does the work once the gate is open. A call that is cancelled
// before has no effect.
func (g *Gate) Hold(ctx context.Context, do func(context.Context) error) error {
	g.arrive()
	select {
	case <-g.open:
		return do(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// HoldDetached is Hold, but also does the work of cancelled calls later, with a result
// unknown to the caller.
func (g *Gate) HoldDetached(ctx context.Context, do func(context.Context) error) error {
	g.arrive()
	select {
	case <-g.open:
		return do(ctx)
	case <-ctx.Done():
	}
	if !g.detach() {
		_ = do(context.WithoutCancel(ctx)) // now, since Open may have returned
		return ctx.Err()
	}
	go func() {
		defer g.detached.Done()
		<-g.open
		_ = do(context.WithoutCancel(ctx)) // the caller has returned
	}()
	return ctx.Err()
}

// Store is a delivery.Store with rules for its methods.
type Store struct {
	Clock func() time.Time // replaces the store's clock; nil to use it

	store     delivery.Store
	fullReads atomic.Int64

	mu    sync.Mutex
	rules map[Call]Rule
	once  map[Call]Rule // for the next call, before rules
	calls map[Call]int
}

var _ delivery.Store = (*Store)(nil)

// New returns a Store that forwards all calls until rules are set.
func New(store delivery.Store) *Store {
	return &Store{
		store: store,
		rules: make(map[Call]Rule),
		once:  make(map[Call]Rule),
		calls: make(map[Call]int),
	}
}

// SetRule sets the rule of methods, nil for none. It also ends that of SetRuleOnce.
func (s *Store) SetRule(r Rule, calls ...Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range calls {
		s.rules[c] = r
		delete(s.once, c)
	}
}

// SetRuleOnce sets a rule for the next call only. After it, the rule of SetRule applies again.
func (s *Store) SetRuleOnce(r Rule, c Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.once[c] = r
}

// Calls returns how often a method was called.
func (s *Store) Calls(c Call) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[c]
}

func (s *Store) rule(c Call) Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[c]++
	if r := s.once[c]; r != nil {
		delete(s.once, c)
		return r
	}
	return s.rules[c]
}

func (s *Store) do(ctx context.Context, c Call, work func(context.Context) error) error {
	if r := s.rule(c); r != nil {
		return r(ctx, work)
	}
	return work(ctx)
}

// doResult is do for a method with a result. It returns no result if the call fails.
func doResult[T any](ctx context.Context, s *Store, c Call, work func(context.Context) (T, error)) (T, error) {
	var mu sync.Mutex // the work may go on after the caller has returned
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

func (s *Store) Lease(ctx context.Context, term time.Duration) (delivery.Lease, error) {
	return doResult(ctx, s, Lease, func(ctx context.Context) (delivery.Lease, error) {
		return s.store.Lease(ctx, term)
	})
}

func (s *Store) TakeOver(ctx context.Context, term time.Duration) ([]delivery.Lease, error) {
	return doResult(ctx, s, TakeOver, func(ctx context.Context) ([]delivery.Lease, error) {
		return s.store.TakeOver(ctx, term)
	})
}

func (s *Store) Renew(ctx context.Context, leases []delivery.Lease, term time.Duration) ([]delivery.Lease, error) {
	return doResult(ctx, s, Renew, func(ctx context.Context) ([]delivery.Lease, error) {
		return s.store.Renew(ctx, leases, term)
	})
}

func (s *Store) Release(ctx context.Context, leases []delivery.Lease) error {
	return s.do(ctx, Release, func(ctx context.Context) error { return s.store.Release(ctx, leases) })
}

func (s *Store) Now(ctx context.Context) (time.Time, error) {
	return doResult(ctx, s, Now, func(ctx context.Context) (time.Time, error) {
		if s.Clock != nil {
			return s.Clock(), nil
		}
		return s.store.Now(ctx)
	})
}

func (s *Store) MakeDue(
	ctx context.Context, subscription, partition int64, moved, now time.Time, limit int,
) (int64, error) {
	return doResult(ctx, s, MakeDue, func(ctx context.Context) (int64, error) {
		return s.store.MakeDue(ctx, subscription, partition, moved, now, limit)
	})
}

func (s *Store) AllocateIDs(ctx context.Context, n int) (int64, error) {
	return doResult(ctx, s, AllocateIDs, func(ctx context.Context) (int64, error) {
		return s.store.AllocateIDs(ctx, n)
	})
}

func (s *Store) Version(ctx context.Context) (int64, error) {
	return doResult(ctx, s, Version, s.store.Version)
}

func (s *Store) ChangedSubscriptions(
	ctx context.Context, after, version int64,
) (map[int64]*webhook.Subscription, bool, error) {
	var isWhole atomic.Bool
	changed, err := doResult(ctx, s, ChangedSubscriptions, func(ctx context.Context) (map[int64]*webhook.Subscription, error) {
		changed, whole, err := s.store.ChangedSubscriptions(ctx, after, version)
		isWhole.Store(whole)
		if whole {
			s.fullReads.Add(1)
		}
		return changed, err
	})
	return changed, isWhole.Load(), err
}

// FullReads returns how often all subscriptions were read.
func (s *Store) FullReads() int64 { return s.fullReads.Load() }

func (s *Store) Write(ctx context.Context, b delivery.Batch) error {
	return s.do(ctx, Write, func(ctx context.Context) error { return s.store.Write(ctx, b) })
}

func (s *Store) OpenMessages(ctx context.Context, p delivery.Page) ([]*webhook.Message, error) {
	return doResult(ctx, s, OpenMessages, func(ctx context.Context) ([]*webhook.Message, error) {
		return s.store.OpenMessages(ctx, p)
	})
}

func (s *Store) LateRetries(
	ctx context.Context, subscription int64, after time.Time, limit int,
) ([]*webhook.Message, error) {
	return doResult(ctx, s, LateRetries, func(ctx context.Context) ([]*webhook.Message, error) {
		return s.store.LateRetries(ctx, subscription, after, limit)
	})
}

func (s *Store) Bodies(ctx context.Context, events []int64) (map[int64][]byte, error) {
	return doResult(ctx, s, Bodies, func(ctx context.Context) (map[int64][]byte, error) {
		return s.store.Bodies(ctx, events)
	})
}

func (s *Store) NextDue(ctx context.Context, p delivery.Page) (time.Time, error) {
	return doResult(ctx, s, NextDue, func(ctx context.Context) (time.Time, error) {
		return s.store.NextDue(ctx, p)
	})
}

func (s *Store) OpenSubscriptions(ctx context.Context, partition int64) ([]int64, error) {
	return doResult(ctx, s, OpenSubscriptions, func(ctx context.Context) ([]int64, error) {
		return s.store.OpenSubscriptions(ctx, partition)
	})
}

func (s *Store) IdempotencyKey(ctx context.Context, hash [32]byte) (*delivery.Key, error) {
	return doResult(ctx, s, IdempotencyKey, func(ctx context.Context) (*delivery.Key, error) {
		return s.store.IdempotencyKey(ctx, hash)
	})
}

func (s *Store) Sweep(ctx context.Context, limit int) (delivery.Removed, error) {
	return doResult(ctx, s, Sweep, func(ctx context.Context) (delivery.Removed, error) {
		return s.store.Sweep(ctx, limit)
	})
}

func (s *Store) Prune(ctx context.Context, p delivery.Prune) (delivery.Removed, error) {
	return doResult(ctx, s, Prune, func(ctx context.Context) (delivery.Removed, error) {
		return s.store.Prune(ctx, p)
	})
}

func (s *Store) Reclaim(ctx context.Context, limit int, maxSize int64) (delivery.Removed, error) {
	return doResult(ctx, s, Reclaim, func(ctx context.Context) (delivery.Removed, error) {
		return s.store.Reclaim(ctx, limit, maxSize)
	})
}

func (s *Store) ReadOutbox(ctx context.Context, limit int, except []string) ([]delivery.OutboxEvent, error) {
	return doResult(ctx, s, ReadOutbox, func(ctx context.Context) ([]delivery.OutboxEvent, error) {
		return s.store.ReadOutbox(ctx, limit, except)
	})
}

func (s *Store) RefuseOutbox(ctx context.Context, e delivery.OutboxEvent, reason string) error {
	return s.do(ctx, RefuseOutbox, func(ctx context.Context) error {
		return s.store.RefuseOutbox(ctx, e, reason)
	})
}

func (s *Store) OutboxMarks(ctx context.Context, source string) ([]string, error) {
	return doResult(ctx, s, OutboxMarks, func(ctx context.Context) ([]string, error) {
		return s.store.OutboxMarks(ctx, source)
	})
}

func (s *Store) RemoveOutboxMarks(ctx context.Context, source string, guids []string) error {
	return s.do(ctx, RemoveOutboxMarks, func(ctx context.Context) error {
		return s.store.RemoveOutboxMarks(ctx, source, guids)
	})
}

func (s *Store) PeerEvents(ctx context.Context, after int64) (delivery.PeerEvents, error) {
	return doResult(ctx, s, PeerEvents, func(ctx context.Context) (delivery.PeerEvents, error) {
		return s.store.PeerEvents(ctx, after)
	})
}

func (s *Store) Watch(ctx context.Context, home delivery.Lease, term time.Duration) error {
	return s.do(ctx, Watch, func(ctx context.Context) error { return s.store.Watch(ctx, home, term) })
}

func (s *Store) PeerChanges(ctx context.Context, home int64, marks map[int64]int64) ([]webhook.Change, error) {
	return doResult(ctx, s, PeerChanges, func(ctx context.Context) ([]webhook.Change, error) {
		return s.store.PeerChanges(ctx, home, marks)
	})
}

func (s *Store) PrunePeerEvents(ctx context.Context) error {
	return s.do(ctx, PrunePeerEvents, s.store.PrunePeerEvents)
}

func (s *Store) Succeeded(ctx context.Context, subscription int64, since time.Time) (bool, error) {
	return doResult(ctx, s, Succeeded, func(ctx context.Context) (bool, error) {
		return s.store.Succeeded(ctx, subscription, since)
	})
}

func (s *Store) Backlog(ctx context.Context) ([]stats.Backlog, error) {
	return doResult(ctx, s, Backlog, s.store.Backlog)
}

func (s *Store) Minutes(ctx context.Context, first, last int64) ([]stats.Minute, error) {
	return doResult(ctx, s, Minutes, func(ctx context.Context) ([]stats.Minute, error) {
		return s.store.Minutes(ctx, first, last)
	})
}

func (s *Store) Activity(ctx context.Context, p stats.Period) (stats.Activity, error) {
	return doResult(ctx, s, Activity, func(ctx context.Context) (stats.Activity, error) {
		return s.store.Activity(ctx, p)
	})
}

func (s *Store) RemoveMinutes(ctx context.Context, before int64, limit int) (delivery.Removed, error) {
	return doResult(ctx, s, RemoveMinutes, func(ctx context.Context) (delivery.Removed, error) {
		return s.store.RemoveMinutes(ctx, before, limit)
	})
}
