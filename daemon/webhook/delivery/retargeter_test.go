package delivery_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// orders has the orders of a subscription: none, all messages, messages with the same key.
var orders = map[string]webhook.Order{
	"no order":        {},
	"by subscription": {All: true},
	"by key":          {ByKey: true},
}

// correct changes the URL of a subscription.
func (h *testEnv) correct(s webhook.Subscription, url string, by admin.Caller) {
	h.t.Helper()
	change := admin.SubscriptionChange{URL: &url}
	_, err := h.service.ChangeSubscription(context.Background(), s.Subscriber, s.GUID, change, by)
	if err != nil {
		h.t.Fatal(err)
	}
}

// awaitCount waits until a table has a number of rows.
func (h *testEnv) awaitCount(table string, want int64) {
	h.t.Helper()
	for end := time.Now().Add(testTimeout); h.count(table) != want; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("%s: %d, want %d", table, h.count(table), want)
		}
	}
}

// TestCorrectedURLAfterFailures changes the URL of a subscription after messages have failed: they
// arrive at the new one at once, not in the hour of the schedule, and a new one with them.
func TestCorrectedURLAfterFailures(t *testing.T) {
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			h := newTestEnv(t)
			h.policy.Schedule = []time.Duration{time.Hour, time.Hour}
			h.start()
			wrong := newEndpoint(t, always(500))
			right := newEndpoint(t, always(200))
			sub := h.subscribe(wrong.URL, "debtor.*", func(s *webhook.Subscription) {
				s.Order = order
				s.Headers = []webhook.Header{{Name: "X-Token", Value: "a"}}
			})
			const messages = 20
			for i := range messages {
				h.publish("debtor.updated", fmt.Sprintf(`{"n":%02d}`, i))
			}
			failed := 5 // then the circuit breaker opens
			if order.All {
				failed = 1
			}
			wrong.await(t, "attempts at the wrong URL", func() bool { return len(wrong.times) >= failed })

			h.correct(sub, right.URL, admin.Caller{Owner: "user:ann", Admin: true})
			h.publish("debtor.updated", fmt.Sprintf(`{"n":%02d}`, messages))
			right.awaitDelivered(t, messages+1)
			h.stop(testTimeout)
			right.checkDeliveredOnce(t, messages+1)
			if order.All && !slices.IsSorted(right.order) {
				t.Errorf("the messages arrive in the order %q, want them sorted", right.order)
			}
			h.expect(fmt.Sprintf("SY_WebhookMessage WHERE Status = 1 AND URL = '%s'", right.URL), messages+1)
			h.expect("SY_WebhookSubscription WHERE FailingSince IS NOT NULL", 0)
		})
	}
}

// TestCorrectedURLWhileOldOneHangs changes the URL while attempts at the old one hang. With an
// order they are cancelled, and not counted; without one they do not hold up others.
func TestCorrectedURLWhileOldOneHangs(t *testing.T) {
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			h := newTestEnv(t)
			h.start()
			ends := make(chan struct{})
			hanging := newEndpoint(t, func(int, string) int {
				<-ends
				return http.StatusOK
			})
			t.Cleanup(func() { close(ends) })
			right := newEndpoint(t, always(200))
			sub := h.subscribe(hanging.URL, "debtor.*", func(s *webhook.Subscription) { s.Order = order })
			const messages = 20
			for i := range messages {
				h.publish("debtor.updated", fmt.Sprintf(`{"n":%02d}`, i))
			}
			inFlight := 8
			if order.All {
				inFlight = 1
			}
			hanging.await(t, "attempts that hang", func() bool { return len(hanging.times) == inFlight })

			h.correct(sub, right.URL, admin.Caller{Owner: "user:ann", Admin: true})
			h.publish("debtor.updated", fmt.Sprintf(`{"n":%02d}`, messages))
			if order == (webhook.Order{}) {
				right.awaitDelivered(t, messages+1-inFlight)
				return
			}
			right.awaitDelivered(t, messages+1)
			h.stop(testTimeout)
			right.checkDeliveredOnce(t, messages+1)
			h.expect("SY_WebhookMessage WHERE Attempts <> 1", 0)
			if order.All && !slices.IsSorted(right.order) {
				t.Errorf("the messages arrive in the order %q, want them sorted", right.order)
			}
		})
	}
}

// TestSecondURLWithinMinute corrects the URL twice within seconds, with only a SubscriberID. The
// messages arrive at the second one when the minute is over, each with two failures before.
func TestSecondURLWithinMinute(t *testing.T) {
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				x.policy.Schedule = []time.Duration{2 * time.Hour, 2 * time.Hour, 2 * time.Hour}
				const right = "https://shop.example/right"
				x.fakeSender.setStatus(func(_ int, m *webhook.Message) int {
					if m.URL == right {
						return 200
					}
					return 404
				})
				sub := x.subscribe("https://shop.example/wrong", "debtor.*", func(s *webhook.Subscription) { s.Order = order })
				const messages = 10
				for range messages {
					x.publish("debtor.updated", "x")
				}
				x.advance(time.Second)
				x.correct(sub, "https://shop.example/also-wrong", admin.Caller{})
				x.advance(6 * time.Second)
				failed := int64(messages)
				if order.All {
					failed = 1
				}
				x.expect("SY_WebhookMessage WHERE Status = 2 AND Attempts = 2", failed)

				x.correct(sub, right, admin.Caller{})
				x.advance(50 * time.Second)
				x.expect("SY_WebhookMessage WHERE Status = 2 AND Attempts = 2", failed)
				x.advance(10 * time.Second)
				x.expect("SY_WebhookMessage WHERE Status = 1", messages)
				x.expect("SY_WebhookMessage WHERE Attempts = 3", failed)
			})
		})
	}
}

// TestURLBeforeRestart stops the engine after the URL has changed, before any message is due at the
// new one. All are due after the start, but not those that have failed at the new URL.
func TestURLBeforeRestart(t *testing.T) {
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				const messages = 5
				x.moveUndone(x, order, messages)
				x.stop(testTimeout)
				x.exec("UPDATE SY_WebhookSubscription SET FailingSince = '2000-01-01T00:00:00.0000000'") // written late
				x.startEngine()
				x.advance(5 * time.Second)
				x.expect("SY_WebhookMessage WHERE Status = 1", messages)
				x.expect("SY_WebhookSubscription WHERE FailingSince IS NOT NULL", 0)

				x.fakeSender.setStatus(inTurn(404))
				x.publish("debtor.updated", "x")
				x.advance(5 * time.Second)
				x.stop(testTimeout)
				x.startEngine()
				x.advance(5 * time.Second)
				x.expect("SY_WebhookMessage WHERE Status = 2 AND Attempts = 1", 1)
				x.fakeSender.setStatus(inTurn(200))
				x.advance(2 * time.Hour)
			})
		})
	}
}

// TestURLBeforeTakeOver stops the daemon of a partition after the URL has changed, before any
// message is due at the new one. They are due at the daemon that takes over the partition.
func TestURLBeforeTakeOver(t *testing.T) {
	twoDaemons(t, func(first, second *simulation) {
		const messages = 5
		first.moveUndone(second, webhook.Order{}, messages)
		first.advance(5 * time.Second)
		first.expect("SY_WebhookMessage WHERE Status = 2 AND Attempts = 1", messages)
		second.stop(testTimeout)
		first.advance(2 * first.term)
		first.expect("SY_WebhookMessage WHERE Status = 1", messages)
	})
}

// moveUndone lets messages of a publisher fail, and then changes the URL while the store makes no
// message due for it.
func (x *simulation) moveUndone(publisher *simulation, order webhook.Order, messages int) {
	x.t.Helper()
	x.policy.Schedule = []time.Duration{time.Hour, time.Hour, time.Hour}
	publisher.policy = x.policy
	sub := x.subscribe("https://shop.example/wrong", "debtor.*", func(s *webhook.Subscription) { s.Order = order })
	x.fakeSender.setStatus(inTurn(404))
	x.advance(5 * time.Second)
	for range messages {
		publisher.publish("debtor.updated", "x")
	}
	x.advance(5 * time.Second)
	publisher.faultyStore.SetRule(deliverytest.Refuse(deliverytest.Unavailable("busy")), deliverytest.MakeDue)
	x.correct(sub, "https://shop.example/right", admin.Caller{Owner: "user:ann", Admin: true})
	x.fakeSender.setStatus(inTurn(200))
}

// TestFormerURL changes the URL and then back to the former one while attempts at that hang, or
// before their results are written. The messages fail, and are due at once: none of them has been
// attempted since.
func TestFormerURL(t *testing.T) {
	for name, order := range orders {
		for _, delayed := range []string{"attempts", "results"} {
			t.Run(name+", slow "+delayed, func(t *testing.T) {
				simulate(t, func(x *simulation) { x.changeURLAndBack(order, delayed) })
			})
		}
	}
}

func (x *simulation) changeURLAndBack(order webhook.Order, delayed string) {
	x.policy.Schedule = []time.Duration{time.Hour, time.Hour, time.Hour}
	const former = "https://shop.example/former"
	sub := x.subscribe(former, "debtor.*", func(s *webhook.Subscription) { s.Order = order })
	gate := deliverytest.NewGate()
	var works atomic.Bool
	x.fakeSender.setStatus(func(_ int, m *webhook.Message) int {
		if works.Load() {
			return 200
		}
		if delayed == "attempts" && m.URL == former {
			_ = gate.Hold(context.Background(), func(context.Context) error { return nil })
		}
		return 404
	})
	ann := admin.Caller{Owner: "user:ann", Admin: true}
	const messages = 4
	for range messages {
		x.publish("debtor.updated", "x")
	}
	if delayed == "results" {
		x.faultyStore.SetRule(gate.Hold, deliverytest.Write)
	}
	x.advance(time.Second)
	x.correct(sub, "https://shop.example/between", ann)
	x.advance(time.Second)
	works.Store(true)
	x.correct(sub, former, ann)
	x.advance(time.Second)

	x.faultyStore.SetRule(nil, deliverytest.Write)
	gate.Open()
	x.advance(10 * time.Second)
	x.expect("SY_WebhookMessage WHERE Status = 1", messages)
	clear(x.fakeSender.sent) // attempts of a queue with an order were cancelled and are not recorded
}

// TestFailureAtOldURLAfterMove writes that a message has failed at the old URL after another one has
// failed at the new URL. Only the first one is due at once.
func TestFailureAtOldURLAfterMove(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.policy.Schedule = []time.Duration{time.Hour, time.Hour}
		attempts := deliverytest.NewGate()
		x.fakeSender.setStatus(func(int, *webhook.Message) int {
			_ = attempts.Hold(context.Background(), func(context.Context) error { return nil })
			return 404
		})
		sub := x.subscribe("https://shop.example/old", "debtor.*", func(s *webhook.Subscription) {
			s.MaxPerMinute = 30
		})
		x.publish("debtor.updated", "attempted at both URLs")
		x.publish("debtor.updated", "attempted two seconds later")
		x.faultyStore.SetRule(deliverytest.Refuse(deliverytest.Unavailable("busy")), deliverytest.Write)
		attempts.Open()
		x.advance(time.Second)
		x.correct(sub, "https://shop.example/new", admin.Caller{Owner: "user:ann", Admin: true})
		x.advance(3 * time.Second)
		x.faultyStore.SetRule(nil, deliverytest.Write)

		x.advance(10 * time.Second)
		x.expect("SY_WebhookMessage WHERE Attempts = 2", 1)
		x.expect("SY_WebhookMessage WHERE Attempts = 1 AND URL = 'https://shop.example/new'", 1)
		x.fakeSender.setStatus(inTurn(200))
		x.advance(3 * time.Hour)
	})
}

// TestURLsInTurn goes on changing the URL with only a SubscriberID. The messages are due at most
// once a minute.
func TestURLsInTurn(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.policy.Schedule = slices.Repeat([]time.Duration{2 * time.Hour}, 20)
		x.fakeSender.setStatus(inTurn(404))
		sub := x.subscribe("https://shop.example/0", "debtor.*")
		x.publish("debtor.updated", "x")
		const minutes = 5
		for n := range minutes * 60 / 7 {
			x.advance(7 * time.Second)
			x.correct(sub, fmt.Sprintf("https://shop.example/%d", n+1), admin.Caller{})
		}
		attempts := x.count("SY_WebhookMessageResponse")
		if attempts < minutes || attempts > 1+minutes {
			t.Errorf("%d attempts in %d minutes, want one at first and one a minute", attempts, minutes)
		}
		x.fakeSender.setStatus(inTurn(200))
		x.advance(time.Minute)
	})
}

// TestURLWithoutRightToEvent changes the URL of a subscription with only its SubscriberID while
// messages wait that its owner may read: they are not sent, and go on after an owner with the
// right has confirmed the URL.
func TestURLWithoutRightToEvent(t *testing.T) {
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			x := newRightsEnv(t)
			x.policy.Schedule = []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond}
			wrong := newEndpoint(t, always(500))
			right := newEndpoint(t, always(200))
			sub := x.subscribe(wrong.URL, "debtor.*", func(s *webhook.Subscription) {
				s.Owner.Name = "user:ann"
				s.Order = order
				s.Schedule = []time.Duration{time.Hour}
			})
			x.publishChange()
			x.awaitCount("SY_WebhookMessage WHERE Attempts = 1", 1)

			x.correct(sub, right.URL, admin.Caller{})
			if order != (webhook.Order{All: true}) { // in order, they wait for the first one
				x.publish("debtor.created", `{}`)
				right.awaitDelivered(t, 1)
			}
			x.restart()
			x.expect(`SY_WebhookMessage m JOIN WH_Event e ON e.EventID = m.EventID
				WHERE e.EventName = 'debtor.updated' AND m.Status = 2 AND m.Attempts = 1`, 1)

			other := newEndpoint(t, always(200))
			x.correct(sub, other.URL, admin.Caller{Owner: "user:ann"})
			other.awaitDelivered(t, 1)
		})
	}
}
