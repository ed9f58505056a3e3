package delivery_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// TestWithheldMessageWaits has a message with an event that the owner of its subscription may not
// read. The store is read about once a minute for it, not all the time, and other messages are
// delivered. The message follows when the right is there.
func TestWithheldMessageWaits(t *testing.T) {
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				var allowed atomic.Bool
				kind := &record.Kind{Name: "DB_Main", Capture: record.CaptureOnDemand, Events: "debtor"}
				rules := func() webhook.Rules {
					rules := inHouse()
					rules.Captured = map[string]*record.Kind{"debtor.updated": kind}
					rules.MayRead = func(string, *record.Kind) bool { return allowed.Load() }
					return rules
				}
				x.stop(testTimeout)
				x.startEngine(func(c *delivery.Config) { c.Rules = rules })
				x.subscribe("https://shop.example/", "*", func(s *webhook.Subscription) {
					s.Owner.Name = "user:ann"
					s.Order = order
				})
				x.publish("debtor.updated", "held")
				x.publish("debtor.created", "other")
				slow := func(ctx context.Context, read func(context.Context) error) error {
					time.Sleep(time.Millisecond) // for the clock of the test to advance
					return read(ctx)
				}
				x.faultyStore.SetRule(slow, deliverytest.OpenMessages)
				x.advance(time.Second)

				const minutes = 10
				before := x.faultyStore.Calls(deliverytest.OpenMessages)
				x.advance(minutes * time.Minute)
				reads := x.faultyStore.Calls(deliverytest.OpenMessages) - before
				if reads > 2*minutes {
					t.Errorf("%d reads of messages in %d minutes, want at most %d", reads, minutes, 2*minutes)
				}
				delivered := int64(1)
				if order.All {
					delivered = 0 // it waits for the first one
				}
				x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1", delivered)
				x.expectHeld("debtor.updated")

				allowed.Store(true)
				x.advance(5 * time.Second)
				x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1", 2)
				x.expectHeld()
			})
		})
	}
}

// expectHeld compares the events of which messages are held.
func (x *simulation) expectHeld(want ...string) {
	x.t.Helper()
	open, err := x.engine.Backlog(x.t.Context(), 0)
	if err != nil {
		x.t.Fatal(err)
	}
	report, err := x.engine.Stats(x.t.Context(), 1, 10, open.Subscriptions)
	if err != nil {
		x.t.Fatal(err)
	}
	var held []string
	for _, queue := range report.Queues {
		held = append(held, queue.HeldEvents...)
	}
	if !slices.Equal(held, want) {
		x.t.Errorf("messages of the events %q are held, want %q", held, want)
	}
}
