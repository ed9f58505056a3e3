package delivery

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// memoryStore stores messages for engines that are tested step by step.
type memoryStore struct {
	Store
	open   map[int64]*webhook.Message // by ID; copies, as a database returns them
	bodies map[int64][]byte
	read   int // bytes of bodies
}

func (s *memoryStore) add(m *webhook.Message) {
	kept := *m
	kept.Event = &webhook.Event{ID: m.Event.ID, Key: m.Event.Key, Size: len(m.Event.Body), AddedAt: m.Event.AddedAt}
	s.open[m.ID] = &kept
	s.bodies[m.Event.ID] = m.Event.Body
}

func (s *memoryStore) OpenMessages(_ context.Context, p Page) ([]*webhook.Message, error) {
	var page []*webhook.Message
	for _, m := range s.open {
		if !contains(p, m) {
			continue
		}
		message, event := *m, *m.Event
		message.Event = &event
		page = append(page, &message)
	}
	slices.SortFunc(page, func(a, b *webhook.Message) int {
		if p.InOrder {
			return cmp.Compare(a.ID, b.ID)
		}
		return cmp.Or(a.Next.Compare(b.Next), cmp.Compare(a.ID, b.ID))
	})
	return page[:min(len(page), p.Limit)], nil
}

// contains reports whether a message belongs to a page or to one after it.
func contains(p Page, m *webhook.Message) bool {
	if m.Subscription != p.Subscription || p.Key != "" && m.Event.Key != p.Key {
		return false
	}
	if !p.InOrder && m.Next.After(p.Until) {
		return false
	}
	return p.After.before(Position{Next: m.Next, ID: m.ID}, p.InOrder)
}

func (s *memoryStore) Bodies(_ context.Context, events []int64) (map[int64][]byte, error) {
	bodies := make(map[int64][]byte)
	for _, id := range events {
		bodies[id] = slices.Clone(s.bodies[id])
		s.read += len(s.bodies[id])
	}
	return bodies, nil
}

func (s *memoryStore) NextDue(_ context.Context, p Page) (due time.Time, err error) {
	for _, m := range s.open {
		if m.Subscription == p.Subscription && p.After.before(Position{m.Next, m.ID}, false) {
			due = earliest(due, m.Next)
		}
	}
	return due, nil
}

func (s *memoryStore) AllocateIDs(context.Context, int) (int64, error) { return 1, nil }

// stepEngine is an engine that the test steps: it has no goroutines and
// makes no attempts.
type stepEngine struct {
	*Engine
	t        *testing.T
	store    *memoryStore
	attempts []*attempt
	subs     map[int64]*webhook.Subscription
	version  int64
	last     int64 // highest ID
	key      string
	idle     bool // the refiller waits for a signal
}

func newStepEngine(t *testing.T, memory, subscriptions int, with ...func(*webhook.Subscription)) *stepEngine {
	t.Helper()
	s := &memoryStore{open: make(map[int64]*webhook.Message), bodies: make(map[int64][]byte)}
	e := &stepEngine{t: t, store: s, subs: make(map[int64]*webhook.Subscription)}
	e.Engine = New(Config{
		Store:  s,
		Memory: memory,
		Log:    slog.New(slog.NewTextHandler(io.Discard, nil)),
		Policy: func() webhook.Policy {
			return webhook.Policy{Schedule: []time.Duration{5 * time.Second, time.Minute, time.Hour}}
		},
	})
	e.queues.dispatch = func() {} // the test starts attempts
	e.queues.budget.slots.max = 40
	for i := range e.queues.budget.tiers {
		e.queues.budget.tiers[i].slots.max = 20
	}
	e.core.clock.read.Store(&reading{local: time.Now(), store: noon})
	e.queues.leases.held = []Lease{{Partition: 1}}
	for id := range int64(subscriptions) {
		sub := &webhook.Subscription{
			ID:             id + 1,
			Subscriber:     strconv.FormatInt(id+1, 10),
			Enabled:        true,
			SubscriberInfo: webhook.SubscriberInfo{Enabled: true},
		}
		for _, change := range with {
			change(sub)
		}
		e.subs[sub.ID] = sub
	}
	e.applySubscriptions()
	t.Cleanup(e.queues.stop)
	return e
}

// applySubscriptions passes the current subscriptions to the engine.
func (e *stepEngine) applySubscriptions() {
	e.version++
	current, changed := make(map[int64]*webhook.Subscription), make(map[int64]*webhook.Subscription)
	for sub := range e.Subscriptions().Subscriptions {
		changed[sub.ID] = nil
	}
	for id, sub := range e.subs {
		copied := *sub
		current[id] = &copied
		changed[id] = &copied
	}
	e.queues.update(webhook.NewSnapshot(e.version, current), changed)
}

// publish commits an event for subscriptions.
func (e *stepEngine) publish(size int, to ...int64) {
	e.last++
	event := &webhook.Event{ID: e.last, Key: e.key, Body: make([]byte, size), AddedAt: e.Now()}
	e.queues.mu.Lock()
	defer e.queues.mu.Unlock()
	for _, id := range to {
		if e.subs[id] == nil {
			continue
		}
		e.last++
		m := &webhook.Message{ID: e.last, Event: event, Partition: 1, Subscription: id, State: webhook.State{Next: e.Now()}}
		e.store.add(m)
		if q := e.queues.queueOf(id); q != nil {
			q.accept(m)
			e.queues.schedule(q)
		}
	}
}

// refillOnce reads one page, as the refiller would, unless it waits for a signal.
func (e *stepEngine) refillOnce() bool {
	select {
	case <-e.queues.budget.refill:
		e.idle = false
	default:
	}
	if e.idle {
		return false
	}
	q, p := e.refiller.nextPage()
	if q == nil {
		e.idle = true
		return false
	}
	if err := e.refiller.readPage(e.t.Context(), q, p); err != nil {
		e.t.Error(err)
	}
	return true
}

func (e *stepEngine) startAttempt() bool {
	e.queues.mu.Lock()
	a := e.dispatcher.next()
	e.queues.mu.Unlock()
	if a == nil {
		return false
	}
	e.started(a)
	return true
}

// started records an attempt. In a queue that is ordered by key, earlier messages with the
// same key must have ended.
func (e *stepEngine) started(a *attempt) {
	e.dispatcher.approve(a)
	e.attempts = append(e.attempts, a)
	key := a.message.Event.Key
	if !a.queue.byKey() || key == "" {
		return
	}
	for id, m := range e.store.open {
		if m.Subscription == a.queue.id && m.Event.Key == key && id < a.message.ID {
			e.t.Fatalf("message %d of key %s is sent before %d (%+v)", a.message.ID, key, id, m.State)
		}
	}
}

// finish ends one of the attempts.
func (e *stepEngine) finish(i int, o webhook.Outcome, counts bool) {
	a := e.attempts[i]
	e.attempts = slices.Delete(e.attempts, i, i+1)
	o.Began = e.Now()
	if next := e.dispatcher.finish(a, o, counts); next != nil {
		e.started(next)
	}
}

// writeOutcomes writes the pending outcomes.
func (e *stepEngine) writeOutcomes() {
	work := e.core.pending.next()
	e.queues.mu.Lock()
	defer e.queues.mu.Unlock()
	for i := range work.results {
		r := &work.results[i]
		if m := e.store.open[r.Message.ID]; m != nil {
			m.State = r.After
			if !m.Status.Open() {
				delete(e.store.open, m.ID)
			}
		}
		e.queues.settle(r)
	}
}

// advance advances the clock.
func (e *stepEngine) advance(d time.Duration) {
	before := e.core.clock.read.Load()
	e.core.clock.read.Store(&reading{local: before.local, store: before.store.Add(d)})
	e.queues.mu.Lock()
	defer e.queues.mu.Unlock()
	for _, q := range e.queues.byID {
		e.queues.schedule(q)
	}
}

// deliver reads pages and starts attempts as far as possible.
func (e *stepEngine) deliver() {
	for e.refillOnce() {
	}
	for e.startAttempt() {
	}
	e.checkBudget()
}

// finishAll ends the attempts of a subscription and writes their outcomes.
func (e *stepEngine) finishAll(subscription int64, o webhook.Outcome) {
	for i := len(e.attempts) - 1; i >= 0; i-- {
		if e.attempts[i].queue.id == subscription {
			e.finish(i, o, true)
		}
	}
	e.writeOutcomes()
	e.checkBudget()
}

// attemptsAt returns the number of attempts in flight of a subscription.
func (e *stepEngine) attemptsAt(subscription int64) (n int) {
	for _, a := range e.attempts {
		if a.queue.id == subscription {
			n++
		}
	}
	return n
}

// checkBudget compares the budget with the messages in memory.
func (e *stepEngine) checkBudget() {
	e.t.Helper()
	e.queues.mu.Lock()
	defer e.queues.mu.Unlock()
	held := make(map[*webhook.Message]bool)
	sequences := 0
	for _, q := range e.queues.byID {
		sequences += len(q.sequences.byKey)
		for _, m := range q.window.known {
			held[m] = true
		}
		for _, m := range q.unsettled {
			held[m] = true
		}
		if m := q.requests.message; m != nil {
			held[m] = true
		}
	}
	for _, a := range e.attempts { // of deleted queues
		held[a.message] = true
	}
	for _, r := range e.core.pending.results {
		held[r.Message] = true
	}

	want := 0 // bytes
	bodies := make(map[int64]*webhook.Event)
	messages := make(map[*tier]int)
	for m := range held {
		messages[e.queues.budget.messages[m]]++
		want += messageCost
		if known := bodies[m.Event.ID]; known == nil {
			bodies[m.Event.ID] = m.Event
			want += len(m.Event.Body)
		} else if known != m.Event {
			e.t.Fatalf("event %d is in memory twice", m.Event.ID)
		}
	}

	used := 0
	for i := range e.queues.budget.tiers {
		tier := &e.queues.budget.tiers[i]
		used += tier.used
		if tier.used > tier.limit && messages[tier] > 1 {
			e.t.Fatalf("tier %d holds %d bytes of %d", i, tier.used, tier.limit)
		}
	}
	if sequences != e.queues.budget.sequences {
		e.t.Fatalf("%d sequences, %d are counted", sequences, e.queues.budget.sequences)
	}
	same := func(a *webhook.Event, b *heldEvent) bool { return a == b.Event }
	if used != want || len(held) != len(e.queues.budget.messages) || !maps.EqualFunc(bodies, e.queues.budget.events, same) {
		e.t.Fatalf("%d bytes and %d events are counted; %d and %d are in memory",
			used, len(e.queues.budget.events), want, len(bodies))
	}
}

// TestBudgetMatchesMemory takes random steps and checks the budget after each. In the
// end all endpoints work, and everything is delivered.
func TestBudgetMatchesMemory(t *testing.T) {
	const subscriptions = 10
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		e := newStepEngine(t, 64<<10, subscriptions, func(s *webhook.Subscription) {
			s.Order = webhook.Order{All: s.ID%5 == 0, ByKey: s.ID%3 == 0}
		})
		e.queues.budget.maxSequences = 100 // of which some queues have more
		for range 1500 {
			e.takeRandomStep(r, subscriptions)
			e.checkBudget()
		}

		for _, sub := range e.subs {
			sub.Enabled = true
		}
		e.applySubscriptions()
		for round := 0; len(e.store.open) > 0 || len(e.attempts) > 0; round++ {
			if round > 3000 {
				t.Fatalf("seed %d: %d messages stay in the store, %d attempts in flight; tiers: %+v",
					seed, len(e.store.open), len(e.attempts), e.queues.budget.tiers)
			}
			for e.refillOnce() {
			}
			for e.startAttempt() {
			}
			for len(e.attempts) > 0 {
				e.finish(0, webhook.Outcome{Code: 200}, true)
			}
			e.writeOutcomes()
			e.checkBudget()
			e.advance(time.Minute)
		}
		e.writeOutcomes()
		e.checkBudget()
		used := e.queues.budget.tiers[0].used + e.queues.budget.tiers[1].used
		if used != 0 {
			t.Errorf("seed %d: %d bytes are counted when all is delivered", seed, used)
		}
	}
}

// takeRandomStep publishes, reads, starts or ends something, or changes a subscription.
func (e *stepEngine) takeRandomStep(r *rand.Rand, subscriptions int) {
	pick := func() int64 { return 1 + r.Int64N(int64(subscriptions)) }
	switch n := r.IntN(100); {
	case n < 20:
		var to []int64
		for range 1 + r.IntN(subscriptions) {
			to = append(to, pick())
		}
		slices.Sort(to)
		size := r.IntN(4000)
		if r.IntN(50) == 0 {
			size = r.IntN(100_000)
		}
		keys := []string{"", "a", "b", fmt.Sprint(r.IntN(200))}
		e.key = keys[r.IntN(len(keys))]
		e.publish(size, slices.Compact(to)...)
	case n < 40:
		e.refillOnce()
	case n < 60:
		e.startAttempt()
	case n < 80 && len(e.attempts) > 0:
		o := webhook.Outcome{Code: 200}
		subscription := e.attempts[0].queue.id
		if subscription <= 3 {
			o = webhook.Outcome{Cause: webhook.ConnectionRefused}
		} else if subscription == 4 || r.IntN(10) == 0 {
			o = webhook.Outcome{Code: 400}
		}
		e.finish(0, o, r.IntN(20) > 0)
	case n < 92:
		e.writeOutcomes()
	case n < 94:
		e.advance(time.Duration(r.IntN(20)) * time.Second)
	case n == 94:
		e.Invalidate(pick())
	case n == 95:
		id := pick()
		var requested []int64
		for _, m := range e.store.open {
			if m.Subscription == id && m.ID%3 == 0 {
				requested = append(requested, m.ID)
			}
		}
		slices.Sort(requested)
		e.MarkDue(id, requested)
	case n == 96:
		if sub := e.subs[pick()]; sub != nil {
			sub.Enabled = !sub.Enabled
			e.applySubscriptions()
		}
		isIdle := len(e.attempts)+len(e.core.pending.results) == 0 // otherwise several of a key can be in flight
		if sub := e.subs[3]; sub != nil && isIdle {
			sub.Order.ByKey = !sub.Order.ByKey
			e.applySubscriptions()
		}
	case n == 97 && r.IntN(10) == 0:
		id := pick()
		delete(e.subs, id)
		maps.DeleteFunc(e.store.open, func(_ int64, m *webhook.Message) bool { return m.Subscription == id })
		e.applySubscriptions()
	case n == 98:
		e.queues.mu.Lock()
		e.queues.budget.tiers[0].reserved = 0
		e.queues.mu.Unlock()
		e.queues.rewind()
	}
}

// TestHangingEndpointsDoNotBlockOthers delivers messages to one endpoint while fifty
// others hang: endpoints that failed before, new ones with enough memory for their
// attempts, and others with occasional timeouts of attempts.
func TestHangingEndpointsDoNotBlockOthers(t *testing.T) {
	const (
		hanging  = 50
		healthy  = hanging + 1
		messages = 30
		size     = 1000
	)
	for _, tt := range []struct {
		memory          int
		known, timesOut bool
	}{
		{memory: 64 << 10, known: true},
		{memory: 1 << 20},
		{memory: 64 << 10, timesOut: true},
	} {
		e := newStepEngine(t, tt.memory, hanging+1, func(s *webhook.Subscription) {
			if tt.known && s.ID != healthy {
				s.FailingSince = noon.Add(-time.Hour)
			}
		})
		e.queues.budget.slots.max = 1000
		for i := range e.queues.budget.tiers {
			e.queues.budget.tiers[i].slots.max = 1000
		}
		for n := range int64(messages) {
			for id := range e.subs {
				event := &webhook.Event{ID: 1000*(n+1) + id, Body: make([]byte, size)}
				e.store.add(dueMessage(event.ID, event, id))
			}
		}
		e.queues.rewind()

		left := func() int {
			n := 0
			for _, m := range e.store.open {
				if m.Subscription == healthy {
					n++
				}
			}
			return n
		}
		for round := 0; left() > 0; round++ {
			if round > 5*messages {
				t.Fatalf("%+v: %d messages of the working endpoint are left; tiers: %+v", tt, left(), e.queues.budget.tiers)
			}
			for e.refillOnce() {
			}
			for e.startAttempt() {
			}
			for i := len(e.attempts) - 1; i >= 0; i-- {
				if e.attempts[i].queue.id == healthy {
					e.finish(i, webhook.Outcome{Code: 200}, true)
				} else if tt.timesOut && round%10 == 9 {
					e.finish(i, webhook.Outcome{Cause: webhook.TimedOut}, true)
				}
			}
			e.writeOutcomes()
			e.checkBudget()
		}
	}
}

// dueMessage returns a message of partition 1 that is due at noon.
func dueMessage(id int64, event *webhook.Event, subscription int64) *webhook.Message {
	return &webhook.Message{
		ID:           id,
		Event:        event,
		Partition:    1,
		Subscription: subscription,
		State:        webhook.State{Next: noon},
	}
}

// TestSharedBodyIsReadOnce reads a backlog of few events for many queues.
func TestSharedBodyIsReadOnce(t *testing.T) {
	const (
		subscriptions = 40
		events        = 20
		size          = 10_000
	)
	e := newStepEngine(t, 4<<20, subscriptions)
	for n := range int64(events) {
		event := &webhook.Event{ID: n + 1, Body: make([]byte, size)}
		for id := range e.subs {
			e.store.add(dueMessage(1000*(n+1)+id, event, id))
		}
	}
	e.queues.rewind()
	for e.refillOnce() {
	}
	e.checkBudget()
	inMemory := 0
	for _, q := range e.queues.byID {
		inMemory += len(q.window.known)
	}
	if inMemory != subscriptions*events || e.store.read != events*size {
		t.Errorf("%d messages are in memory, and %d bytes were read; want %d and %d",
			inMemory, e.store.read, subscriptions*events, events*size)
	}
}

// TestPendingRetriesAreEvicted fills the memory of failing endpoints with messages that
// await a retry; another failing endpoint must still get its messages.
func TestPendingRetriesAreEvicted(t *testing.T) {
	const messages, size = 40, 1000
	e := newStepEngine(t, 64<<10, 2, func(s *webhook.Subscription) { s.FailingSince = noon.Add(-time.Hour) })
	deliver := func(o webhook.Outcome) {
		for e.refillOnce() || e.startAttempt() || len(e.attempts) > 0 {
			for len(e.attempts) > 0 {
				e.finish(0, o, true)
			}
			e.writeOutcomes()
			e.checkBudget()
		}
	}
	for range messages {
		e.publish(size, 1)
	}
	deliver(webhook.Outcome{Code: 400})
	for range messages {
		e.publish(size, 2)
	}
	deliver(webhook.Outcome{Code: 200})
	if n := len(e.store.open); n != messages {
		t.Errorf("%d messages are open, want %d", n, messages)
	}
}

// TestLargeBatchesAreSplit writes events for many subscriptions in several
// transactions, in order, each with a limited number of messages.
func TestLargeBatchesAreSplit(t *testing.T) {
	const subscriptions, events = 3000, 5
	e := newStepEngine(t, 0, subscriptions, func(s *webhook.Subscription) { s.Pattern = "*" })
	var sent []*publication
	for range events {
		p := &publication{event: &webhook.Event{Name: "debtor.created"}, done: make(chan error, 1)}
		sent = append(sent, p)
		if err := e.core.pending.publish(p); err != nil {
			t.Fatal(err)
		}
	}
	var written []*publication
	for len(e.core.pending.waiting) > 0 {
		work := e.core.pending.next()
		work.subs = e.Subscriptions()
		var b Batch
		if err := e.writer.fill(t.Context(), &b, work); err != nil {
			t.Fatal(err)
		}
		if n := len(b.Messages); n == 0 || n > batchMessages || n != len(work.publications)*subscriptions {
			t.Fatalf("%d messages of %d events are in one batch", n, len(work.publications))
		}
		written = append(written, work.publications...)
	}
	if !slices.Equal(written, sent) || e.core.pending.bytes != 0 {
		t.Errorf("%d events are written; %d bytes are pending", len(written), e.core.pending.bytes)
	}
}

// TestRemovedSubscriptionFreesMemory has a queue wait for the memory of an attempt
// whose subscription is removed before the attempt ends. Its release must wake the
// queue.
func TestRemovedSubscriptionFreesMemory(t *testing.T) {
	e := newStepEngine(t, 64<<10, 2)
	e.publish(40_000, 1)
	e.deliver()
	e.publish(40_000, 2)
	e.deliver()
	delete(e.subs, 1)
	e.applySubscriptions()
	for len(e.queues.budget.refill) > 0 {
		<-e.queues.budget.refill
	}
	e.finishAll(1, webhook.Outcome{Code: 200})
	if len(e.queues.budget.refill) == 0 {
		t.Fatal("the waiting queue is not woken")
	}
	e.deliver()
	if e.attemptsAt(2) != 1 {
		t.Error("the other message was not sent")
	}
}

// TestFailureFreesMemory has a queue wait for the memory of a message whose attempt
// fails; the message then awaits its retry in the store, in an ordered queue, too.
func TestFailureFreesMemory(t *testing.T) {
	for _, order := range []webhook.Order{{}, {All: true}, {ByKey: true}} {
		e := newStepEngine(t, 64<<10, 2, func(s *webhook.Subscription) {
			s.FailingSince = noon.Add(-time.Hour)
			s.Order = order
		})
		e.publish(12_000, 1)
		e.deliver()
		e.publish(12_000, 2)
		e.deliver()
		if e.attemptsAt(1) != 1 || e.attemptsAt(2) != 0 {
			t.Fatal("there is memory for both")
		}
		e.finishAll(1, webhook.Outcome{Code: 400})
		e.deliver()
		if e.attemptsAt(2) != 1 {
			t.Errorf("order %+v: the other message was not sent", order)
		}
		e.finishAll(2, webhook.Outcome{Code: 200})
		e.advance(time.Hour)
		e.deliver()
		if e.attemptsAt(1) != 1 {
			t.Errorf("order %+v: no attempt followed", order)
		}
	}
}

// TestRecoveredEndpointChangesTier has a queue wait for memory behind those of failing
// endpoints when its endpoint recovers.
func TestRecoveredEndpointChangesTier(t *testing.T) {
	e := newStepEngine(t, 64<<10, 3, func(s *webhook.Subscription) {
		if s.ID < 3 {
			s.FailingSince = noon.Add(-time.Hour)
		}
	})
	e.queues.byID[3].endpoint.throttle.limit = 8
	e.publish(12_000, 1)
	e.deliver()
	for range 2 {
		e.publish(100, 3)
	}
	e.deliver()
	e.publish(12_000, 2)
	e.deliver() // waits for the memory of 1
	for i, f := range e.attempts {
		if f.queue.id == 3 {
			e.finish(i, webhook.Outcome{Code: 400}, true)
			break
		}
	}
	e.writeOutcomes()
	e.publish(100, 3)
	e.deliver()
	if e.attemptsAt(3) != 1 {
		t.Fatalf("%d attempts; the one that succeeds is to be the only one", e.attemptsAt(3))
	}
	e.finishAll(3, webhook.Outcome{Code: 200})
	e.deliver()
	if e.attemptsAt(3) != 1 {
		t.Error("the queue of a working endpoint waits for failing ones")
	}
}

// TestSlowEndpointFreesMemory has a long queue of a slow endpoint in memory when
// another queue needs it.
func TestSlowEndpointFreesMemory(t *testing.T) {
	for _, order := range []webhook.Order{{}, {All: true}, {ByKey: true}} {
		const messages = 25
		e := newStepEngine(t, 64<<10, 2, func(s *webhook.Subscription) { s.Order = order })
		for range messages {
			e.publish(1000, 1)
		}
		e.deliver()
		e.publish(20_000, 2)
		e.deliver()
		if e.attemptsAt(2) != 1 {
			t.Errorf("order %+v: a queue waits for the memory of a slow endpoint", order)
		}
		e.finishAll(2, webhook.Outcome{Code: 200})
		last := int64(0)
		for n := 0; len(e.store.open) > 0; n++ {
			if n > 2*messages {
				t.Fatalf("order %+v: %d messages are left", order, len(e.store.open))
			}
			for _, f := range e.attempts {
				if f.message.ID < last {
					t.Errorf("order %+v: message %d is sent after %d", order, f.message.ID, last)
				}
				last = f.message.ID
			}
			e.finishAll(1, webhook.Outcome{Code: 200})
			e.deliver()
		}
	}
}
