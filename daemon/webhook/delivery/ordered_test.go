package delivery_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// TestBecomesOrderedWithAttemptsInFlight makes a subscription ordered while several of its messages
// are in flight, all of which fail: they are all retried, one after another.
func TestBecomesOrderedWithAttemptsInFlight(t *testing.T) {
	for name, change := range map[string]admin.SubscriptionChange{
		"all":    {Ordered: new(true)},
		"by key": {ByKey: new(true)},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				gate := make(chan struct{})
				sub := x.subscribe("https://shop.example/", "debtor.*")
				x.advance(time.Second)
				x.fakeSender.setStatus(func(n int, _ *webhook.Message) int {
					if n > 1 {
						return 200
					}
					<-gate
					return 500
				})
				for _, body := range []string{"1", "2", "3"} {
					x.publishAbout("a", body)
				}
				x.advance(time.Second)

				x.changeSubscription(sub, change)
				x.advance(time.Second)
				close(gate)
				x.advance(time.Hour)
				x.expect("SY_WebhookMessage WHERE Status = 1", 3)
			})
		})
	}
}

// publishAbout publishes debtor.updated with a key.
func (h *testEnv) publishAbout(key, body string) wire.EventReceipt {
	h.t.Helper()
	r, err := h.engine.Publish(context.Background(), delivery.Post{Name: "debtor.updated", Key: key, Body: []byte(body)})
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// keySender is a fakeSender that checks the order of attempts of each key.
type keySender struct {
	*fakeSender
	t *testing.T

	mu       sync.Mutex
	inFlight map[string]bool
	last     map[string]int64 // ID of the last message that was attempted
}

func newKeySender(x *simulation) *keySender {
	return &keySender{
		fakeSender: x.fakeSender,
		t:          x.t,
		inFlight:   make(map[string]bool),
		last:       make(map[string]int64),
	}
}

// Send implements delivery.Sender.
func (p *keySender) Send(ctx context.Context, m *webhook.Message, sub *webhook.Subscription, at time.Time) webhook.Outcome {
	key := m.Event.Key
	if key == "" {
		return p.fakeSender.Send(ctx, m, sub, at)
	}
	p.begin(key, m.ID)
	o := p.fakeSender.Send(ctx, m, sub, at)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inFlight[key] = false
	return o
}

// begin records the start of an attempt. It fails the test if a message with the key is in flight,
// or if a later one was sent before.
func (p *keySender) begin(key string, id int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := p.last[key]
	if p.inFlight[key] {
		p.t.Errorf("message %d of key %s is sent while %d is in flight", id, key, last)
	}
	if id < last {
		p.t.Errorf("message %d of key %s is sent after %d", id, key, last)
	}
	p.inFlight[key] = true
	p.last[key] = id
}

// use makes an engine send with p.
func (p *keySender) use(c *delivery.Config) { c.Sender = p }

// failing fails every fifth attempt of a message, first at a number that depends on its ID, and all
// for the key "poisoned".
func failing(n int, m *webhook.Message) int {
	isFifth := (m.ID+int64(7*n))%5 == 0
	if m.Event.Key == "poisoned" || isFifth {
		return 422
	}
	return 200
}

// publishKeys publishes n events with keys in turn. One of 50 has no key, and one the key
// "poisoned".
func (x *simulation) publishKeys(n, keys int) {
	x.publishMany(n, func(i int) delivery.Post {
		key := fmt.Sprint(i % keys)
		switch i % 50 {
		case 0:
			key = "poisoned"
		case 1:
			key = ""
		}
		return delivery.Post{Name: "debtor.updated", Key: key, Body: []byte("x")}
	})
}

// TestOrderedByKey fails each fifth attempt, and all of one key. Other keys must not wait
// for it, also after a restart, which reads all messages from the store.
func TestOrderedByKey(t *testing.T) {
	simulate(t, func(x *simulation) {
		const messages, keys = 1500, 40
		const poisoned = messages / 50 // of each call of publishKeys
		x.policy.Schedule = append(slices.Repeat([]time.Duration{time.Second}, 5), time.Minute)
		sender := newKeySender(x)
		x.fakeSender.setStatus(failing)
		restart := func() {
			x.stop(testTimeout)
			x.startEngine(sender.use)
		}
		restart()
		x.subscribe("https://shop.example/", "*", func(r *webhook.Subscription) { r.Order.ByKey = true })
		x.publishKeys(messages, keys)
		x.advance(5 * time.Second)
		restart()
		x.publishKeys(messages, keys)
		x.advance(3 * time.Minute)

		const others = "SY_WebhookMessage WHERE (EventKey IS NULL OR EventKey <> 'poisoned')"
		x.expect(others+" AND Status = 1", 2*(messages-poisoned))
		x.expect(others+" AND Status <> 1", 0)
		if open := x.count("SY_WebhookMessage WHERE Status = 0 AND EventKey = 'poisoned'"); open < 50 {
			t.Errorf("%d messages wait for the poisoned one, want at least 50", open)
		}

		restart()
		x.fakeSender.setStatus(func(int, *webhook.Message) int { return 200 })
		x.advance(time.Hour)
		x.expect("SY_WebhookMessage WHERE Status = 0", 0)
	})
}

// TestKeysBeyondLimit checks that all messages are delivered although more keys fail than a queue
// may have in memory.
func TestKeysBeyondLimit(t *testing.T) {
	simulate(t, func(x *simulation) {
		const messages, limit = 1500, 1000
		sender := newKeySender(x)
		x.fakeSender.setStatus(inTurn(422, 200))
		x.policy.Schedule = []time.Duration{time.Hour}
		x.maxSequences = limit
		x.stop(testTimeout)
		x.startEngine(sender.use)
		x.subscribe("https://shop.example/", "*", func(r *webhook.Subscription) { r.Order.ByKey = true })
		x.publishMany(messages, func(i int) delivery.Post {
			return delivery.Post{Name: "debtor.updated", Key: fmt.Sprint(i), Body: []byte("x")}
		})
		x.advance(20 * time.Minute)
		x.expect("SY_WebhookMessage WHERE Status = 2", limit)
		x.advance(3 * time.Hour)
		x.expect("SY_WebhookMessage WHERE Status = 1", messages)
	})
}

// TestOrderedByKeyAcrossDaemons publishes at two daemons. Later the one that sends the
// messages is cut off from the store, and the other one takes over.
func TestOrderedByKeyAcrossDaemons(t *testing.T) {
	twoDaemons(t, func(first, second *simulation) {
		sender := newKeySender(first)
		first.fakeSender.setStatus(failing)
		first.stop(testTimeout)
		second.stop(testTimeout)
		first.startEngine(sender.use)
		second.startEngine(sender.use)
		first.subscribe("https://shop.example/", "*", func(r *webhook.Subscription) { r.Order.ByKey = true })
		first.advance(5 * time.Second)
		publishInTurn(first, second)

		cutOff := append(slices.Clone(storeCalls), deliverytest.OpenMessages)
		first.faultyStore.SetRule(deliverytest.Refuse(deliverytest.Unavailable("cut off")), cutOff...)
		publishInTurn(second)
		first.expectCoordinator("while it is cut off")
		first.advance(first.term)
		first.expireLease()
		first.advance(5 * time.Minute)
		second.expectCoordinator("after the lease has expired")
		first.expect("SY_WebhookMessage WHERE Status IN (0, 2) AND EventKey <> 'poisoned'", 0)

		first.faultyStore.SetRule(nil, cutOff...)
		first.advance(5 * time.Minute) // leases a new partition
		publishInTurn(first, second)
		first.advance(5 * time.Minute)
		first.fakeSender.setStatus(func(int, *webhook.Message) int { return 200 })
		first.advance(10 * time.Minute)
		first.expect("SY_WebhookMessage WHERE Status IN (0, 2)", 0)
		first.forget() // without results that could be written, attempts are not recorded
	})
}

// publishInTurn publishes events with several keys at daemons in turn, for 20 seconds.
func publishInTurn(daemons ...*simulation) {
	for i := range 200 {
		key := fmt.Sprint(i % 7)
		if i%50 == 0 {
			key = "poisoned"
		}
		daemons[i%len(daemons)].publishAbout(key, "x")
		if i%10 == 0 {
			daemons[0].advance(time.Second)
		}
	}
}

// expectCoordinator checks that a daemon sends the messages of queues with an order.
func (x *simulation) expectCoordinator(when string) {
	x.t.Helper()
	if _, ok := x.engine.Coordinator(); !ok {
		x.t.Errorf("%s, the daemon is not the coordinator", when)
	}
}

// TestOrderedBacklog checks that the next message of an ordered queue, or of a key, does not wait
// for other results.
func TestOrderedBacklog(t *testing.T) {
	const messages, timeOfEach = 200, 2 * attemptTime
	for name, order := range map[string]webhook.Order{"all": {All: true}, "by key": {ByKey: true}} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				x.subscribe("https://shop.example/", "debtor.*", func(s *webhook.Subscription) { s.Order = order })
				x.advance(time.Second)
				for range messages {
					x.publishAbout("D1", "{}")
				}
				x.advance(messages * timeOfEach)
				if sent, _ := x.fakeSender.counts(); sent < messages {
					t.Errorf("%d messages are sent within %v, want %d", sent, messages*timeOfEach, messages)
				}
			})
		})
	}
}

// TestRetryAfterInOrder lets the first message be answered with a Retry-After of a day. In an order
// its next attempt is within an hour, since others wait for it.
func TestRetryAfterInOrder(t *testing.T) {
	for name, test := range map[string]struct {
		order  webhook.Order
		key    string
		status int
		want   time.Duration
	}{
		"no order":                {webhook.Order{}, "a", 429, 24 * time.Hour},
		"by subscription":         {webhook.Order{All: true}, "a", 429, time.Hour},
		"by subscription, failed": {webhook.Order{All: true}, "a", 500, time.Hour},
		"by key":                  {webhook.Order{ByKey: true}, "a", 503, time.Hour},
		"by key, failed":          {webhook.Order{ByKey: true}, "a", 500, time.Hour},
		"without a key":           {webhook.Order{ByKey: true}, "", 500, 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				x.policy.RetryAfterMax = 24 * time.Hour
				x.fakeSender.setStatus(inTurn(test.status, 200))
				x.fakeSender.retryAfter = 24 * time.Hour
				x.subscribe("https://shop.example/", "debtor.*", func(s *webhook.Subscription) { s.Order = test.order })
				x.publishAbout(test.key, "first")
				x.advance(time.Second)
				x.expect("SY_WebhookMessage WHERE Status = 2", 1)
				x.fakeSender.setStatus(inTurn(200))
				x.publishAbout(test.key, "second")
				x.advance(test.want - time.Minute)
				x.expect("SY_WebhookMessage WHERE Status = 2 AND Attempts = 1", 1)
				x.advance(time.Minute)
				x.expect("SY_WebhookMessage WHERE Status = 1", 2)
			})
		})
	}
}
