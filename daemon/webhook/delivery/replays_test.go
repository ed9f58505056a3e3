package delivery_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// sendAgain sends the delivered messages again that match a filter.
func (h *testEnv) sendAgain(filter string) admin.BulkResult {
	h.t.Helper()
	s := h.selection("Status=1" + filter)
	s.Replay = true
	result, err := h.service.RetryMessages(context.Background(), s, audit.System())
	if err != nil {
		h.t.Fatal(err)
	}
	return result
}

// replayReceiver records the requests with the header of replays, and those without.
type replayReceiver struct {
	URL string

	mu      sync.Mutex
	arrived *sync.Cond
	replays []string // message IDs
	others  []string
}

func newReplayReceiver(t *testing.T) *replayReceiver {
	r := new(replayReceiver)
	r.arrived = sync.NewCond(&r.mu)
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// ServeHTTP implements http.Handler.
func (r *replayReceiver) ServeHTTP(_ http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := request.Header.Get("Webhook-Id")
	if request.Header.Get("Webhook-Replay") == "true" {
		r.replays = append(r.replays, id)
	} else {
		r.others = append(r.others, id)
	}
	r.arrived.Broadcast()
}

// await waits for a number of replays and of other requests.
func (r *replayReceiver) await(t *testing.T, replays, others int) {
	t.Helper()
	late := time.AfterFunc(testTimeout, r.arrived.Broadcast)
	defer late.Stop()
	deadline := time.Now().Add(testTimeout)
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.replays) < replays || len(r.others) < others {
		if time.Now().After(deadline) {
			t.Fatalf("%d replays and %d other requests, want %d and %d", len(r.replays), len(r.others), replays, others)
		}
		r.arrived.Wait()
	}
}

// TestReplays sends delivered messages again, and publishes an event at the same time: each message
// arrives once more with its ID, in the order of its subscription before the event.
func TestReplays(t *testing.T) {
	const messages, keys = 500, 7
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			h := newTestEnv(t)
			h.start()
			receiver := newReplayReceiver(t)
			sub := h.subscribe(receiver.URL, "debtor.*", func(s *webhook.Subscription) { s.Order = order })
			var publishers sync.WaitGroup
			for key := range keys {
				publishers.Go(func() {
					for i := key; i < messages; i += keys {
						h.publishAbout(fmt.Sprint(key), fmt.Sprint(i))
					}
				})
			}
			publishers.Wait()
			h.awaitCount("SY_WebhookMessage WHERE Status = 1", messages)
			all := append([]string(nil), receiver.others...)

			want := admin.BulkResult{Matched: messages, Done: messages}
			if order != (webhook.Order{}) {
				want.Ordered = messages
			}
			dry := h.selection("Status=1&SubscriptionID=" + sub.GUID)
			dry.Replay, dry.DryRun = true, true
			if got, err := h.service.RetryMessages(context.Background(), dry, audit.System()); err != nil || got != want {
				t.Errorf("a dry run returned %+v (%v), want %+v", got, err, want)
			}
			if got := h.sendAgain("&SubscriptionID=" + sub.GUID); got != want {
				t.Errorf("sending again returned %+v, want %+v", got, want)
			}
			h.publishAbout("0", "fresh")
			receiver.await(t, messages, messages+1)
			h.stop(testTimeout)

			if len(receiver.replays) != messages || len(receiver.others) != messages+1 {
				t.Fatalf("%d replays and %d other requests, want %d and %d", len(receiver.replays), len(receiver.others), messages, messages+1)
			}
			if order.All && !slices.Equal(receiver.replays, all) {
				t.Error("the replays are not in the order of the messages")
			}
			slices.Sort(all)
			if again := slices.Sorted(slices.Values(receiver.replays)); !slices.Equal(again, all) {
				t.Error("the replays have other IDs than the messages, or some twice")
			}
			h.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 2 AND NextAttemptDateTime IS NULL", messages)
			h.expect("SY_WebhookMessageResponse", 2*messages+1)
			if order.ByKey { // a replay that is recorded after another one with a higher ID
				h.expect(`SY_WebhookMessageResponse r JOIN SY_WebhookMessage m ON m.ID = r.MessageID WHERE r.Attempt = 2 AND EXISTS (
	SELECT 1 FROM SY_WebhookMessageResponse o JOIN SY_WebhookMessage n ON n.ID = o.MessageID
	WHERE o.Attempt = 2 AND n.EventKey = m.EventKey AND n.ID < m.ID AND o.LastSavedDateTime > r.LastSavedDateTime)`, 0)
			}
		})
	}
}

// TestReplaysOfManyQueuesAreSpaced sends one message of each of many subscriptions again: the
// queues become ready at the same time, and start their replays one after the other.
func TestReplaysOfManyQueuesAreSpaced(t *testing.T) {
	const subscriptions = 20
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				// Enough attempts for all replays at once.
				x.stop(testTimeout)
				x.startEngine(func(c *delivery.Config) { c.Attempts = 100 * subscriptions })
				for range subscriptions {
					x.subscribe("http://127.0.0.1/hook", "*", func(s *webhook.Subscription) { s.Order = order })
				}
				x.publishAbout("D 1", "x")
				x.advance(time.Minute)
				x.forget()

				var mu sync.Mutex
				var sentAt []time.Time
				x.fakeSender.setStatus(func(int, *webhook.Message) int {
					mu.Lock()
					defer mu.Unlock()
					sentAt = append(sentAt, time.Now())
					return 200
				})
				x.sendAgain("")
				x.advance(time.Minute)

				if len(sentAt) != subscriptions {
					t.Fatalf("%d messages were sent again, want %d", len(sentAt), subscriptions)
				}
				const interval = 4 * time.Millisecond
				for i := 1; i < len(sentAt); i++ {
					gap := sentAt[i].Sub(sentAt[i-1])
					if gap < interval {
						t.Errorf("replay %d started %v after the previous one, want at least %v", i, gap, interval)
					}
				}
				x.forget()
			})
		})
	}
}

// deliver publishes events and waits until they are delivered. The fake sender forgets
// them.
func (x *simulation) deliver(n int) {
	for range n {
		x.publish("debtor.updated", "x")
	}
	x.advance(time.Minute)
	x.expect("SY_WebhookMessage WHERE Status = 1", int64(n))
	x.forget()
}

// forget removes the records of the fake sender, which checkFinalState compares with the store.
func (x *simulation) forget() {
	x.fakeSender.mu.Lock()
	defer x.fakeSender.mu.Unlock()
	clear(x.fakeSender.sent)
	clear(x.fakeSender.delivered)
}

// TestFreshMessagesPrecedeReplays sends messages again while an endpoint responds to nothing:
// replays take at most half of its attempts, and all fresh messages come before further ones.
func TestFreshMessagesPrecedeReplays(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.subscribe("http://127.0.0.1/hook", "*")
		x.deliver(100)
		responses := make(chan struct{})
		var mu sync.Mutex
		started := ""
		x.fakeSender.setStatus(func(_ int, m *webhook.Message) int {
			mu.Lock()
			if m.Replay {
				started += "r"
			} else {
				started += "f"
			}
			mu.Unlock()
			<-responses
			return 200
		})
		x.sendAgain("")
		x.advance(time.Second)
		replays := len(started)
		if replays == 0 || replays > 5 || strings.Contains(started, "f") {
			t.Errorf("after sending again: started %q, want replays, at most half of 10 attempts", started)
		}
		const fresh = 30
		for range fresh {
			x.publish("debtor.updated", "fresh")
		}
		x.advance(time.Second)
		for range replays + fresh {
			responses <- struct{}{}
			x.advance(time.Second)
		}
		want := strings.Repeat("r", replays) + strings.Repeat("f", fresh) + "r"
		if !strings.HasPrefix(started, want) {
			t.Errorf("started in the order %q, want %q", started, want)
		}
		close(responses)
		x.advance(time.Minute)
		x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 2", 100)
		x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1", fresh)
		x.forget()
	})
}

// TestReplayFails sends a message again that the endpoint rejects: it is delivered as before, with
// one attempt more.
func TestReplayFails(t *testing.T) {
	for _, code := range []int{0, 422, 500} {
		for name, order := range orders {
			t.Run(fmt.Sprint(code, " ", name), func(t *testing.T) {
				simulate(t, func(x *simulation) {
					x.subscribe("http://127.0.0.1/hook", "*", func(s *webhook.Subscription) { s.Order = order })
					x.deliver(3)
					x.fakeSender.setStatus(func(int, *webhook.Message) int { return code })
					x.sendAgain("")
					x.advance(time.Hour)
					x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 2 AND NextAttemptDateTime IS NULL", 3)
					x.expect(fmt.Sprintf("SY_WebhookMessageResponse WHERE Attempt = 2 AND COALESCE(HTTPCode, 0) = %d", code), 3)
					if n := x.engine.Counts(); n.Delivered != 3 || n.Failed != 3 || n.GivenUp != 0 {
						t.Errorf("%+v, want 3 delivered and 3 failed", n)
					}
					x.forget()
				})
			})
		}
	}
}

// TestReplaysSurviveStops stops the engine while messages are sent again: all are attempted once
// more by the next one, and those that were interrupted twice.
func TestReplaysSurviveStops(t *testing.T) {
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				x.subscribe("http://127.0.0.1/hook", "*", func(s *webhook.Subscription) { s.Order = order })
				x.deliver(200)
				x.sendAgain("")
				for range 3 {
					x.advance(20 * time.Millisecond)
					x.stop(time.Nanosecond)
					x.startEngine()
				}
				x.advance(time.Hour)
				x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 2", 200)
				replayed := slices.Collect(maps.Values(x.fakeSender.sent))
				if len(replayed) != 200 {
					t.Errorf("%d messages were sent again, want 200", len(replayed))
				}
				x.forget()
			})
		})
	}
}

// TestReplayAtNewURL changes the URL while replays wait and are in flight: they go to the new one,
// once more also those that fail at the old one.
func TestReplayAtNewURL(t *testing.T) {
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				sub := x.subscribe("http://127.0.0.1/old", "*", func(s *webhook.Subscription) { s.Order = order })
				x.deliver(20)
				ends := make(chan struct{})
				x.fakeSender.setStatus(func(_ int, m *webhook.Message) int {
					if m.URL == "http://127.0.0.1/old" {
						<-ends
						return 500
					}
					if !m.Replay {
						t.Errorf("message %d is no longer a replay", m.ID)
					}
					return 200
				})
				x.sendAgain("")
				x.advance(time.Second)
				x.correct(sub, "http://127.0.0.1/new", admin.Caller{Owner: "user:ann", Admin: true})
				x.advance(time.Second)
				close(ends)
				x.advance(time.Second)
				x.expect("SY_WebhookMessage WHERE Status = 1 AND NextAttemptDateTime IS NULL AND HTTPCode = 200 AND URL = 'http://127.0.0.1/new'", 20)
				x.forget()
			})
		})
	}
}

// TestReplaysAreCancelled deletes messages that wait to be sent again.
func TestReplaysAreCancelled(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.subscribe("http://127.0.0.1/hook", "*")
		x.deliver(100)
		ends := make(chan struct{})
		x.fakeSender.setStatus(func(int, *webhook.Message) int { <-ends; return 200 })
		x.sendAgain("")
		x.advance(time.Second)
		if got, err := x.service.RemoveMessages(context.Background(), x.selection("Status=2"), audit.System()); err != nil || got.Done != 100 {
			t.Errorf("deleting returned %+v (%v), want 100", got, err)
		}
		close(ends)
		x.advance(time.Hour)
		sent, _ := x.fakeSender.counts()
		if sent > 4 {
			t.Errorf("%d messages were sent again, want only those in flight", sent)
		}
		x.expect("SY_WebhookMessage", 0)
		x.forget()
	})
}

// TestOrderedQueueWaitsForReplays publishes events while messages are being marked: with an order
// the events are sent after all of them.
func TestOrderedQueueWaitsForReplays(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.subscribe("http://127.0.0.1/hook", "*", func(s *webhook.Subscription) { s.Order.All = true })
		x.deliver(150) // three pages
		var replays, fresh []int64
		x.fakeSender.setStatus(func(_ int, m *webhook.Message) int {
			if m.Replay {
				replays = append(replays, m.ID)
				if len(fresh) > 0 {
					t.Errorf("message %d is sent again after %d fresh ones", m.ID, len(fresh))
				}
			} else {
				fresh = append(fresh, m.ID)
			}
			return 200
		})
		s := x.selection("Status=1")
		s.Replay = true
		pick := s.Select
		s.Select = func(ctx context.Context, after, last int64, limit int) ([]admin.Candidate, error) {
			if after > 0 {
				x.publish("debtor.updated", "fresh")
				x.advance(2 * time.Second)
			}
			return pick(ctx, after, last, limit)
		}
		if _, err := x.service.RetryMessages(context.Background(), s, audit.System()); err != nil {
			t.Fatal(err)
		}
		x.advance(time.Minute)
		if len(replays) != 150 || !slices.IsSorted(replays) || len(fresh) != 3 {
			t.Errorf("%d replays and %d others, sorted: %v; want 150 and 3 in order", len(replays), len(fresh), slices.IsSorted(replays))
		}
		x.forget()
	})
}

// TestReplaysAtAnotherDaemon requests replays at the daemon that does not hold the messages.
func TestReplaysAtAnotherDaemon(t *testing.T) {
	twoDaemons(t, func(first, second *simulation) {
		first.subscribe("https://shop.example/", "debtor.*")
		first.advance(5 * time.Second)
		first.deliver(300)
		if got := second.sendAgain(""); got.Done != 300 {
			t.Errorf("sending again returned %+v, want 300", got)
		}
		first.advance(time.Minute)
		first.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 2", 300)
		first.forget()
	})
}

// TestReplayIsNotRecorded loses the results of replays: the messages are sent again.
func TestReplayIsNotRecorded(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.subscribe("http://127.0.0.1/hook", "*")
		x.deliver(50)
		x.sendAgain("")
		x.faultyStore.SetRule(deliverytest.Refuse(deliverytest.Unavailable("test")), deliverytest.Write)
		x.advance(time.Minute)
		x.faultyStore.SetRule(nil, deliverytest.Write)
		x.advance(time.Minute)
		x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 2", 50)
		x.forget()
	})
}
