package delivery_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// TestSwitchedToOrderedAcrossDaemons checks that the messages of a subscription that becomes
// ordered are sent by one daemon, in order, including those queued at other daemons.
func TestSwitchedToOrderedAcrossDaemons(t *testing.T) {
	twoDaemons(t, func(first, second *simulation) {
		sub := first.subscribe("https://shop.example/", "debtor.*")
		first.advance(5 * time.Second)
		var mu sync.Mutex
		var got []string
		var underway, most int
		fail := true
		first.fakeSender.setStatus(func(_ int, m *webhook.Message) int {
			mu.Lock()
			defer mu.Unlock()
			if fail {
				return 404
			}
			underway++
			most = max(most, underway)
			got = append(got, string(m.Event.Body))
			mu.Unlock()
			time.Sleep(2 * time.Second)
			mu.Lock()
			underway--
			return 200
		})
		for i := range 5 {
			second.publish("debtor.updated", fmt.Sprint(i))
		}
		first.advance(10 * time.Second) // all are waiting for their third attempt
		first.changeSubscription(sub, admin.SubscriptionChange{Ordered: new(true)})
		first.advance(2 * peerInterval)
		mu.Lock()
		fail = false
		mu.Unlock()
		for i := range 5 {
			first.publish("debtor.updated", fmt.Sprint(5+i))
		}
		first.advance(10 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if len(got) != 10 || !slices.IsSorted(got) {
			t.Errorf("delivered %v, want 10 messages in their order", got)
		}
		if most != 1 {
			t.Errorf("%d messages were sent at the same time, want 1", most)
		}
	})
}

// TestDisabledOnce checks that two daemons that disable the same subscription publish one event.
func TestDisabledOnce(t *testing.T) {
	twoDaemonsWithRules(t, func(first, second *simulation) {
		dead := first.subscribe("https://dead.example/", "debtor.*")
		first.subscribe("https://watch.example/", "webhooks.subscription.disabled", byAdmin)
		first.advance(5 * time.Second)
		var mu sync.Mutex
		notices := 0
		first.fakeSender.setStatus(func(_ int, m *webhook.Message) int {
			if m.URL == dead.URL {
				return 410
			}
			mu.Lock()
			defer mu.Unlock()
			notices++
			return 200
		})
		var both sync.WaitGroup
		both.Go(func() { first.publish("debtor.updated", "x") })
		both.Go(func() { second.publish("debtor.updated", "x") })
		both.Wait()
		first.advance(10 * time.Minute)
		if notices != 1 {
			t.Errorf("the subscriber was notified %d times, want once", notices)
		}
	})
}

// TestOldURLDoesNotDisable checks that the response of an earlier URL of a subscription does
// not disable it.
func TestOldURLDoesNotDisable(t *testing.T) {
	simulate(t, func(x *simulation) {
		sub := x.subscribe("https://old.example/", "debtor.*")
		x.fakeSender.setStatus(func(_ int, m *webhook.Message) int {
			if m.URL == sub.URL {
				return 410
			}
			return 200
		})
		for range 30 {
			x.publish("debtor.updated", "1")
		}
		x.advance(time.Second)
		x.expect("SY_WebhookSubscription WHERE IsEnabled = 0", 1)
		failed := x.count("SY_WebhookMessage WHERE Status = 3")
		x.changeSubscription(sub, admin.SubscriptionChange{Enabled: new(true), URL: new("https://new.example/")})
		x.advance(time.Minute)
		x.publish("debtor.updated", "2")
		x.advance(time.Minute)
		x.expect("SY_WebhookSubscription WHERE IsEnabled = 1", 1)
		x.expect("SY_WebhookMessage WHERE Status = 1", 31-failed)
	})
}

// TestPeerEventsArePruned checks that peer events are removed as fast as they are written.
func TestPeerEventsArePruned(t *testing.T) {
	twoDaemons(t, func(first, _ *simulation) {
		first.exec(`
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
			INSERT INTO WH_Change (PartitionID, Number, AddedDateTime, Changes)
			SELECT 1, -i, '2000-01-01T00:00:00.0000000', '[]' FROM n`)
		first.advance(time.Minute)
		first.expect("WH_Change", 0)
	})
}

// TestSweepAfterRemovalAtAnotherDaemon checks that the messages of a deleted subscription are
// soon removed, regardless of the daemon that deleted it.
func TestSweepAfterRemovalAtAnotherDaemon(t *testing.T) {
	twoDaemons(t, func(first, second *simulation) {
		sub := first.subscribe("https://shop.example/", "debtor.*")
		first.advance(5 * time.Second)
		for range 5 {
			first.publish("debtor.updated", "x")
		}
		first.advance(time.Minute)
		second.removeSubscription(sub)
		first.advance(time.Minute)
		first.expect("SY_WebhookMessage", 0)
		first.forget()
	})
}

// TestPeersJoinedCallback checks that the daemon of an open stream is notified when the
// changes of all daemons are included.
func TestPeersJoinedCallback(t *testing.T) {
	twoDaemons(t, func(first, second *simulation) {
		joined := 0
		watcher := first.startPeerWith(func(c *delivery.Config) {
			c.Watched = func() bool { return true }
			c.PeersJoined = func() { joined++ }
		})
		first.advance(time.Minute)
		if joined != 1 {
			t.Errorf("the daemon was notified %d times, want once", joined)
		}
		watcher.stop(testTimeout)
	})
}
