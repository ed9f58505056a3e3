package delivery_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// timedSender records the time that the last attempt was signed with.
type timedSender struct {
	*fakeSender
	at atomic.Pointer[time.Time]
}

// Send implements delivery.Sender. Like the real one, it reports that time.
func (s *timedSender) Send(ctx context.Context, m *webhook.Message, sub *webhook.Subscription, at time.Time) webhook.Outcome {
	s.at.Store(&at)
	o := s.fakeSender.Send(ctx, m, sub, at)
	o.Began = at
	return o
}

// setClock is a clock that is set during a test.
type setClock struct{ by atomic.Int64 }

func (c *setClock) now() time.Time { return time.Now().UTC().Add(time.Duration(c.by.Load())) }

// TestClockIsSet sets the host's clock while a message waits for a retry. Later attempts are
// signed with the correct time, and nothing waits longer than before.
func TestClockIsSet(t *testing.T) {
	const wait = 30 * time.Minute
	for name, c := range map[string]struct {
		by  time.Duration
		due time.Duration // of the retry, from then on
	}{
		"forward":       {time.Hour, time.Minute},
		"back":          {-time.Hour, wait + time.Minute},
		"back by a day": {-24 * time.Hour, wait + time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				sender := &timedSender{fakeSender: x.fakeSender}
				x.policy.Schedule = []time.Duration{wait}
				x.stop(testTimeout)
				var clock setClock
				x.startEngine(func(c *delivery.Config) {
					c.Sender = sender
					x.faultyStore.Clock = clock.now
				})
				x.fakeSender.setStatus(func(n int, m *webhook.Message) int {
					if n == 1 && m.Event.Name == "debtor.deleted" {
						return 422
					}
					return 200
				})
				x.subscribe("http://127.0.0.1/hook", "*")
				x.publish("debtor.deleted", "{}")
				x.advance(time.Minute)
				clock.by.Store(int64(c.by))
				x.advance(time.Minute)
				x.publish("debtor.updated", "{}")
				x.advance(c.due)
				x.expect("SY_WebhookMessage WHERE Status = 1", 2)
				x.publish("debtor.deleted", "{}")
				x.advance(time.Second)
				x.expect(fmt.Sprintf(`SY_WebhookMessage WHERE
					round(86400 * (julianday(NextAttemptDateTime) - julianday(LastSavedDateTime))) = %v`, wait.Seconds()), 1)
				if off := sender.at.Load().Sub(clock.now()).Abs(); off > 2*time.Second {
					t.Errorf("the clock is off by %v in signatures, want at most 2 s", off)
				}
				x.advance(wait + time.Minute)
			})
		})
	}
}

// TestClockSetForwardDisablesNothing sets the clock forward by more than the time after which
// failing subscriptions are disabled. Failures before that do not count.
func TestClockSetForwardDisablesNothing(t *testing.T) {
	simulate(t, func(x *simulation) {
		const wait = 30 * time.Minute
		x.policy.Schedule = []time.Duration{wait, wait, wait, wait, wait}
		x.policy.DisableAfter = 24 * time.Hour
		var clock setClock
		x.stop(testTimeout)
		x.startEngine(func(*delivery.Config) { x.faultyStore.Clock = clock.now })
		var recovered atomic.Bool
		x.fakeSender.setStatus(func(int, *webhook.Message) int {
			if recovered.Load() {
				return 200
			}
			return 422
		})
		x.subscribe("http://127.0.0.1/hook", "*")
		for range 4 {
			x.publish("debtor.updated", "{}")
		}
		x.advance(wait + time.Minute)
		clock.by.Store(int64(48 * time.Hour))
		x.advance(time.Minute)
		x.expect("SY_WebhookMessage WHERE Attempts = 3", 4)
		recovered.Store(true)
		x.advance(wait + time.Minute)
		x.expect("SY_WebhookSubscription WHERE IsEnabled = 0", 0)
	})
}
