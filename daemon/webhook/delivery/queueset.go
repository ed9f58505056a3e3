package delivery

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/wake"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// queueSet holds the queues of all subscriptions and the memory, attempts and leases
// that they share. Its lock guards all of it.
type queueSet struct {
	clock    *clock
	maxLimit int                              // maximum number of concurrent attempts per endpoint
	snapshot atomic.Pointer[webhook.Snapshot] // the subscriptions; changed with the lock held

	// Called with the lock held.
	dispatch     func()                                      // starts attempts
	cancel       func(*queue)                                // cancels the attempts of a queue
	urlChanged   func(*webhook.Subscription)                 // see retargeter
	oldURLFailed func(subscription int64, isPresentURL bool) // see retargeter

	mu      sync.Mutex
	byID    map[int64]*queue // keyed by subscription
	budget  *budget
	leases  leases
	daemons int // number of daemons that share the store

	defaultRate int // rate limit of the subscriptions without one of their own; 0 for none

	polled  time.Time // when the events of other daemons were last read, by the local clock
	stopped bool      // no more attempts are started
}

func newQueueSet(config *Config, c *clock) *queueSet {
	s := &queueSet{
		clock:    c,
		maxLimit: max(1, config.Attempts/4),
		byID:     make(map[int64]*queue),
		leases:   leases{term: config.LeaseTerm},
		budget:   newBudget(cmp.Or(config.Memory, defaultMemory), config.Attempts),
		daemons:  1,
	}
	s.snapshot.Store(webhook.NewSnapshot(0, nil))
	return s
}

// schedule adds a queue to the rotation, requests a page or sets its timer, as it needs.
// The lock is held.
func (s *queueSet) schedule(q *queue) {
	if s.stopped {
		return
	}
	now := s.clock.Now()
	t := s.budget.tierOf(q)
	if !q.isReady && q.ready(now) {
		q.isReady = true
		t.ready.add(q)
	}
	if !q.replays.isReady && q.replayReady(now) {
		q.replays.isReady = true
		s.budget.replays.ready.add(q)
	}
	if !q.needsRefill && q.settledSinceRead == nil && q.mayRefill(now) {
		q.needsRefill = true
		t.refills = append(t.refills, q)
		wake.Signal(s.budget.refill)
	}

	wakeAt := q.nextWake(now)
	if wakeAt.IsZero() {
		return
	}
	if q.timer == nil {
		q.timer = time.AfterFunc(wakeAt.Sub(now), func() { s.wake(q) })
		return
	}
	q.timer.Reset(wakeAt.Sub(now))
}

// wake schedules a queue after its timer has fired.
func (s *queueSet) wake(q *queue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.schedule(q)
	s.dispatch()
}

// setClock uses a reading of the clock from now on. If Now goes forward by that, all queues
// are scheduled, and no endpoint has failed for that time.
func (s *queueSet) setClock(r *reading) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.clock.Now()
	s.clock.read.Store(r)
	skipped := s.clock.Now().Sub(before)
	if skipped <= clockTolerance {
		return
	}
	for _, q := range s.byID {
		h := &q.endpoint.health
		if !h.since.IsZero() {
			h.since = h.since.Add(skipped)
		}
		s.schedule(q)
	}
	s.dispatch()
}

// queueOf returns the queue of a subscription and creates it if necessary; nil if the
// subscription does not exist. The lock is held.
func (s *queueSet) queueOf(subscription int64) *queue {
	if q := s.byID[subscription]; q != nil {
		return q
	}
	sub := s.snapshot.Load().Subscription(subscription)
	if sub == nil {
		return nil
	}
	q := newQueue(sub, s.maxLimit, s.budget)
	q.endpoint.daemons = s.daemons
	q.shared = s.leases.term > 0
	s.limitRate(q)
	q.setPartitions(s.leases.held)
	s.byID[subscription] = q
	return q
}

// update applies changes of subscriptions to their queues. Messages of a disabled
// subscription stay in the store until it is enabled again; those of a deleted one are
// deleted with it.
func (s *queueSet) update(snapshot *webhook.Snapshot, changed map[int64]*webhook.Subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.snapshot.Store(snapshot)
	for id, sub := range changed {
		q := s.queueOf(id)
		if q != nil {
			s.change(q, sub)
		}
	}
	s.dispatch()
}

// change applies a change of a subscription, nil if it was deleted, to its queue. The lock is
// held.
func (s *queueSet) change(q *queue, sub *webhook.Subscription) {
	before := q.sub
	wasEnabled := q.enabled()
	t := s.budget.tierOf(q)
	q.sub = sub
	if !wasEnabled && q.enabled() {
		q.endpoint.health = health{since: sub.FailingSince}
		t.remove(q)
	}

	switch {
	case sub == nil, wasEnabled && !q.enabled():
		q.drop()
		q.requests.ids = nil
		t.remove(q)
	case before.Order != sub.Order:
		q.invalidate() // there may be several messages in flight; from now on there is one at a time
		q.requests.ids = nil
	case !maps.Equal(before.Owner.Withheld, sub.Owner.Withheld):
		q.drop()
	}

	if sub == nil {
		s.remove(q)
		return
	}
	s.limitRate(q)
	if before.URL != sub.URL {
		s.retarget(q)
	}
	s.schedule(q)
}

// remove removes the queue of a deleted subscription. The lock is held.
func (s *queueSet) remove(q *queue) {
	if q.timer != nil {
		q.timer.Stop()
	}
	s.cancel(q)
	delete(s.byID, q.id) // attempts in flight find no queue when they end
}

// retarget makes a queue send to the new URL of its subscription: nothing that was learned about the
// old one holds. In a queue with an order, attempts at the old one are cancelled: others wait for
// them. The lock is held.
func (s *queueSet) retarget(q *queue) {
	s.budget.tierOf(q).remove(q)
	q.endpoint = newEndpoint(q.sub, s.maxLimit)
	q.endpoint.daemons = s.daemons
	clear(q.postponed)
	for id := range q.unsettled {
		q.moved[id] = true
	}
	q.drop()
	if q.inOrder() {
		s.cancel(q)
	}
	s.urlChanged(q.sub)
}

// setLeases replaces the leases.
func (s *queueSet) setLeases(current leases) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases = current
	for _, q := range s.byID {
		q.setPartitions(current.held)
		s.schedule(q)
	}
	s.dispatch()
}

// dropLost removes results of messages that belong to another daemon now, from the
// results to be written and from memory.
func (s *queueSet) dropLost(results []webhook.AttemptResult, held []Lease) []webhook.AttemptResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(results, func(r webhook.AttemptResult) bool {
		if holds(held, r.Message.Partition) {
			return false
		}
		if q := s.byID[r.Message.Subscription]; q != nil {
			q.removeUnsettled(r.Message.ID)
			q.sequences.end(r.Message)
		}
		s.budget.release(r.Message)
		return true
	})
}

// committed updates the queues after a commit: with new messages and the results of
// attempts.
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

// settle applies a written result to its message. The lock is held.
func (s *queueSet) settle(r *webhook.AttemptResult) {
	r.Message.State = r.After
	r.Message.URL = r.URL
	q := s.byID[r.Message.Subscription]
	if q == nil {
		s.budget.release(r.Message)
		return
	}
	delete(q.postponed, r.Message.ID)
	if r.Postponed {
		q.addPostponed(r.Message)
	}
	isAtOldURL := q.moved[r.Message.ID] // the URL changed before the result was written
	q.settled(r.Message)
	if isAtOldURL && r.After.Status.Open() && r.After.Next.After(s.clock.Now()) {
		isPresentURL := q.sub != nil && q.sub.URL == r.URL // it has changed, and changed back
		s.oldURLFailed(q.id, isPresentURL)
	}
	if s.budget.inDemand(r.Message) {
		q.trim(s.clock.Now())
	}
	s.schedule(q)
}

// applyPeerEvents divides the limits of endpoints by the number of daemons, and applies
// the events.
func (s *queueSet) applyPeerEvents(daemons int, events []PeerEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.daemons = max(1, daemons)
	recent := elapsed(s.polled) < lateCommitDelay/2
	s.polled = time.Now()
	for _, q := range s.byID {
		q.endpoint.daemons = s.daemons
		s.limitRate(q)
		s.schedule(q)
	}
	for _, e := range events {
		q := s.byID[e.Subscription]
		if q != nil {
			q.applyPeerEvent(e.Kind, recent)
			s.schedule(q)
		}
	}
	s.dispatch()
}

// urlOf returns the URL of a message, which an attempt can change.
func (s *queueSet) urlOf(m *webhook.Message) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return m.URL
}

// changeQueue changes the queue of a subscription, if it has one, and schedules it.
func (s *queueSet) changeQueue(subscription int64, change func(*queue)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.byID[subscription]; q != nil {
		change(q)
		s.schedule(q)
		s.dispatch()
	}
}

// rewindDelays are the times after a failed write at which all queues read the store
// again. A server may commit a write late that it did not confirm.
var rewindDelays = [...]time.Duration{time.Second, 30 * time.Second, 2 * time.Minute}

// rewindLater rewinds the queues now and after each of rewindDelays.
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

// stop prevents further attempts.
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

// leased returns a copy of the leases.
func (s *queueSet) leased() leases {
	s.mu.Lock()
	defer s.mu.Unlock()
	current := s.leases
	current.held = slices.Clone(current.held)
	return current
}

// isCoordinator reports whether this daemon does the work that is done once for all
// daemons: the one that holds the first partition.
func (s *queueSet) isCoordinator() bool {
	_, ok := s.coordinatorLease()
	return ok
}

// coordinatorLease returns the lease that makes this daemon the coordinator; ok is false if
// another one is.
func (s *queueSet) coordinatorLease() (lease Lease, ok bool) {
	current := s.leased()
	for _, lease := range current.held {
		if lease.Partition == FirstPartition {
			return lease, true
		}
	}
	return current.home, current.term == 0
}

// Subscriptions returns the subscriptions that events are matched with.
func (s *queueSet) Subscriptions() *webhook.Snapshot { return s.snapshot.Load() }

// Daemons returns the number of daemons that share the store, as far as known.
func (s *queueSet) Daemons() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.daemons
}

// stats returns the state of all queues. open holds their backlogs.
func (s *queueSet) stats(open []stats.Backlog) []stats.Queue {
	backlogs := make(map[int64]stats.Backlog, len(open))
	for _, b := range open {
		backlogs[b.Subscription] = b
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	queues := make([]stats.Queue, 0, len(s.byID))
	for id, q := range s.byID {
		if q.sub != nil {
			queues = append(queues, q.stats(now, backlogs[id]))
		}
	}
	return queues
}

// breaker returns when the endpoint of a subscription is probed next if its circuit breaker is
// open.
func (s *queueSet) breaker(subscription int64) (probe time.Time, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.byID[subscription]
	if q == nil || !q.endpoint.breaker.open() {
		return time.Time{}, false
	}
	return q.endpoint.nextProbe(), true
}

// requestedWait returns until when the endpoint of a subscription requested a wait by
// Retry-After, zero if it has not.
func (s *queueSet) requestedWait(subscription int64) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.byID[subscription]
	if q == nil {
		return time.Time{}
	}
	return q.requestedWait(s.clock.Now())
}

// postponedRetries returns the numbers of retries of a subscription's messages that wait as Retry-After
// has requested, by ID.
func (s *queueSet) postponedRetries(subscription int64) map[int64]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.byID[subscription]
	if q == nil {
		return make(map[int64]int)
	}
	return q.postponedRetries(s.clock.Now())
}

// inHand returns counts of the queues' current work.
func (s *queueSet) inHand() wire.InHand {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := wire.InHand{InFlight: s.budget.slots.inFlight}
	now := s.clock.Now()
	for _, q := range s.byID {
		d.MessagesInMemory += q.inMemory()
		if q.endpoint.breaker.open() {
			d.OpenBreakers++
		}
		failure := q.endpoint.blockedBy(now)
		if failure == "" || !q.enabled() {
			continue
		}
		if d.Blocked == nil {
			d.Blocked = make(map[string]int64)
		}
		d.Blocked[string(failure)]++
	}
	return d
}
