package delivery_test

import (
	"context"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// startAttempt publishes an event and blocks its first attempt with a gate. The attempt
// returns the code when the gate is opened.
func (x *simulation) startAttempt(code int) *deliverytest.Gate {
	x.t.Helper()
	gate := deliverytest.NewGate()
	x.fakeSender.setStatus(func(n int, _ *webhook.Message) int {
		if n == 1 {
			_ = gate.Hold(context.Background(), func(context.Context) error { return nil })
			return code
		}
		return 200
	})
	x.publish("debtor.updated", "x")
	gate.Await(1)
	return gate
}

// TestSubscriptionChangedInFlight changes a subscription during an attempt.
func TestSubscriptionChangedInFlight(t *testing.T) {
	no, yes := false, true
	other := "http://127.0.0.1/other"
	for name, c := range map[string]struct {
		change admin.SubscriptionChange
		after  *admin.SubscriptionChange // a while later
		soon   string                    // shortly after the attempt
		rows   string
	}{
		"another URL": {
			change: admin.SubscriptionChange{URL: &other},
			soon:   "Status = 1 AND Attempts = 2",
			rows:   "Attempts = 2 AND URL = 'http://127.0.0.1/other'",
		},
		"disabled": {
			change: admin.SubscriptionChange{Enabled: &no},
			after:  &admin.SubscriptionChange{Enabled: &yes},
			soon:   "Status = 2 AND Attempts = 1",
			rows:   "Attempts = 2",
		},
		"ordered": {
			change: admin.SubscriptionChange{Ordered: &yes},
			soon:   "Status = 2 AND Attempts = 1",
			rows:   "Attempts = 2",
		},
		"and back": {
			change: admin.SubscriptionChange{Ordered: &yes},
			after:  &admin.SubscriptionChange{Ordered: &no},
			soon:   "Status = 2 AND Attempts = 1",
			rows:   "Attempts = 2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				r := x.subscribe("http://127.0.0.1/hook", "*")
				gate := x.startAttempt(422)
				change := func(c admin.SubscriptionChange) {
					if _, err := x.service.ChangeSubscription(context.Background(), x.subscriber, r.GUID, c, admin.Caller{Admin: true}); err != nil {
						t.Fatal(err)
					}
				}
				change(c.change)
				gate.Open()
				x.advance(100 * time.Millisecond)
				x.expect("SY_WebhookMessage WHERE "+c.soon, 1)
				if c.after != nil {
					change(*c.after)
				}
				x.advance(time.Minute)
				x.expect("SY_WebhookMessage WHERE Status = 1 AND "+c.rows, 1)
			})
		})
	}
}

// TestDeletedInFlight deletes a message or its subscription during an attempt.
func TestDeletedInFlight(t *testing.T) {
	for name, remove := range map[string]func(x *simulation, r webhook.Subscription, message string) error{
		"the message": func(x *simulation, r webhook.Subscription, message string) error {
			return x.service.RemoveMessage(context.Background(), admin.Address{Subscriber: x.subscriber, Subscription: r.GUID, Message: message})
		},
		"the subscription": func(x *simulation, r webhook.Subscription, _ string) error {
			return x.service.RemoveSubscription(context.Background(), x.subscriber, r.GUID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				r := x.subscribe("http://127.0.0.1/hook", "*")
				gate := x.startAttempt(503)
				var id string
				for id = range x.fakeSender.sent {
				}
				if err := remove(x, r, id); err != nil {
					t.Fatal(err)
				}
				gate.Open()
				x.advance(10 * time.Minute)
				x.expect("WH_MessageView", 0)
				if x.fakeSender.sent[id] != 1 {
					t.Errorf("the message was sent %d times", x.fakeSender.sent[id])
				}
				clear(x.fakeSender.sent) // deleted messages have no recorded attempts
				x.exec("DELETE FROM SY_WebhookMessage; DELETE FROM SY_WebhookMessageResponse; DELETE FROM WH_Event")
			})
		})
	}
}

// TestLateOutcomeIsFenced disconnects one of two engines from the store during an
// attempt. The other one takes over its messages and delivers them; the outcome of the
// late attempt changes nothing.
func TestLateOutcomeIsFenced(t *testing.T) {
	for name, late := range map[string]int{"late success": 200, "late failure": 503} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				x.subscribe("http://127.0.0.1/hook", "*")
				x.stop(testTimeout)
				x.term = time.Minute
				x.startEngine()
				first, second := x, x.startPeer()
				gate := first.startAttempt(late) // only the second attempt is sent
				first.faultyStore.SetRule(deliverytest.Refuse(deliverytest.Unavailable("cut off")), deliverytest.Renew, deliverytest.TakeOver, deliverytest.Write)
				x.exec("UPDATE WH_Partition SET LeaseUntil = '' WHERE PartitionID = 1")
				second.advance(3 * time.Minute)
				x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1 AND HTTPCode = 200", 1)
				first.faultyStore.SetRule(nil, deliverytest.Renew, deliverytest.TakeOver, deliverytest.Write)
				gate.Open()
				first.advance(3 * time.Minute)
				x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1 AND HTTPCode = 200", 1)
				x.expect("SY_WebhookMessageResponse", 1)
				first.publish("debtor.updated", "y") // under a new lease
				second.publish("debtor.updated", "z")
				x.advance(time.Minute)
				x.expect("SY_WebhookMessage WHERE Status = 1", 3)
				second.stop(testTimeout)
				clear(x.fakeSender.sent) // one attempt more than recorded, of the same message
				clear(x.fakeSender.delivered)
			})
		})
	}
}

// TestLateOutcomeRefusesOneEvent publishes while the outcome of an attempt waits to be
// written, after its partition was taken over: only the event that finds this out is refused.
func TestLateOutcomeRefusesOneEvent(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.subscribe("http://127.0.0.1/hook", "*")
		x.stop(testTimeout)
		x.term = time.Minute
		x.startEngine()
		first, second := x, x.startPeer()
		gate := first.startAttempt(200)
		first.faultyStore.SetRule(deliverytest.Refuse(deliverytest.Unavailable("cut off")), deliverytest.Renew, deliverytest.TakeOver, deliverytest.Write)
		x.exec("UPDATE WH_Partition SET LeaseUntil = '' WHERE PartitionID = 1")
		second.advance(3 * time.Minute)
		first.faultyStore.SetRule(nil, deliverytest.Renew, deliverytest.TakeOver, deliverytest.Write)
		gate.Open()
		time.Sleep(time.Millisecond)
		for _, refused := range []bool{true, false} {
			_, err := first.engine.Publish(context.Background(), delivery.Post{Name: "debtor.updated", Body: []byte("{}")})
			if fault.Is(err, fault.Unavailable) != refused {
				t.Errorf("refused: %v, want %t", err, refused)
			}
			time.Sleep(3500 * time.Microsecond) // then the outcome joins the event
		}
		x.advance(5 * time.Minute)
		second.stop(testTimeout)
		clear(x.fakeSender.sent) // one attempt more than recorded
		clear(x.fakeSender.delivered)
	})
}
