package delivery_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// twoDaemons runs a test with two daemons on one store, each with its own lease.
func twoDaemons(t *testing.T, test func(first, second *simulation)) {
	t.Helper()
	simulate(t, func(x *simulation) {
		x.stop(testTimeout)
		x.term = time.Minute
		x.startEngine()
		second := x.startPeer()
		test(x, second)
		second.stop(testTimeout)
	})
}

// A retry that is requested at one daemon makes the daemon that holds the message send
// it immediately.
func TestRetryingAtAnotherDaemon(t *testing.T) {
	twoDaemons(t, func(first, second *simulation) {
		first.fakeSender.setStatus(func(n int, _ *webhook.Message) int { return 400 + 100*min(n-1, 1) }) // 400, then 500
		sub := first.subscribe("https://shop.example/", "debtor.*")
		first.advance(5 * time.Second)
		first.publish("debtor.updated", "x")
		first.advance(time.Second / 2)
		first.fakeSender.setStatus(func(int, *webhook.Message) int { return 200 })
		id := ""
		for guid := range first.attempts() {
			id = guid
		}
		message := admin.Address{Subscriber: first.subscriber, Subscription: sub.GUID, Message: id}
		if _, err := second.service.RetryMessage(context.Background(), message); err != nil {
			t.Fatal(err)
		}
		first.advance(2 * peerInterval) // the schedule has a longer delay
		first.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 2", 1)
	})
}

// A message that was deleted at one daemon is not sent by the other one.
func TestDeletingAtAnotherDaemon(t *testing.T) {
	twoDaemons(t, func(first, second *simulation) {
		first.policy.Schedule = []time.Duration{5 * time.Minute}
		first.fakeSender.setStatus(func(int, *webhook.Message) int { return 400 })
		sub := first.subscribe("https://shop.example/", "debtor.*")
		first.advance(5 * time.Second)
		first.publish("debtor.updated", "x")
		first.advance(time.Minute)
		for id := range first.attempts() {
			message := admin.Address{Subscriber: first.subscriber, Subscription: sub.GUID, Message: id}
			if err := second.service.RemoveMessage(context.Background(), message); err != nil {
				t.Fatal(err)
			}
		}
		first.advance(10 * time.Minute)
		if sent, _ := first.fakeSender.counts(); sent != 1 {
			t.Fatalf("%d messages sent", sent)
		}
		for _, n := range first.fakeSender.sent {
			if n != 1 {
				t.Errorf("a deleted message was sent %d times", n)
			}
		}
		clear(first.fakeSender.sent)
	})
}

// An ordered subscription receives events in the order in which they were published,
// regardless of the daemon.
func TestOrderedAcrossDaemons(t *testing.T) {
	twoDaemons(t, func(first, second *simulation) {
		first.subscribe("https://shop.example/", "debtor.*", func(r *webhook.Subscription) { r.Order.All = true })
		first.advance(5 * time.Second)
		var mu sync.Mutex
		var got []string
		first.fakeSender.setStatus(func(n int, m *webhook.Message) int {
			if n == 1 && m.ID%3 == 0 {
				return 500 // blocks later messages
			}
			mu.Lock()
			defer mu.Unlock()
			got = append(got, string(m.Event.Body))
			return 200
		})
		var want []string
		for i := range 30 {
			body := fmt.Sprint(i)
			want = append(want, body)
			if i%2 == 0 {
				first.publish("debtor.updated", body)
			} else {
				second.publish("debtor.updated", body)
			}
		}
		first.advance(10 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(got, want) {
			t.Errorf("delivered in the order %v", got)
		}
	})
}

// The limit of an endpoint is divided: two daemons together start no more concurrent
// attempts than one would.
func TestLimitsAreDivided(t *testing.T) {
	twoDaemons(t, func(first, second *simulation) {
		first.subscribe("https://shop.example/", "debtor.*")
		first.advance(5 * time.Second)
		gate := make(chan struct{})
		var mu sync.Mutex
		inFlight, maxInFlight := 0, 0
		first.fakeSender.setStatus(func(int, *webhook.Message) int {
			mu.Lock()
			inFlight++
			maxInFlight = max(maxInFlight, inFlight)
			mu.Unlock()
			<-gate
			mu.Lock()
			defer mu.Unlock()
			inFlight--
			return 200
		})
		for range 20 {
			first.publish("debtor.updated", "x")
			second.publish("debtor.updated", "y")
		}
		first.advance(time.Second)
		close(gate)
		first.advance(time.Minute)
		if maxInFlight != 8 {
			t.Errorf("%d concurrent attempts, want 8, the initial limit of one daemon", maxInFlight)
		}
	})
}

// A daemon that cannot renew its lease starts no attempt that could outlast it.
func TestNoAttemptsWhileLeaseLapses(t *testing.T) {
	twoDaemons(t, func(first, second *simulation) {
		first.subscribe("https://shop.example/", "debtor.*")
		first.advance(5 * time.Second)
		first.faultyStore.SetRule(deliverytest.Refuse(deliverytest.Unavailable("cut off")), deliverytest.Renew)
		first.advance(first.term * 3 / 4)
		first.publish("debtor.updated", "x")
		first.advance(time.Second)
		if sent, _ := first.fakeSender.counts(); sent != 0 {
			t.Errorf("%d messages sent under a lapsing lease", sent)
		}
		first.faultyStore.SetRule(nil, deliverytest.Renew)
		first.advance(2 * first.term)
		first.expect("SY_WebhookMessage WHERE Status = 1", 1)
	})
}

// Changes of messages at one daemon are streamed at the other one, in order and once,
// while a stream is open.
func TestChangesOfOtherDaemonsAreStreamed(t *testing.T) {
	twoDaemons(t, func(first, second *simulation) {
		var mu sync.Mutex
		var seen []webhook.Change
		watcher := first.startPeerWith(func(c *delivery.Config) {
			c.Watched = func() bool { return true }
			c.OnChanges = func(changes []webhook.Change) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, changes...)
			}
		})
		first.fakeSender.setStatus(inTurn(500, 200))
		sub := first.subscribe("https://shop.example/", "debtor.*")
		first.advance(5 * time.Second)
		for range 5 {
			first.publish("debtor.updated", "x")
			second.publish("debtor.updated", "y")
		}
		first.advance(time.Minute)
		watcher.stop(testTimeout)
		stages := make(map[string][]webhook.Status)
		for _, c := range seen {
			stages[c.Message] = append(stages[c.Message], c.Status)
			if c.Subscription != sub.GUID || c.Subscriber != first.subscriber || c.Event != "debtor.updated" {
				t.Errorf("changed: %+v", c)
			}
		}
		if len(stages) != 10 {
			t.Errorf("%d messages were streamed, want 10", len(stages))
		}
		for id, got := range stages {
			if !slices.Equal(got, []webhook.Status{webhook.NotSent, webhook.RetryPending, webhook.Successful}) {
				t.Errorf("message %s went through %v", id, got)
			}
		}
	})
}
