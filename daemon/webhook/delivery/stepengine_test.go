package delivery

import (
	"cmp"
	"context"
	"io"
	"log/slog"
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
	bodies map[int64][]byte           // by event ID
	read   int                        // bytes of bodies that were read
}

// add stores a message.
func (s *memoryStore) add(m *webhook.Message) {
	stored := *m
	stored.Event = &webhook.Event{
		ID:      m.Event.ID,
		Key:     m.Event.Key,
		Size:    len(m.Event.Body),
		AddedAt: m.Event.AddedAt,
	}
	s.open[m.ID] = &stored
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
	if m.Subscription != p.Subscription {
		return false
	}
	if p.Key != "" && m.Event.Key != p.Key {
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

// openOf returns the number of open messages of a subscription.
func (s *memoryStore) openOf(subscription int64) int {
	n := 0
	for _, m := range s.open {
		if m.Subscription == subscription {
			n++
		}
	}
	return n
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
	version  int64  // of the subscriptions
	last     int64  // highest ID
	key      string // of the events that are published
	idle     bool   // the refiller waits for a signal
}

// newStepEngine returns an engine with memory in bytes, and subscriptions that are changed as given.
func newStepEngine(t *testing.T, memory, subscriptions int, changes ...func(*webhook.Subscription)) *stepEngine {
	t.Helper()
	store := &memoryStore{open: make(map[int64]*webhook.Message), bodies: make(map[int64][]byte)}
	e := &stepEngine{t: t, store: store, subs: make(map[int64]*webhook.Subscription)}
	e.Engine = New(Config{
		Store:  store,
		Memory: memory,
		Log:    slog.New(slog.NewTextHandler(io.Discard, nil)),
		Policy: func() webhook.Policy {
			return webhook.Policy{Schedule: []time.Duration{5 * time.Second, time.Minute, time.Hour}}
		},
	})
	e.queues.dispatch = func() {} // the test starts attempts
	e.limitAttempts(40, 20)
	e.core.clock.read.Store(&reading{local: time.Now(), store: noon})
	e.queues.leases.held = []Lease{{Partition: 1}}
	for id := range int64(subscriptions) {
		sub := &webhook.Subscription{
			ID:             id + 1,
			Subscriber:     strconv.FormatInt(id+1, 10),
			Enabled:        true,
			SubscriberInfo: webhook.SubscriberInfo{Enabled: true},
		}
		for _, change := range changes {
			change(sub)
		}
		e.subs[sub.ID] = sub
	}
	e.applySubscriptions()
	t.Cleanup(e.queues.stop)
	return e
}

// limitAttempts limits the concurrent attempts of all queues, and of each tier.
func (e *stepEngine) limitAttempts(total, perTier int) {
	e.queues.budget.slots.max = total
	for i := range e.queues.budget.tiers {
		e.queues.budget.tiers[i].slots.max = perTier
	}
}

// applySubscriptions passes the current subscriptions to the engine.
func (e *stepEngine) applySubscriptions() {
	e.version++
	current := make(map[int64]*webhook.Subscription)
	changed := make(map[int64]*webhook.Subscription)
	for sub := range e.Subscriptions().Subscriptions {
		changed[sub.ID] = nil // removed, unless it is found below
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
		m := dueMessage(e.last, event, id)
		m.Next = e.Now()
		e.store.add(m)
		if q := e.queues.queueOf(id); q != nil {
			q.accept(m)
			e.queues.schedule(q)
		}
	}
}

// refillOnce reads one page, as the refiller would, unless it waits for a signal. It reports
// whether there was one to read.
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

// startAttempt starts the next attempt, and reports whether there was one.
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

// finish ends the attempt with an index. It starts the next one, as the dispatcher does.
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

// start reads pages, and then starts attempts, as far as possible.
func (e *stepEngine) start() {
	for e.refillOnce() {
	}
	for e.startAttempt() {
	}
}

// deliver starts attempts as far as possible, and checks the budget.
func (e *stepEngine) deliver() {
	e.start()
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
func (e *stepEngine) attemptsAt(subscription int64) int {
	n := 0
	for _, a := range e.attempts {
		if a.queue.id == subscription {
			n++
		}
	}
	return n
}

// expectAttempts checks the number of attempts in flight of a subscription.
func (e *stepEngine) expectAttempts(when string, subscription int64, want int) {
	e.t.Helper()
	if got := e.attemptsAt(subscription); got != want {
		e.t.Fatalf("%s: %d attempts of subscription %d are in flight, want %d", when, got, subscription, want)
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
