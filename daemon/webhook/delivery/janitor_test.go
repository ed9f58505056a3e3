package delivery_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// retentionSetting is a retention that tests may change while the engine runs.
type retentionSetting struct {
	atomic.Pointer[webhook.Retention]
}

func (k *retentionSetting) set(successful, failed time.Duration) {
	k.Store(&webhook.Retention{Successful: successful, Failed: failed})
}

// withRetention runs a test with some delivered and some failed messages, and a
// retention for both.
func withRetention(t *testing.T, successful, failed time.Duration, test func(x *simulation, k *retentionSetting)) {
	t.Helper()
	simulate(t, func(x *simulation) {
		x.stop(testTimeout)
		k := &retentionSetting{}
		k.set(successful, failed)
		x.startEngine(useRetention(k))
		x.fakeSender.setStatus(func(_ int, m *webhook.Message) int {
			if string(m.Event.Body) == "fails" {
				return 404
			}
			return 200
		})
		x.subscribe("http://127.0.0.1/hook", "*")
		for range 3 {
			x.publish("debtor.updated", "arrives")
			x.publish("debtor.updated", "fails")
		}
		x.advance(30 * time.Minute)
		x.expectMessages(3, 3)
		test(x, k)
		clear(x.fakeSender.sent) // there are no messages left to compare with
	})
}

func useRetention(k *retentionSetting) func(*delivery.Config) {
	return func(c *delivery.Config) {
		c.Retention = func() webhook.Retention { return *k.Load() }
		c.PeerInterval = 0
	}
}

func (x *simulation) expectMessages(successful, failed int64) {
	x.t.Helper()
	x.expect("SY_WebhookMessage WHERE Status = 1", successful)
	x.expect("SY_WebhookMessage WHERE Status = 3", failed)
	x.expect("WH_Event", successful+failed)
	x.expect("SY_WebhookMessageResponse WHERE Status = 1", successful)
}

// TestOldMessagesArePruned checks that old messages are removed within an hour after the end of
// their retention, and counted.
func TestOldMessagesArePruned(t *testing.T) {
	withRetention(t, 3*time.Hour, 30*time.Hour, func(x *simulation, _ *retentionSetting) {
		x.advance(2 * time.Hour)
		x.expectMessages(3, 3)
		x.advance(2 * time.Hour)
		x.expectMessages(0, 3)
		x.advance(24 * time.Hour)
		x.expectMessages(0, 3)
		x.advance(4*time.Hour + 24*time.Hour) // the scan has passed them; the next one finds them
		x.expectMessages(0, 0)
		if n := x.engine.Counts().Removed; n != 6 {
			t.Errorf("%d messages are counted as removed, want 6", n)
		}
	})
}

// TestShorterRetention checks that a changed retention takes effect within the hour, also for
// messages that the current scan has passed.
func TestShorterRetention(t *testing.T) {
	withRetention(t, 0, 0, func(x *simulation, k *retentionSetting) {
		x.advance(100 * time.Hour)
		x.expectMessages(3, 3)
		if n := x.faultyStore.Calls(deliverytest.Prune); n != 0 {
			t.Errorf("Prune was called %d times without a limited retention, want 0", n)
		}
		k.set(time.Hour, 0)
		x.advance(time.Hour + time.Second)
		x.expectMessages(0, 3)
		k.set(time.Hour, 2*time.Hour)
		x.advance(time.Hour + time.Second)
		x.expectMessages(0, 0)
	})
}

// TestFailingRemoval checks that a failed removal is tried again soon.
func TestFailingRemoval(t *testing.T) {
	withRetention(t, time.Hour, time.Hour, func(x *simulation, _ *retentionSetting) {
		x.faultyStore.SetRule(deliverytest.Refuse(deliverytest.Unavailable("busy")), deliverytest.Prune)
		x.advance(2 * time.Hour)
		x.expectMessages(3, 3)
		x.faultyStore.SetRule(nil, deliverytest.Prune)
		x.advance(time.Minute)
		x.expectMessages(0, 0)
	})
}

// TestRemovedSubscriptionsHavePriority checks that the messages of a subscription that is
// deleted during a long removal are removed first; the long removal continues afterwards.
func TestRemovedSubscriptionsHavePriority(t *testing.T) {
	withRetention(t, time.Hour, 0, func(x *simulation, _ *retentionSetting) {
		gone := x.subscribe("http://127.0.0.1/other", "creditor.*")
		x.publishMany(500, func(i int) delivery.Post {
			name := "debtor.updated"
			if i%2 > 0 {
				name = "creditor.created"
			}
			return delivery.Post{Name: name, Body: []byte("arrives")}
		})
		x.advance(45 * time.Minute) // so that the next scan finds them all
		var calls []deliverytest.Call
		note := func(c deliverytest.Call) {
			x.faultyStore.SetRule(func(ctx context.Context, do func(context.Context) error) error {
				isFirst := !slices.Contains(calls, c)
				calls = append(calls, c)
				if c == deliverytest.Prune && isFirst {
					if err := x.service.RemoveSubscription(ctx, x.subscriber, gone.GUID); err != nil {
						t.Error(err)
					}
				}
				return do(ctx)
			}, c)
		}
		note(deliverytest.Sweep)
		note(deliverytest.Prune)
		x.advance(27 * time.Hour)
		x.expectMessages(0, 3)
		first := slices.Index(calls, deliverytest.Prune)
		later := calls[first+1:]
		if len(later) < 3 || later[0] != deliverytest.Sweep || !slices.Contains(later, deliverytest.Prune) {
			t.Errorf("the calls after the deletion were %v, want Sweep first, and then Prune again", later)
		}
	})
}

// TestOneDaemonPrunes checks that one of several daemons prunes.
func TestOneDaemonPrunes(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.stop(testTimeout)
		x.term = time.Minute
		k := &retentionSetting{}
		k.set(time.Hour, time.Hour)
		x.startEngine(useRetention(k))
		second := x.startPeerWith(useRetention(k))
		x.advance(90 * time.Minute)
		if x.faultyStore.Calls(deliverytest.Prune) == 0 {
			t.Error("the first daemon has not called Prune")
		}
		if n := second.faultyStore.Calls(deliverytest.Prune); n != 0 {
			t.Errorf("the second daemon has called Prune %d times, want 0 while the first one runs", n)
		}
		x.stop(testTimeout)
		second.advance(90 * time.Minute)
		if second.faultyStore.Calls(deliverytest.Prune) == 0 {
			t.Error("no daemon calls Prune any more")
		}
		second.stop(testTimeout)
	})
}

// TestOldMessagesBehindLaterOnesArePruned checks that old messages are removed also if many with later
// times are before them, since the clock was ahead for some time.
func TestOldMessagesBehindLaterOnesArePruned(t *testing.T) {
	const (
		later = 10_500 // more than two steps read
		old   = 10
	)
	withRetention(t, 0, 0, func(x *simulation, k *retentionSetting) {
		x.publishMany(later+old, func(int) delivery.Post {
			return delivery.Post{Name: "debtor.updated", Body: []byte("arrives")}
		})
		x.advance(30 * time.Minute)
		x.expectMessages(later+old+3, 3)
		x.exec(fmt.Sprintf(`UPDATE SY_WebhookMessage
SET AddedDateTime = '2099-01-01T00:00:00.0000000', LastSavedDateTime = '2099-01-01T00:00:00.0000000'
WHERE ID IN (SELECT ID FROM SY_WebhookMessage ORDER BY ID LIMIT %d)`, later))

		k.set(time.Hour, time.Hour)
		x.advance(3 * time.Hour)
		x.expect("SY_WebhookMessage", later)
		x.publish("debtor.updated", "arrives")
		x.advance(24*time.Hour + 2*time.Hour) // until the next scan
		x.expect("SY_WebhookMessage", later)
	})
}
