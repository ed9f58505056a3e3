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

// pair is two daemons on one store, each with its own lease.
func pair(t *testing.T, test func(first, second *trial)) {
	t.Helper()
	inBubble(t, func(x *trial) {
		x.stop(patience)
		x.term = time.Minute
		x.begin()
		second := x.neighbour()
		test(x, second)
		second.stop(patience)
	})
}

// A message that waits at one daemon goes out at once when somebody asks the
// other one for it.
func TestRetryingAtAnotherDaemon(t *testing.T) {
	pair(t, func(first, second *trial) {
		first.postman.answers(func(n int, _ *webhook.Message) int { return 400 + 100*min(n-1, 1) }) // 400, then 500
		sub := first.subscribe("https://shop.example/", "debtor.*")
		first.pass(5 * time.Second)
		first.publish("debtor.updated", "x")
		first.pass(time.Second / 2)
		first.postman.answers(func(int, *webhook.Message) int { return 200 })
		id := ""
		for guid := range first.attempts() {
			id = guid
		}
		if _, err := second.desk.RetryMessage(context.Background(), admin.Address{Subscriber: first.subject, Subscription: sub.GUID, Message: id}); err != nil {
			t.Fatal(err)
		}
		first.pass(2 * watch) // the schedule would have it wait for longer
		first.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 2", 1)
	})
}

// A message that was deleted at one daemon is not sent by the other one.
func TestDeletingAtAnotherDaemon(t *testing.T) {
	pair(t, func(first, second *trial) {
		first.policy.Schedule = []time.Duration{time.Hour}
		first.postman.answers(func(int, *webhook.Message) int { return 400 })
		sub := first.subscribe("https://shop.example/", "debtor.*")
		first.pass(5 * time.Second)
		first.publish("debtor.updated", "x")
		first.pass(time.Minute)
		for id := range first.attempts() {
			if err := second.desk.RemoveMessage(context.Background(), admin.Address{Subscriber: first.subject, Subscription: sub.GUID, Message: id}); err != nil {
				t.Fatal(err)
			}
		}
		first.pass(2 * time.Hour)
		if sent, _ := first.postman.counts(); sent != 1 {
			t.Fatalf("%d messages sent", sent)
		}
		for _, n := range first.postman.sent {
			if n != 1 {
				t.Errorf("a deleted message was sent %d times", n)
			}
		}
		clear(first.postman.sent)
	})
}

// An ordered subscription gets its events in the order in which they were
// raised, whichever daemon took them.
func TestOrderedAcrossDaemons(t *testing.T) {
	pair(t, func(first, second *trial) {
		first.subscribe("https://shop.example/", "debtor.*", func(r *webhook.Subscription) { r.Ordered = true })
		first.pass(5 * time.Second)
		var mu sync.Mutex
		var got []string
		first.postman.answers(func(n int, m *webhook.Message) int {
			if n == 1 && m.ID%3 == 0 {
				return 500 // keeps those behind it back
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
			[]*trial{first, second}[i%2].publish("debtor.updated", body)
		}
		first.pass(10 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(got, want) {
			t.Errorf("the order is %v", got)
		}
	})
}

// The limits of an endpoint are divided: together two daemons send no more at
// once than one would.
func TestLimitsAreDivided(t *testing.T) {
	pair(t, func(first, second *trial) {
		first.subscribe("https://shop.example/", "debtor.*")
		first.pass(5 * time.Second)
		gate := make(chan struct{})
		var mu sync.Mutex
		under, most := 0, 0
		first.postman.answers(func(int, *webhook.Message) int {
			mu.Lock()
			under++
			most = max(most, under)
			mu.Unlock()
			<-gate
			mu.Lock()
			defer mu.Unlock()
			under--
			return 200
		})
		for range 20 {
			first.publish("debtor.updated", "x")
			second.publish("debtor.updated", "y")
		}
		first.pass(time.Second)
		close(gate)
		first.pass(time.Minute)
		if most != 8 {
			t.Errorf("%d attempts at once, want the 8 that one daemon begins with", most)
		}
	})
}

// A daemon that cannot renew its lease begins no attempt that could outlast it.
func TestNothingBeginsWhileALeaseLapses(t *testing.T) {
	pair(t, func(first, second *trial) {
		first.subscribe("https://shop.example/", "debtor.*")
		first.pass(5 * time.Second)
		first.faulty.Set(deliverytest.Refuse(deliverytest.Away("cut off")), deliverytest.Renew)
		first.pass(first.term * 3 / 4)
		first.publish("debtor.updated", "x")
		first.pass(time.Second)
		if sent, _ := first.postman.counts(); sent != 0 {
			t.Errorf("%d messages sent under a lease that lapses", sent)
		}
		first.faulty.Set(nil, deliverytest.Renew)
		first.pass(2 * first.term)
		first.expect("SY_WebhookMessage WHERE Status = 1", 1)
	})
}

// What becomes of messages at one daemon is shown at the other one, in order and
// once, as long as somebody looks.
func TestChangesOfAnotherDaemonAreShown(t *testing.T) {
	pair(t, func(first, second *trial) {
		var mu sync.Mutex
		var seen []webhook.Change
		watcher := first.neighbourThat(func(c *delivery.Config) {
			c.Watched = func() bool { return true }
			c.OnChanges = func(changes []webhook.Change) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, changes...)
			}
		})
		first.postman.answers(func(n int, _ *webhook.Message) int { return []int{500, 200}[min(n-1, 1)] })
		sub := first.subscribe("https://shop.example/", "debtor.*")
		first.pass(5 * time.Second)
		for range 5 {
			first.publish("debtor.updated", "x")
			second.publish("debtor.updated", "y")
		}
		first.pass(time.Minute)
		watcher.stop(patience)
		stages := make(map[string][]webhook.Status)
		for _, c := range seen {
			stages[c.Message] = append(stages[c.Message], c.Status)
			if c.Subscription != sub.GUID || c.Subscriber != first.subject || c.Event != "debtor.updated" {
				t.Errorf("changed: %+v", c)
			}
		}
		if len(stages) != 10 {
			t.Errorf("%d messages were shown, want 10", len(stages))
		}
		for id, got := range stages {
			if !slices.Equal(got, []webhook.Status{webhook.NotSent, webhook.RetryPending, webhook.Successful}) {
				t.Errorf("message %s went through %v", id, got)
			}
		}
	})
}
