package delivery_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// kept is for how long a trial keeps messages, which may change.
type kept struct {
	atomic.Pointer[webhook.Retention]
}

func (k *kept) set(successful, failed time.Duration) {
	k.Store(&webhook.Retention{Successful: successful, Failed: failed})
}

// keeping runs a test with some messages that were delivered and some that
// failed, none of which are kept for ever.
func keeping(t *testing.T, successful, failed time.Duration, test func(x *trial, k *kept)) {
	t.Helper()
	inBubble(t, func(x *trial) {
		x.stop(patience)
		k := &kept{}
		k.set(successful, failed)
		x.begin(keptBy(k))
		x.postman.answers(func(_ int, m *webhook.Message) int {
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
		x.pass(30 * time.Minute)
		x.expectKept(3, 3)
		test(x, k)
		clear(x.postman.sent) // of which nothing is left to compare with
	})
}

func keptBy(k *kept) func(*delivery.Config) {
	return func(c *delivery.Config) {
		c.Retention, c.PeerInterval = func() webhook.Retention { return *k.Load() }, 0
	}
}

func (x *trial) expectKept(successful, failed int64) {
	x.t.Helper()
	x.expect("SY_WebhookMessage WHERE Status = 1", successful)
	x.expect("SY_WebhookMessage WHERE Status = 3", failed)
	x.expect("WH_Event", successful+failed)
	x.expect("SY_WebhookMessageResponse WHERE Status = 1", successful)
}

// Messages go when their time has come, within the hour, and are counted.
func TestOldMessagesGo(t *testing.T) {
	keeping(t, 3*time.Hour, 30*time.Hour, func(x *trial, _ *kept) {
		x.pass(2 * time.Hour)
		x.expectKept(3, 3)
		x.pass(2 * time.Hour)
		x.expectKept(0, 3)
		x.pass(24 * time.Hour)
		x.expectKept(0, 3)
		x.pass(4*time.Hour + 24*time.Hour) // the walk has passed them, and comes again
		x.expectKept(0, 0)
		if n := x.engine.Counts().Removed; n != 6 {
			t.Errorf("%d removed", n)
		}
	})
}

// Another limit holds from the next hour on, also for messages that the walk has
// passed already.
func TestKeepingLess(t *testing.T) {
	keeping(t, 0, 0, func(x *trial, k *kept) {
		x.pass(100 * time.Hour)
		x.expectKept(3, 3)
		if n := x.faulty.Calls(deliverytest.Prune); n != 0 {
			t.Errorf("with everything kept for ever it was looked for old messages %d times", n)
		}
		k.set(time.Hour, 0)
		x.pass(time.Hour + time.Second)
		x.expectKept(0, 3)
		k.set(time.Hour, 2*time.Hour)
		x.pass(time.Hour + time.Second)
		x.expectKept(0, 0)
	})
}

// A store that fails is tried again soon.
func TestRemovingFails(t *testing.T) {
	keeping(t, time.Hour, time.Hour, func(x *trial, _ *kept) {
		x.faulty.Set(deliverytest.Refuse(deliverytest.Away("busy")), deliverytest.Prune)
		x.pass(3 * time.Hour)
		x.expectKept(3, 3)
		x.faulty.Set(nil, deliverytest.Prune)
		x.pass(time.Minute)
		x.expectKept(0, 0)
	})
}

// A subscription that is removed while a long removal is under way does not
// wait for its end, which comes all the same.
func TestRemovedSubscriptionsFirst(t *testing.T) {
	keeping(t, time.Hour, 0, func(x *trial, _ *kept) {
		gone := x.subscribe("http://127.0.0.1/other", "creditor.*")
		for range 250 {
			x.publish("debtor.updated", "arrives")
			x.publish("creditor.created", "arrives")
		}
		x.pass(45 * time.Minute) // so that the next look finds them all
		var calls []deliverytest.Call
		note := func(c deliverytest.Call) {
			x.faulty.Set(func(ctx context.Context, do func(context.Context) error) error {
				if calls = append(calls, c); c == deliverytest.Prune && !slices.Contains(calls[:len(calls)-1], c) {
					if err := x.desk.RemoveSubscription(ctx, x.subject, gone.GUID); err != nil {
						t.Error(err)
					}
				}
				return do(ctx)
			}, c)
		}
		note(deliverytest.Sweep)
		note(deliverytest.Prune)
		x.pass(27 * time.Hour)
		x.expectKept(0, 3)
		first := slices.Index(calls, deliverytest.Prune)
		if rest := calls[first+1:]; len(rest) < 3 || rest[0] != deliverytest.Sweep || !slices.Contains(rest, deliverytest.Prune) {
			t.Errorf("after the removal came %v", rest)
		}
	})
}

// Of several daemons one does it.
func TestUpkeepIsOneDaemons(t *testing.T) {
	inBubble(t, func(x *trial) {
		x.stop(patience)
		x.term = time.Minute
		k := &kept{}
		k.set(time.Hour, time.Hour)
		x.begin(keptBy(k))
		second := x.neighbourThat(keptBy(k))
		x.pass(3 * time.Hour)
		if a, b := x.faulty.Calls(deliverytest.Prune), second.faulty.Calls(deliverytest.Prune); a == 0 || b != 0 {
			t.Errorf("the first daemon has looked for old messages %d times, the second %d times", a, b)
		}
		x.stop(patience)
		second.pass(3 * time.Hour)
		if second.faulty.Calls(deliverytest.Prune) == 0 {
			t.Error("nobody looks for old messages any more")
		}
		second.stop(patience)
	})
}
