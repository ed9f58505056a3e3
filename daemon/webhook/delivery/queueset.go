package delivery

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// queueSet is the queues of all subscriptions with what they share: memory, attempts
// and leases. Its lock guards all of that.
type queueSet struct {
	clock    *clock
	maxLimit int                              // of attempts at one endpoint
	dispatch func()                           // begins attempts; the lock is held
	snapshot atomic.Pointer[webhook.Snapshot] // the subscriptions; changed with the lock held

	mu      sync.Mutex
	byID    map[int64]*queue // by subscription
	budget  *budget
	leases  leases
	daemons int  // that work on the store
	stopped bool // no attempt begins any more
}

func newQueueSet(c *Config, at *clock) *queueSet {
	s := &queueSet{clock: at, maxLimit: max(1, c.Attempts/4), byID: make(map[int64]*queue), leases: leases{term: c.LeaseTerm},
		budget: newBudget(cmp.Or(c.Memory, defaultMemory), c.Attempts), daemons: 1}
	s.snapshot.Store(webhook.NewSnapshot(0, nil))
	return s
}

// schedule finds out what a queue needs: a turn, a page, or to be looked at later.
// The lock is held.
func (s *queueSet) schedule(q *queue) {
	if s.stopped {
		return
	}
	now, t := s.clock.Now(), s.budget.tierOf(q)
	if !q.inRing && q.ready(now) {
		q.inRing = true
		t.ring = append(t.ring, q)
	}
	if !q.needsRefill && q.settledSinceRead == nil && q.refillFrom(now) != nil {
		q.needsRefill = true
		t.refills = append(t.refills, q)
		signal(s.budget.refill)
	}
	switch at := q.nextWake(now); {
	case at.IsZero():
	case q.timer == nil:
		q.timer = time.AfterFunc(at.Sub(now), func() { s.wake(q) })
	default:
		q.timer.Reset(at.Sub(now))
	}
}

// wake looks at a queue whose wait has ended.
func (s *queueSet) wake(q *queue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.schedule(q)
	s.dispatch()
}

// queueOf is the queue of a subscription, made when it is first needed, nil for one
// that is gone. The lock is held.
func (s *queueSet) queueOf(subscription int64) *queue {
	if q := s.byID[subscription]; q != nil {
		return q
	}
	sub := s.snapshot.Load().Subscription(subscription)
	if sub == nil {
		return nil
	}
	q := newQueue(sub, s.maxLimit, s.budget)
	q.endpoint.daemons, q.shared = s.daemons, s.leases.term > 0
	q.setPartitions(s.leases.held)
	s.byID[subscription] = q
	return q
}

// update gives the queues of subscriptions that have changed what they are now.
// Messages of one that was disabled stay in the store until it is enabled again;
// one that was deleted took its messages along.
func (s *queueSet) update(now *webhook.Snapshot, changed map[int64]*webhook.Subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.snapshot.Store(now)
	for id, sub := range changed {
		q := s.queueOf(id)
		if q == nil {
			continue
		}
		enabled, ordered, tier := q.enabled(), q.ordered(), s.budget.tierOf(q)
		q.sub = sub
		if !enabled && q.enabled() {
			q.endpoint.health = health{since: sub.FailingSince}
			tier.remove(q)
		}
		switch {
		case ordered != q.ordered():
			q.invalidate() // several may be under way, of which one at a time follows
		case enabled && !q.enabled():
			q.drop()
		}
		if sub != nil {
			s.schedule(q)
			continue
		}
		if q.timer != nil {
			q.timer.Stop()
		}
		delete(s.byID, id) // attempts under way find it gone when they end
	}
	s.dispatch()
}

// setLeases makes these the leases.
func (s *queueSet) setLeases(now leases) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases = now
	for _, q := range s.byID {
		q.setPartitions(now.held)
		s.schedule(q)
	}
	s.dispatch()
}

// dropLost takes the results of messages that are another daemon's now out of
// those that are still to be written, and out of memory.
func (s *queueSet) dropLost(results []webhook.AttemptResult, held []Lease) []webhook.AttemptResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(results, func(r webhook.AttemptResult) bool {
		lost := !holds(held, r.Message.Partition)
		if q := s.byID[r.Message.Subscription]; lost && q != nil {
			delete(q.unsettled, r.Message.ID)
		}
		if lost {
			s.budget.release(r.Message)
		}
		return lost
	})
}

// committed gives the queues what was committed: new messages, and what attempts
// made of others.
func (s *queueSet) committed(events []*publication, results []webhook.AttemptResult) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range events {
		for _, m := range p.messages {
			if q := s.queueOf(m.Subscription); q != nil {
				q.accept(m)
				s.schedule(q)
			}
		}
	}
	for i := range results {
		s.settle(&results[i])
	}
	s.dispatch()
}

// settle makes a result that was written down the message's state. The lock is
// held.
func (s *queueSet) settle(r *webhook.AttemptResult) {
	r.Message.State = r.After
	q := s.byID[r.Message.Subscription]
	if q == nil {
		s.budget.release(r.Message)
		return
	}
	q.settled(r.Message)
	if s.budget.inDemand(r.Message) {
		q.trim(s.clock.Now())
	}
	s.schedule(q)
}

// applyPeerEvents shares the limits of endpoints out among so many daemons, since an
// endpoint does not care whose attempts they are, and does what the events say.
func (s *queueSet) applyPeerEvents(daemons int, events []PeerEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.daemons = max(1, daemons)
	for _, q := range s.byID {
		q.endpoint.daemons = s.daemons
		s.schedule(q)
	}
	for _, e := range events {
		q := s.byID[e.Subscription]
		if q == nil {
			continue
		}
		switch e.Kind {
		case PeerDue:
			q.expedite()
		case PeerDeleted:
			q.invalidate()
		case PeerAdded:
			q.drop()
		}
		s.schedule(q)
	}
	s.dispatch()
}

func (s *queueSet) changeQueue(subscription int64, change func(*queue)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.byID[subscription]; q != nil {
		change(q)
		s.schedule(q)
	}
}

// Forget notes that messages of a subscription were deleted.
func (s *queueSet) Forget(subscription int64) { s.changeQueue(subscription, (*queue).invalidate) }

// Due notes that messages of a subscription were made due now. Its breaker closes:
// a request for another attempt expects one.
func (s *queueSet) Due(subscription int64) { s.changeQueue(subscription, (*queue).expedite) }

// rewindDelays are the times after a failed write at which all queues look into the
// store again. A server may carry out late what it did not confirm.
var rewindDelays = [...]time.Duration{time.Second, 30 * time.Second, 2 * time.Minute}

// rewindLater has the queues look again, now and later.
func (s *queueSet) rewindLater() {
	s.rewind()
	for _, d := range rewindDelays {
		time.AfterFunc(d, s.rewind)
	}
}

func (s *queueSet) rewind() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.byID {
		q.rewind()
		s.schedule(q)
	}
}

// stop lets no attempt begin any more.
func (s *queueSet) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for _, q := range s.byID {
		if q.timer != nil {
			q.timer.Stop()
		}
	}
}

// leased gives a copy of the leases.
func (s *queueSet) leased() leases {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.leases
	all.held = slices.Clone(all.held)
	return all
}

// hasDuties reports whether this daemon does what one must do for all.
func (s *queueSet) hasDuties() bool {
	l := s.leased()
	return l.term == 0 || holds(l.held, firstPartition)
}

// Subscriptions is the set that events are matched with.
func (s *queueSet) Subscriptions() *webhook.Snapshot { return s.snapshot.Load() }

// Daemons is how many daemons work on the store, as far as is known.
func (s *queueSet) Daemons() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.daemons
}

// stats are the queues of all subscriptions, with what is open of them.
func (s *queueSet) stats(open []stats.Backlog) []stats.Queue {
	of := make(map[int64]stats.Backlog, len(open))
	for _, b := range open {
		of[b.Subscription] = b
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	all := make([]stats.Queue, 0, len(s.byID))
	for id, q := range s.byID {
		if q.sub == nil {
			continue
		}
		b, next, e := of[id], q.nextWake(now), &q.endpoint
		if e.breaker.open() {
			next = e.breaker.probe // whatever else is due
		}
		all = append(all, stats.Queue{Subscription: q.sub, FailingSince: e.health.since, InFlight: e.inFlight, Limit: e.share(), InMemory: len(q.window.known),
			Failures: e.breaker.failures, BreakerOpen: e.breaker.open(), NextProbe: e.breaker.probe, Next: next,
			NotSent: b.NotSent, RetryPending: b.RetryPending, Oldest: b.Oldest})
	}
	return all
}

// inHand is what the queues hold now.
func (s *queueSet) inHand() wire.InHand {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := wire.InHand{InFlight: s.budget.inFlight()}
	for _, q := range s.byID {
		d.MessagesInMemory += len(q.window.known)
		if q.endpoint.breaker.open() {
			d.OpenBreakers++
		}
	}
	return d
}
