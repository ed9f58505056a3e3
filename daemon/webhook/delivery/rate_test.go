package delivery_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// requestTimes records when requests start.
type requestTimes struct {
	mu    sync.Mutex
	times []time.Time
}

func (r *requestTimes) add() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times = append(r.times, time.Now())
}

// sorted returns the times in order.
func (r *requestTimes) sorted() []time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.SortedFunc(slices.Values(r.times), time.Time.Compare)
}

// peak returns the highest number of requests in a period of a length.
func (r *requestTimes) peak(length time.Duration) int {
	times := r.sorted()
	highest, first := 0, 0
	for i, at := range times {
		for at.Sub(times[first]) > length {
			first++
		}
		highest = max(highest, i-first+1)
	}
	return highest
}

// limitedTo returns the change of a subscription that sets its rate limit.
func limitedTo(perMinute int) func(*webhook.Subscription) {
	return func(s *webhook.Subscription) { s.MaxPerMinute = perMinute }
}

// recordTimes makes the sender record the times of its attempts, and respond with 200 except to the
// first attempt of each message for which fails is true.
func (x *simulation) recordTimes(fails func(body string) bool) *requestTimes {
	times := new(requestTimes)
	x.fakeSender.setStatus(func(n int, m *webhook.Message) int {
		times.add()
		if n == 1 && fails(string(m.Event.Body)) {
			return 404
		}
		return 200
	})
	return times
}

// TestRateLimit queues 2,000 messages for a subscription with 600 attempts a minute, of which some
// are retried. No period of 10 s has more than the burst, and those of the 10 s.
func TestRateLimit(t *testing.T) {
	simulate(t, func(x *simulation) {
		times := x.recordTimes(func(body string) bool { return body == "retry" })
		x.subscribe("http://127.0.0.1/hook", "*", limitedTo(600))
		const messages, retried = 2_000, 100
		x.publishMany(messages, func(i int) delivery.Post {
			body := "x"
			if i%(messages/retried) == 0 {
				body = "retry"
			}
			return delivery.Post{Name: "debtor.updated", Body: []byte(body)}
		})
		// The last message may be one that fails first and waits for its retry.
		const retryDelay = 5 * time.Second
		x.advance((messages+retried)*time.Minute/600 + retryDelay)
		x.expect("SY_WebhookMessage WHERE Status = 1", messages)
		if highest := times.peak(10 * time.Second); highest > 111 || highest < 100 {
			t.Errorf("there were %d attempts in 10 s, want 100 to 111", highest)
		}
		if n := len(times.sorted()); n != messages+retried {
			t.Errorf("there were %d attempts, want %d", n, messages+retried)
		}
	})
}

// TestRestartsKeepRateLimit restarts the daemon while messages wait: the burst is not available again.
func TestRestartsKeepRateLimit(t *testing.T) {
	simulate(t, func(x *simulation) {
		times := x.recordTimes(func(string) bool { return false })
		x.subscribe("http://127.0.0.1/hook", "*", limitedTo(600))
		for range 400 {
			x.publish("debtor.updated", "x")
		}
		for range 8 {
			x.advance(3 * time.Second)
			x.stop(testTimeout)
			x.startEngine()
		}
		x.advance(time.Minute)
		x.expect("SY_WebhookMessage WHERE Status = 1", 400)
		if highest := times.peak(10 * time.Second); highest > 111 {
			t.Errorf("there were %d attempts in 10 s, want at most 111", highest)
		}
	})
}

// TestDefaultRateLimit changes the default and the limit of a subscription, which has precedence,
// while messages wait.
func TestDefaultRateLimit(t *testing.T) {
	simulate(t, func(x *simulation) {
		never := func(string) bool { return false }
		times := x.recordTimes(never)
		sub := x.subscribe("http://127.0.0.1/hook", "*")
		var limit atomic.Int64
		limit.Store(6)
		x.stop(testTimeout)
		x.startEngine(func(c *delivery.Config) { c.MaxPerMinute = func() int { return int(limit.Load()) } })
		for range 100 {
			x.publish("debtor.updated", "x")
		}
		x.advance(59 * time.Second)
		if n := len(times.sorted()); n != 6 {
			t.Errorf("there were %d attempts in the first minute, want 6", n)
		}
		x.changeSubscription(sub, admin.SubscriptionChange{MaxPerMinute: new(12)})
		x.advance(time.Minute)
		if n := len(times.sorted()); n != 6+12 {
			t.Errorf("there were %d attempts after two minutes, want 18", n)
		}
		limit.Store(0)
		x.changeSubscription(sub, admin.SubscriptionChange{MaxPerMinute: new(0)})
		x.advance(time.Minute)
		x.expect("SY_WebhookMessage WHERE Status = 1", 100)
	})
}

// TestRaisedRateLimit checks that messages that wait for a low limit do not wait on under a higher one.
func TestRaisedRateLimit(t *testing.T) {
	simulate(t, func(x *simulation) {
		times := x.recordTimes(func(string) bool { return false })
		sub := x.subscribe("http://127.0.0.1/hook", "*", limitedTo(1))
		for range 100 {
			x.publish("debtor.updated", "x")
		}
		x.advance(5 * time.Second)
		x.changeSubscription(sub, admin.SubscriptionChange{MaxPerMinute: new(600)})
		x.advance(5 * time.Second)
		if n := len(times.sorted()); n < 40 || n > 1+50+10 {
			t.Errorf("there were %d attempts within 5 s of the change to 600 a minute, want about 50", n)
		}
		x.advance(10 * time.Second)
	})
}

// TestRateLimitCountsEachAttempt checks that probes of a failing endpoint, requested retries, tests
// and messages of a queue with an order keep to the limit, and that waiting is not shown as failing.
func TestRateLimitCountsEachAttempt(t *testing.T) {
	for name, order := range map[string]webhook.Order{
		"none":  {},
		"all":   {All: true},
		"byKey": {ByKey: true},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				times := new(requestTimes)
				var works atomic.Bool
				x.fakeSender.setStatus(func(int, *webhook.Message) int {
					times.add()
					if works.Load() {
						return 200
					}
					return 503
				})
				sub := x.subscribe("http://127.0.0.1/hook", "*", limitedTo(2), func(s *webhook.Subscription) {
					s.Order = order
				})
				for range 20 {
					x.publish("debtor.updated", "x")
				}
				for range 10 {
					_, err := x.service.SendTest(context.Background(), sub.Subscriber, sub.GUID, admin.TestMessage{})
					if err != nil {
						t.Fatal(err)
					}
					x.retrySelected("Status=2")
					x.advance(20 * time.Second)
				}
				works.Store(true)
				x.advance(2 * time.Hour)
				sorted := times.sorted()
				for i := 1; i < len(sorted); i++ {
					if gap := sorted[i].Sub(sorted[i-1]); gap < 30*time.Second {
						t.Fatalf("attempt %d started %s after the one before, want 30 s", i+1, gap)
					}
				}
				x.expect("SY_WebhookMessage WHERE Status IN (0, 2)", 0)
			})
		})
	}
}

// TestRateLimitOfDaemons divides a limit by two daemons, except for a subscription with an order, of
// which one daemon sends all messages.
func TestRateLimitOfDaemons(t *testing.T) {
	for name, ordered := range map[string]bool{"concurrent": false, "ordered": true} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				x.stop(testTimeout)
				x.term = 30 * time.Second
				x.startEngine()
				peer := x.startPeer()
				x.advance(5 * time.Second)
				times := x.recordTimes(func(string) bool { return false })
				x.subscribe("http://127.0.0.1/hook", "*", limitedTo(60), func(s *webhook.Subscription) {
					s.Order.All = ordered
				})
				for range 100 {
					x.publish("debtor.updated", "x")
					peer.publish("debtor.updated", "x")
				}
				x.advance(time.Minute)
				if n := len(times.sorted()); n < 58 || n > 62 {
					t.Errorf("there were %d attempts in a minute, want about 60", n)
				}
				x.advance(time.Hour)
				peer.stop(testTimeout)
			})
		})
	}
}

// TestRateLimitAtReceiver measures the requests at a receiver with a limit, and that another
// subscription of the same events does not wait.
func TestRateLimitAtReceiver(t *testing.T) {
	h := newTestEnv(t)
	h.start()
	times := new(requestTimes)
	limited := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { times.add() }))
	t.Cleanup(limited.Close)
	free := newEndpoint(t, always(200))
	slow := h.subscribe(limited.URL, "*", limitedTo(6000))
	h.subscribe(free.URL, "debtor.*")
	const messages = 400
	began := time.Now()
	for i := range messages {
		h.publish("debtor.updated", fmt.Sprint(i))
	}
	free.awaitDelivered(t, messages)
	if wait := h.engine.RateWait(slow.ID); wait <= 0 && len(times.sorted()) < messages {
		t.Errorf("the rate limit delays the next attempt by %s, want more than 0", wait)
	}
	for len(times.sorted()) < messages && time.Since(began) < testTimeout {
		time.Sleep(10 * time.Millisecond)
	}
	if took := time.Since(began); took < 2900*time.Millisecond {
		t.Errorf("%d messages were delivered in %s, want 3 s: 100 at once and 100 a second", messages, took)
	}
	if highest := times.peak(time.Second); highest > 221 {
		t.Errorf("the receiver got %d requests in 1 s, want at most 200 and those of a late timer", highest)
	}
	h.stop(testTimeout)
	h.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1", 2*messages)
}
