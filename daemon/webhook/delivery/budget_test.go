package delivery

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// checkBudget compares the budget with the messages in memory.
func (e *stepEngine) checkBudget() {
	e.t.Helper()
	e.queues.mu.Lock()
	defer e.queues.mu.Unlock()
	b := e.queues.budget
	held := e.messagesInMemory()
	if got, want := len(b.messages), len(held); got != want {
		e.t.Fatalf("%d messages are counted, %d are in memory", got, want)
	}

	events := make(map[int64]*webhook.Event)
	perTier := make(map[*tier]int)
	bytes := 0
	for m := range held {
		perTier[b.messages[m]]++
		bytes += messageCost
		known := events[m.Event.ID]
		if known == nil {
			events[m.Event.ID] = m.Event
			bytes += len(m.Event.Body)
		} else if known != m.Event {
			e.t.Fatalf("event %d is in memory twice", m.Event.ID)
		}
	}
	same := func(event *webhook.Event, counted *heldEvent) bool { return event == counted.Event }
	if !maps.EqualFunc(events, b.events, same) {
		e.t.Fatalf("%d events are counted, %d are in memory, or they are others", len(b.events), len(events))
	}

	used := 0
	for i := range b.tiers {
		tier := &b.tiers[i]
		used += tier.used
		if tier.used > tier.limit && perTier[tier] > 1 {
			e.t.Fatalf("tier %d uses %d bytes for %d messages, want at most %d", i, tier.used, perTier[tier], tier.limit)
		}
	}
	if used != bytes {
		e.t.Fatalf("%d bytes are counted, %d are in memory", used, bytes)
	}
}

// messagesInMemory returns the messages of queues, attempts and unwritten results. It checks the
// number of sequences. The lock of the queues is held.
func (e *stepEngine) messagesInMemory() map[*webhook.Message]bool {
	e.t.Helper()
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
	if counted := e.queues.budget.sequences; counted != sequences {
		e.t.Fatalf("%d sequences are counted, %d are in memory", counted, sequences)
	}
	for _, a := range e.attempts { // of deleted queues
		held[a.message] = true
	}
	for _, r := range e.core.pending.results {
		held[r.Message] = true
	}
	return held
}

// TestBudgetMatchesMemory takes random steps and checks the budget after each. In the
// end all endpoints work, and everything is delivered.
func TestBudgetMatchesMemory(t *testing.T) {
	const subscriptions = 10
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
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
			e.deliverAll()
			used := e.queues.budget.tiers[0].used + e.queues.budget.tiers[1].used
			if used != 0 {
				t.Errorf("%d bytes are counted when all is delivered, want 0", used)
			}
		})
	}
}

// deliverAll lets all attempts succeed until no message is left.
func (e *stepEngine) deliverAll() {
	e.t.Helper()
	for round := 0; len(e.store.open) > 0 || len(e.attempts) > 0; round++ {
		if round > 3000 {
			e.t.Fatalf("%d messages stay in the store, %d attempts in flight; tiers: %+v",
				len(e.store.open), len(e.attempts), e.queues.budget.tiers)
		}
		e.start()
		for len(e.attempts) > 0 {
			e.finish(0, webhook.Outcome{Code: 200}, true)
		}
		e.writeOutcomes()
		e.checkBudget()
		e.advance(time.Minute)
	}
	e.writeOutcomes()
	e.checkBudget()
}

// takeRandomStep publishes, reads, starts or ends something, or changes a subscription.
func (e *stepEngine) takeRandomStep(r *rand.Rand, subscriptions int) {
	id := 1 + r.Int64N(int64(subscriptions))
	switch n := r.IntN(100); {
	case n < 20:
		e.publishRandom(r, subscriptions)
	case n < 40:
		e.refillOnce()
	case n < 60:
		e.startAttempt()
	case n < 80 && len(e.attempts) > 0:
		e.finishRandom(r)
	case n < 92:
		e.writeOutcomes()
	case n < 94:
		e.advance(time.Duration(r.IntN(20)) * time.Second)
	case n == 94:
		e.Invalidate(id)
	case n == 95:
		e.requestSome(id)
	case n == 96:
		e.changeSubscription(id)
	case n == 97 && r.IntN(10) == 0:
		e.removeSubscription(id)
	case n == 98:
		e.queues.mu.Lock()
		e.queues.budget.tiers[0].reserved = 0
		e.queues.mu.Unlock()
		e.queues.rewind()
	}
}

// publishRandom publishes an event of a random size, with a random key, for some subscriptions.
func (e *stepEngine) publishRandom(r *rand.Rand, subscriptions int) {
	var to []int64
	for range 1 + r.IntN(subscriptions) {
		to = append(to, 1+r.Int64N(int64(subscriptions)))
	}
	slices.Sort(to)
	size := r.IntN(4000)
	if r.IntN(50) == 0 {
		size = r.IntN(100_000) // more than the memory
	}
	keys := []string{"", "a", "b", fmt.Sprint(r.IntN(200))}
	e.key = keys[r.IntN(len(keys))]
	e.publish(size, slices.Compact(to)...)
}

// finishRandom ends the oldest attempt. The first three endpoints fail, the fourth rejects all
// messages, and the others some. Some attempts do not count.
func (e *stepEngine) finishRandom(r *rand.Rand) {
	o := webhook.Outcome{Code: 200}
	subscription := e.attempts[0].queue.id
	if subscription <= 3 {
		o = webhook.Outcome{Cause: webhook.ConnectionRefused}
	} else if subscription == 4 || r.IntN(10) == 0 {
		o = webhook.Outcome{Code: 400}
	}
	e.finish(0, o, r.IntN(20) > 0)
}

// requestSome requests every third message of a subscription.
func (e *stepEngine) requestSome(subscription int64) {
	var requested []int64
	for _, m := range e.store.open {
		if m.Subscription == subscription && m.ID%3 == 0 {
			requested = append(requested, m.ID)
		}
	}
	slices.Sort(requested)
	e.MarkDue(subscription, requested)
}

// changeSubscription enables or disables a subscription, and changes the order of the third one if
// no attempt is running: otherwise several messages with a key could be in flight.
func (e *stepEngine) changeSubscription(id int64) {
	if sub := e.subs[id]; sub != nil {
		sub.Enabled = !sub.Enabled
		e.applySubscriptions()
	}
	isIdle := len(e.attempts)+len(e.core.pending.results) == 0
	if sub := e.subs[3]; sub != nil && isIdle {
		sub.Order.ByKey = !sub.Order.ByKey
		e.applySubscriptions()
	}
}

// removeSubscription removes a subscription with its messages.
func (e *stepEngine) removeSubscription(id int64) {
	delete(e.subs, id)
	maps.DeleteFunc(e.store.open, func(_ int64, m *webhook.Message) bool { return m.Subscription == id })
	e.applySubscriptions()
}

// TestHangingEndpointsDoNotBlockOthers delivers messages to one endpoint while fifty
// others hang.
func TestHangingEndpointsDoNotBlockOthers(t *testing.T) {
	for _, test := range []struct {
		name     string
		memory   int
		failing  bool // since an hour ago
		timesOut bool // attempts end from time to time
	}{
		{name: "endpoints that failed before", memory: 64 << 10, failing: true},
		{name: "new endpoints, with memory for their attempts", memory: 1 << 20},
		{name: "new endpoints with timeouts", memory: 64 << 10, timesOut: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			const hanging, messages = 50, 30
			const healthy = hanging + 1 // ID of the subscription
			e := newStepEngine(t, test.memory, hanging+1, func(s *webhook.Subscription) {
				if test.failing && s.ID != healthy {
					s.FailingSince = noon.Add(-time.Hour)
				}
			})
			e.limitAttempts(1000, 1000)
			for n := range int64(messages) {
				for id := range e.subs {
					event := &webhook.Event{ID: 1000*(n+1) + id, Body: make([]byte, 1000)}
					e.store.add(dueMessage(event.ID, event, id))
				}
			}
			e.queues.rewind()

			for round := 0; e.store.openOf(healthy) > 0; round++ {
				if round > 5*messages {
					t.Fatalf("%d messages of the working endpoint are left, want none; tiers: %+v",
						e.store.openOf(healthy), e.queues.budget.tiers)
				}
				e.start()
				e.finishAll(healthy, webhook.Outcome{Code: 200})
				if test.timesOut && round%10 == 9 {
					e.timeOutExcept(healthy)
				}
			}
		})
	}
}

// timeOutExcept ends the attempts of all subscriptions but one with a timeout.
func (e *stepEngine) timeOutExcept(subscription int64) {
	for i := len(e.attempts) - 1; i >= 0; i-- {
		if e.attempts[i].queue.id != subscription {
			e.finish(i, webhook.Outcome{Cause: webhook.TimedOut}, true)
		}
	}
	e.writeOutcomes()
	e.checkBudget()
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
	attemptAll := func(o webhook.Outcome) {
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
	attemptAll(webhook.Outcome{Code: 400})
	for range messages {
		e.publish(size, 2)
	}
	attemptAll(webhook.Outcome{Code: 200})
	if n := e.store.openOf(1); n != messages {
		t.Errorf("%d messages await a retry, want %d", n, messages)
	}
	if n := e.store.openOf(2); n != 0 {
		t.Errorf("%d messages of the other endpoint are open, want none", n)
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
		n := len(b.Messages)
		if want := len(work.publications) * subscriptions; n != want {
			t.Fatalf("a batch of %d events has %d messages, want %d", len(work.publications), n, want)
		}
		if n == 0 || n > batchMessages {
			t.Fatalf("a batch has %d messages, want at least one and at most %d", n, batchMessages)
		}
		written = append(written, work.publications...)
	}
	if !slices.Equal(written, sent) {
		t.Errorf("%d events are written, want %d in their order", len(written), len(sent))
	}
	if n := e.core.pending.bytes; n != 0 {
		t.Errorf("%d bytes are pending, want 0", n)
	}
}

// TestRemovedSubscriptionFreesMemory has a queue wait for the memory of an attempt
// whose subscription is removed before the attempt ends. Its release must wake the
// queue.
func TestRemovedSubscriptionFreesMemory(t *testing.T) {
	const size = 40_000 // more than half of the memory
	e := newStepEngine(t, 64<<10, 2)
	e.publish(size, 1)
	e.deliver()
	e.publish(size, 2)
	e.deliver()
	delete(e.subs, 1)
	e.applySubscriptions()
	for len(e.queues.budget.refill) > 0 {
		<-e.queues.budget.refill
	}

	e.finishAll(1, webhook.Outcome{Code: 200})
	if len(e.queues.budget.refill) == 0 {
		t.Fatal("the refiller gets no signal when the attempt ends, want one for the waiting queue")
	}
	e.deliver()
	e.expectAttempts("after the attempt has ended", 2, 1)
}

// testedOrders are the orders that a queue can have.
var testedOrders = map[string]webhook.Order{
	"without an order": {},
	"in order":         {All: true},
	"by key":           {ByKey: true},
}

// TestFailureFreesMemory has a queue wait for the memory of a message whose attempt
// fails; the message then awaits its retry in the store, in an ordered queue, too.
func TestFailureFreesMemory(t *testing.T) {
	for name, order := range testedOrders {
		t.Run(name, func(t *testing.T) {
			const size = 12_000 // more than half of the memory of failing endpoints
			e := newStepEngine(t, 64<<10, 2, func(s *webhook.Subscription) {
				s.FailingSince = noon.Add(-time.Hour)
				s.Order = order
			})
			e.publish(size, 1)
			e.deliver()
			e.publish(size, 2)
			e.deliver()
			e.expectAttempts("with memory for one message", 1, 1)
			e.expectAttempts("with memory for one message", 2, 0)

			e.finishAll(1, webhook.Outcome{Code: 400})
			e.deliver()
			e.expectAttempts("after the failure", 2, 1)

			e.finishAll(2, webhook.Outcome{Code: 200})
			e.advance(time.Hour)
			e.deliver()
			e.expectAttempts("when the retry is due", 1, 1)
		})
	}
}

// TestRecoveredEndpointChangesTier has a queue wait for memory behind those of failing
// endpoints when its endpoint recovers.
func TestRecoveredEndpointChangesTier(t *testing.T) {
	const large, small = 12_000, 100
	e := newStepEngine(t, 64<<10, 3, func(s *webhook.Subscription) {
		if s.ID < 3 {
			s.FailingSince = noon.Add(-time.Hour)
		}
	})
	e.queues.byID[3].endpoint.throttle.limit = 8
	e.publish(large, 1)
	e.deliver()
	e.publish(small, 3)
	e.publish(small, 3)
	e.deliver()
	e.publish(large, 2)
	e.deliver() // waits for the memory of 1

	first := slices.IndexFunc(e.attempts, func(a *attempt) bool { return a.queue.id == 3 })
	e.finish(first, webhook.Outcome{Code: 400}, true)
	e.writeOutcomes()
	e.publish(small, 3)
	e.deliver()
	e.expectAttempts("after a failure", 3, 1)

	e.finishAll(3, webhook.Outcome{Code: 200})
	e.deliver()
	e.expectAttempts("after the recovery", 3, 1)
}

// TestSlowEndpointFreesMemory has a long queue of a slow endpoint in memory when
// another queue needs it.
func TestSlowEndpointFreesMemory(t *testing.T) {
	for name, order := range testedOrders {
		t.Run(name, func(t *testing.T) {
			const messages = 25
			e := newStepEngine(t, 64<<10, 2, func(s *webhook.Subscription) { s.Order = order })
			for range messages {
				e.publish(1000, 1)
			}
			e.deliver()
			e.publish(20_000, 2)
			e.deliver()
			e.expectAttempts("with a slow endpoint", 2, 1)
			e.finishAll(2, webhook.Outcome{Code: 200})

			// The messages of the slow endpoint follow in their order.
			last := int64(0)
			for n := 0; len(e.store.open) > 0; n++ {
				if n > 2*messages {
					t.Fatalf("%d messages are left, want none", len(e.store.open))
				}
				for _, a := range e.attempts {
					if a.message.ID < last {
						t.Errorf("message %d is sent after %d", a.message.ID, last)
					}
					last = a.message.ID
				}
				e.finishAll(1, webhook.Outcome{Code: 200})
				e.deliver()
			}
		})
	}
}
