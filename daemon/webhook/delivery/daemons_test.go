package delivery_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// twoDaemons runs a test with two daemons on one store, each with its own lease.
func twoDaemons(t *testing.T, test func(first, second *simulation)) {
	t.Helper()
	simulate(t, func(x *simulation) { x.withPeer(test) })
}

// twoDaemonsWithRules is twoDaemons with the rules of events of the service.
func twoDaemonsWithRules(t *testing.T, test func(first, second *simulation)) {
	t.Helper()
	simulate(t, func(x *simulation) {
		x.hasRules = true
		x.withPeer(test)
	})
}

// withPeer runs a test with two engines on the store.
func (x *simulation) withPeer(test func(first, second *simulation)) {
	x.t.Helper()
	x.stop(testTimeout)
	x.term = time.Minute
	x.startEngine()
	second := x.startPeer()
	test(x, second)
	second.stop(testTimeout)
}

// TestRetryingAtAnotherDaemon checks that a retry that is requested at one daemon makes the
// daemon that holds the message send it immediately.
func TestRetryingAtAnotherDaemon(t *testing.T) {
	twoDaemons(t, func(first, second *simulation) {
		first.fakeSender.setStatus(inTurn(400, 500))
		sub := first.subscribe("https://shop.example/", "debtor.*")
		first.advance(5 * time.Second)
		first.publish("debtor.updated", "x")
		first.advance(time.Second / 2)
		first.fakeSender.setStatus(func(int, *webhook.Message) int { return 200 })
		second.retryMessage(sub, first.onlyMessage())
		first.advance(2 * peerInterval) // the schedule has a longer delay
		first.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 2", 1)
	})
}

// TestDeletingAtAnotherDaemon checks that a message that was deleted at one daemon is not
// sent by the other one.
func TestDeletingAtAnotherDaemon(t *testing.T) {
	twoDaemons(t, func(first, second *simulation) {
		first.policy.Schedule = []time.Duration{5 * time.Minute}
		first.fakeSender.setStatus(func(int, *webhook.Message) int { return 400 })
		sub := first.subscribe("https://shop.example/", "debtor.*")
		first.advance(5 * time.Second)
		first.publish("debtor.updated", "x")
		first.advance(time.Minute)
		second.removeMessage(sub, first.onlyMessage())
		first.advance(10 * time.Minute)
		if sent, _ := first.fakeSender.counts(); sent != 1 {
			t.Fatalf("%d messages were sent, want 1", sent)
		}
		for _, n := range first.fakeSender.sent {
			if n != 1 {
				t.Errorf("a message that was deleted after its first attempt was sent %d times, want once", n)
			}
		}
		clear(first.fakeSender.sent)
	})
}

// TestOrderedAcrossDaemons checks that an ordered subscription receives events in the order
// in which they were published, regardless of the daemon.
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
			t.Errorf("delivered in the order %v, want %v", got, want)
		}
	})
}

// TestLimitsAreDivided checks that two daemons together start no more concurrent attempts at
// an endpoint than one would.
func TestLimitsAreDivided(t *testing.T) {
	twoDaemons(t, func(first, second *simulation) {
		first.subscribe("https://shop.example/", "debtor.*")
		first.advance(5 * time.Second)
		gate := make(chan struct{})
		var mu sync.Mutex
		var inFlight, maxInFlight int
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

// TestNoAttemptsWhileLeaseLapses checks that a daemon that cannot renew its lease starts no
// attempt that could outlast it.
func TestNoAttemptsWhileLeaseLapses(t *testing.T) {
	twoDaemons(t, func(first, second *simulation) {
		first.subscribe("https://shop.example/", "debtor.*")
		first.advance(5 * time.Second)
		cutOff := deliverytest.Unavailable("cut off")
		first.faultyStore.SetRule(deliverytest.Refuse(cutOff), deliverytest.Renew)
		first.advance(first.term * 3 / 4)
		first.publish("debtor.updated", "x")
		first.advance(time.Second)
		if sent, _ := first.fakeSender.counts(); sent != 0 {
			t.Errorf("%d messages were sent under a lapsing lease, want none", sent)
		}
		first.faultyStore.SetRule(nil, deliverytest.Renew)
		first.advance(2 * first.term)
		first.expect("SY_WebhookMessage WHERE Status = 1", 1)
	})
}

// TestAttemptsWhileNothingIsTakenOver checks that a daemon that renews its lease goes on sending while
// the store refuses to look for expired leases of others.
func TestAttemptsWhileNothingIsTakenOver(t *testing.T) {
	twoDaemons(t, func(first, second *simulation) {
		first.subscribe("https://shop.example/", "debtor.*")
		first.advance(5 * time.Second)
		busy := deliverytest.Unavailable("busy")
		first.faultyStore.SetRule(deliverytest.Refuse(busy), deliverytest.TakeOver)
		first.advance(2 * first.term)
		first.publish("debtor.updated", "x")
		first.advance(time.Second)
		if sent, _ := first.fakeSender.counts(); sent != 1 {
			t.Errorf("%d messages were sent under a lease that was renewed, want 1", sent)
		}
		first.faultyStore.SetRule(nil, deliverytest.TakeOver)
		first.advance(first.term)
	})
}

// TestChangesOfOtherDaemonsAreStreamed checks that changes of messages at one daemon are
// streamed at the other one, in order and once, while a stream is open.
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
				t.Errorf("a change is %+v, want one of debtor.updated and the subscription %s", c, sub.GUID)
			}
		}
		if len(stages) != 10 {
			t.Errorf("%d messages were streamed, want 10", len(stages))
		}
		want := []webhook.Status{webhook.NotSent, webhook.RetryPending, webhook.Successful}
		for id, got := range stages {
			if !slices.Equal(got, want) {
				t.Errorf("message %s went through %v, want %v", id, got, want)
			}
		}
	})
}
