package delivery_test

import (
	"context"
	"fmt"
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

// requests returns the message IDs of the replays and of the other requests so far.
func (r *replayReceiver) requests() (replays, others []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.replays), slices.Clone(r.others)
}

// publishKeys publishes events with several keys: those of a key in turn, the keys concurrently.
func (h *testEnv) publishKeys(events, keys int) {
	h.t.Helper()
	var publishers sync.WaitGroup
	for key := range keys {
		publishers.Go(func() {
			for i := key; i < events; i += keys {
				h.publishAbout(fmt.Sprint(key), fmt.Sprint(i))
			}
		})
	}
	publishers.Wait()
}

// overtakenReplays are replays that were recorded after one of a newer message with the same key.
const overtakenReplays = `SY_WebhookMessageResponse r JOIN SY_WebhookMessage m ON m.ID = r.MessageID
WHERE r.Attempt = 2 AND EXISTS (
	SELECT 1 FROM SY_WebhookMessageResponse o JOIN SY_WebhookMessage n ON n.ID = o.MessageID
	WHERE o.Attempt = 2 AND n.EventKey = m.EventKey AND n.ID < m.ID AND o.LastSavedDateTime > r.LastSavedDateTime)`

// TestReplays sends delivered messages again, and publishes an event at the same time: each message
// arrives once more with its ID, in the order of its subscription before the event.
func TestReplays(t *testing.T) {
	const messages, keys = 200, 7
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			h := newTestEnv(t)
			h.start()
			receiver := newReplayReceiver(t)
			h.subscribe(receiver.URL, "debtor.*", func(s *webhook.Subscription) { s.Order = order })
			h.publishKeys(messages, keys)
			h.awaitCount("SY_WebhookMessage WHERE Status = 1", messages)
			_, delivered := receiver.requests()

			h.sendAgain("")
			h.publishAbout("0", "fresh")
			receiver.await(t, messages, messages+1)
			h.stop(testTimeout)

			replays, others := receiver.requests()
			if len(replays) != messages || len(others) != messages+1 {
				t.Fatalf("%d replays and %d other requests, want %d and %d", len(replays), len(others), messages, messages+1)
			}
			if order.All && !slices.Equal(replays, delivered) {
				t.Errorf("the messages were sent again in the order\n%q, want\n%q", replays, delivered)
			}
			slices.Sort(replays)
			slices.Sort(delivered)
			if !slices.Equal(replays, delivered) {
				t.Errorf("the messages sent again are\n%q, want\n%q", replays, delivered)
			}
			h.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 2 AND NextAttemptDateTime IS NULL", messages)
			h.expect("SY_WebhookMessageResponse", 2*messages+1)
			if order.ByKey {
				h.expect(overtakenReplays, 0)
			}
		})
	}
}

// TestReplaysAreCounted counts delivered messages in a dry run, and then sends them again.
func TestReplaysAreCounted(t *testing.T) {
	const messages = 20
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				x.subscribe("http://127.0.0.1/hook", "*", func(s *webhook.Subscription) { s.Order = order })
				for range messages {
					x.publishAbout("D 1", "x")
				}
				x.advance(time.Minute)
				x.forget()
				want := admin.BulkResult{Matched: messages, Done: messages, Replayed: messages}
				if order != (webhook.Order{}) {
					want.Ordered = messages
				}

				dry := x.selection("Status=1")
				dry.Replay = true
				dry.DryRun = true
				got, err := x.service.RetryMessages(context.Background(), dry, audit.System())
				if err != nil || got != want {
					t.Errorf("a dry run returned %+v (%v), want %+v", got, err, want)
				}
				x.advance(time.Minute)
				if sent, _ := x.fakeSender.counts(); sent != 0 {
					t.Errorf("%d messages were sent after a dry run, want 0", sent)
				}

				got = x.sendAgain("")
				if got != want {
					t.Errorf("sending again returned %+v, want %+v", got, want)
				}
				x.advance(time.Minute)
				x.forget()
			})
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
	x.publishMany(n, func(int) delivery.Post {
		return delivery.Post{Name: "debtor.updated", Body: []byte("x")}
	})
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

// startedAttempts records the kinds of the attempts in the order of their starts: "r" for a
// replay, "f" for another message.
type startedAttempts struct {
	mu    sync.Mutex
	kinds string
}

func (s *startedAttempts) add(m *webhook.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Replay {
		s.kinds += "r"
	} else {
		s.kinds += "f"
	}
}

func (s *startedAttempts) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kinds
}

// TestFreshMessagesPrecedeReplays sends messages again while an endpoint responds to nothing:
// replays take half of its attempts, and all fresh messages come before further ones.
func TestFreshMessagesPrecedeReplays(t *testing.T) {
	simulate(t, func(x *simulation) {
		// With so many attempts, the limit of all replays is higher than that of the endpoint.
		x.stop(testTimeout)
		x.startEngine(func(c *delivery.Config) { c.Attempts = 1000 })
		sub := x.subscribe("http://127.0.0.1/hook", "*")
		x.deliver(100)
		half := queueOf(x.stats(60), sub).Limit / 2
		responses := make(chan struct{})
		var started startedAttempts
		x.fakeSender.setStatus(func(_ int, m *webhook.Message) int {
			started.add(m)
			<-responses
			return 200
		})

		x.sendAgain("")
		x.advance(time.Second)
		want := strings.Repeat("r", half)
		if got := started.String(); got != want {
			t.Errorf("after sending again: started %q, want %q, half of the endpoint's attempts", got, want)
		}

		const fresh = 30
		for range fresh {
			x.publish("debtor.updated", "fresh")
		}
		x.advance(time.Second)
		for range half + fresh {
			responses <- struct{}{}
			x.advance(time.Second)
		}
		want += strings.Repeat("f", fresh) + "r"
		if got := started.String(); !strings.HasPrefix(got, want) {
			t.Errorf("started in the order %q, want %q first", got, want)
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

// TestReplaysSurviveStops stops the engine several times while messages are sent again. The next
// one attempts those that are left. A message with an interrupted attempt is sent twice, but only
// the second attempt is recorded.
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
				if sent, _ := x.fakeSender.counts(); sent != 200 {
					t.Errorf("%d messages were sent again, want 200", sent)
				}
				x.forget()
			})
		})
	}
}

// TestReplayAtNewURL changes the URL while replays wait and are in flight. Those that wait go to the
// new URL, and those that fail at the old one are sent to the new one, too.
func TestReplayAtNewURL(t *testing.T) {
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				sub := x.subscribe("http://127.0.0.1/old", "*", func(s *webhook.Subscription) { s.Order = order })
				x.deliver(20)
				release := make(chan struct{})
				x.fakeSender.setStatus(func(_ int, m *webhook.Message) int {
					if m.URL == "http://127.0.0.1/old" {
						<-release
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
				close(release)
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
		release := make(chan struct{})
		x.fakeSender.setStatus(func(int, *webhook.Message) int {
			<-release
			return 200
		})
		x.sendAgain("")
		x.advance(time.Second)
		inFlight, _ := x.fakeSender.counts()
		got, err := x.service.RemoveMessages(context.Background(), x.selection("Status=2"), audit.System())
		if err != nil || got.Done != 100 {
			t.Errorf("deleting returned %+v (%v), want 100", got, err)
		}
		close(release)
		x.advance(time.Hour)
		sent, _ := x.fakeSender.counts()
		if inFlight == 0 || sent != inFlight {
			t.Errorf("%d messages were sent again, want only the %d in flight, at least 1", sent, inFlight)
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
		const messages, laterPages = 150, 3 // the last page is empty
		x.deliver(messages)
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

		// Publish an event before each page but the first. The messages of earlier pages are marked
		// then, and the others are not.
		s := x.selection("Status=1")
		s.Replay = true
		selectPage := s.Select
		s.Select = func(ctx context.Context, after, last int64, limit int) ([]admin.Candidate, error) {
			if after > 0 {
				x.publish("debtor.updated", "fresh")
				x.advance(2 * time.Second)
			}
			return selectPage(ctx, after, last, limit)
		}
		_, err := x.service.RetryMessages(context.Background(), s, audit.System())
		if err != nil {
			t.Fatal(err)
		}
		x.advance(time.Minute)

		if len(replays) != messages || !slices.IsSorted(replays) {
			t.Errorf("the %d messages %v were sent again, want %d with ascending IDs", len(replays), replays, messages)
		}
		if len(fresh) != laterPages {
			t.Errorf("the %d fresh messages %v were sent, want %d", len(fresh), fresh, laterPages)
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
