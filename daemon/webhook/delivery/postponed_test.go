package delivery_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// TestRetryAfterHoldsQueue answers the first request with 429 and Retry-After: no other message is
// attempted until then, or until a test, a retry or a new URL ends the wait. The message that was
// answered is sent then, too.
func TestRetryAfterHoldsQueue(t *testing.T) {
	for name, order := range orders {
		for _, ends := range []string{"a test", "a retry of all", "a retry of another message", "a corrected URL"} {
			t.Run(name+", "+ends, func(t *testing.T) {
				h := newTestEnv(t)
				h.policy.RetryAfterMax = time.Hour
				h.start()
				var requests atomic.Int64
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if requests.Add(1) == 1 {
						w.Header().Set("Retry-After", "1800")
						w.WriteHeader(http.StatusTooManyRequests)
					}
				}))
				t.Cleanup(server.Close)
				sub := h.subscribe(server.URL, "debtor.*", func(s *webhook.Subscription) { s.Order = order })
				h.publishAbout("0001", `{}`)
				h.awaitCount("SY_WebhookMessage WHERE Attempts = 1", 1)
				for range 10 {
					h.publishAbout("0002", `{}`)
				}
				until := h.report(1, 10, nil).Queues[0].WaitUntil
				if wait := time.Until(until); wait < 25*time.Minute || wait > 30*time.Minute {
					t.Errorf("the next attempt is in %v, want in half an hour", wait)
				}
				if n := requests.Load(); n != 1 {
					t.Errorf("%d requests, want only the one that was answered with 429", n)
				}

				delivered := int64(11)
				switch ends {
				case "a test":
					delivered++
					_, err := h.service.SendTest(context.Background(), sub.Subscriber, sub.GUID, admin.TestMessage{})
					if err != nil {
						t.Fatal(err)
					}
				case "a retry of all":
					h.retrySelected("EventName=debtor.updated")
				case "a retry of another message":
					h.retryMessage(sub, h.texts("SELECT RecID FROM SY_WebhookMessage WHERE Attempts = 0")[4])
				case "a corrected URL":
					h.correct(sub, server.URL+"/2", admin.Caller{Admin: true})
				}
				h.awaitCount("SY_WebhookMessage WHERE Status = 1", delivered)
				if until := h.report(1, 10, nil).Queues[0].WaitUntil; !until.IsZero() {
					t.Errorf("after all messages were delivered the queue waits until %v", until)
				}
			})
		}
	}
}

// TestRetryAfterOverRestart restarts the daemon while the first message of an order waits as its
// endpoint has requested: it goes on waiting, which is shown, until a test.
func TestRetryAfterOverRestart(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.policy.RetryAfterMax = time.Hour
		x.fakeSender.setStatus(inTurn(429, 200))
		x.fakeSender.retryAfter = time.Hour
		sub := x.subscribe("https://shop.example/", "debtor.*", func(s *webhook.Subscription) { s.Order = webhook.Order{All: true} })
		x.publishAbout("a", "first")
		x.publishAbout("b", "second")
		x.advance(time.Minute)
		x.stop(testTimeout)
		x.startEngine()
		x.advance(time.Minute)
		x.expect("SY_WebhookMessage WHERE Status = 2 AND Attempts = 1", 1)
		queues := x.report(1, 10, nil).Queues
		if wait := time.Until(queues[0].WaitUntil); wait < 57*time.Minute || wait > 59*time.Minute {
			t.Errorf("the queue waits for %v, want the rest of the hour", wait)
		}
		x.fakeSender.setStatus(inTurn(200))
		if _, err := x.service.SendTest(context.Background(), sub.Subscriber, sub.GUID, admin.TestMessage{}); err != nil {
			t.Fatal(err)
		}
		x.advance(5 * time.Second)
		x.expect("SY_WebhookMessage WHERE Status = 1", 3)
	})
}

// TestRetryAfterEndsElsewhere checks that a test ends a requested wait, also for the message that was
// answered, after a restart and at another daemon, in every order.
func TestRetryAfterEndsElsewhere(t *testing.T) {
	const messages = 3 // with the test
	prepare := func(x *simulation, order webhook.Order) webhook.Subscription {
		x.policy.RetryAfterMax = 24 * time.Hour
		x.fakeSender.setStatus(inTurn(429))
		x.fakeSender.retryAfter = 12 * time.Hour
		sub := x.subscribe("https://shop.example/", "debtor.*", func(s *webhook.Subscription) { s.Order = order })
		x.advance(5 * time.Second)
		x.publishAbout("a", "first")
		x.publishAbout("b", "second")
		x.advance(time.Minute)
		return sub
	}
	test := func(x *simulation, sub webhook.Subscription) {
		x.t.Helper()
		_, err := x.service.SendTest(context.Background(), sub.Subscriber, sub.GUID, admin.TestMessage{})
		if err != nil {
			x.t.Fatal(err)
		}
	}
	for name, order := range orders {
		t.Run(name+", after a restart", func(t *testing.T) {
			simulate(t, func(x *simulation) {
				sub := prepare(x, order)
				x.stop(testTimeout)
				x.startEngine()
				x.advance(time.Minute)
				x.fakeSender.setStatus(inTurn(200))
				test(x, sub)
				x.advance(5 * time.Second)
				x.expect("SY_WebhookMessage WHERE Status = 1", messages)
			})
		})
		t.Run(name+", at another daemon", func(t *testing.T) {
			twoDaemons(t, func(first, second *simulation) {
				sub := prepare(first, order)
				first.fakeSender.setStatus(inTurn(200))
				second.fakeSender.setStatus(inTurn(200))
				test(second, sub)
				first.advance(2*peerInterval + 5*time.Second)
				first.expect("SY_WebhookMessage WHERE Status = 1", messages)
			})
		})
	}
}

// TestTestIsNotRetriedLater checks that a test message fails if its endpoint requests a longer wait, or if
// its next retry would be long after.
func TestTestIsNotRetriedLater(t *testing.T) {
	for name, test := range map[string]struct {
		status     int
		retryAfter time.Duration
		attempts   int
	}{
		"429 with Retry-After": {429, time.Hour, 1},
		"a short Retry-After":  {429, 2 * time.Second, 3},
		"500":                  {500, 0, 3},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				x.policy.RetryAfterMax = 24 * time.Hour
				x.policy.Schedule = []time.Duration{time.Second, 10 * time.Second, time.Hour}
				x.fakeSender.setStatus(inTurn(test.status))
				x.fakeSender.retryAfter = test.retryAfter
				sub := x.subscribe("https://shop.example/", "debtor.*")
				if _, err := x.service.SendTest(context.Background(), sub.Subscriber, sub.GUID, admin.TestMessage{}); err != nil {
					t.Fatal(err)
				}
				x.advance(time.Minute)
				x.expect(fmt.Sprintf("SY_WebhookMessage WHERE Status = 3 AND Attempts = %d", test.attempts), 1)
			})
		})
	}
}
