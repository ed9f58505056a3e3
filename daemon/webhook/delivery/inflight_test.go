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
		change      admin.SubscriptionChange
		laterChange *admin.SubscriptionChange // after the attempt
		soon        string                    // condition of the message shortly after the attempt
		delivered   string                    // condition of the message in the end
	}{
		"another URL": {
			change:    admin.SubscriptionChange{URL: &other},
			soon:      "Status = 1 AND Attempts = 2",
			delivered: "Attempts = 2 AND URL = 'http://127.0.0.1/other'",
		},
		"disabled": {
			change:      admin.SubscriptionChange{Enabled: &no},
			laterChange: &admin.SubscriptionChange{Enabled: &yes},
			soon:        "Status = 2 AND Attempts = 1",
			delivered:   "Attempts = 2",
		},
		"ordered": {
			change:    admin.SubscriptionChange{Ordered: &yes},
			soon:      "Status = 2 AND Attempts = 1",
			delivered: "Attempts = 2",
		},
		"and back": {
			change:      admin.SubscriptionChange{Ordered: &yes},
			laterChange: &admin.SubscriptionChange{Ordered: &no},
			soon:        "Status = 2 AND Attempts = 1",
			delivered:   "Attempts = 2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				r := x.subscribe("http://127.0.0.1/hook", "*")
				gate := x.startAttempt(422)
				x.changeSubscription(r, c.change)
				gate.Open()
				x.advance(100 * time.Millisecond)
				x.expect("SY_WebhookMessage WHERE "+c.soon, 1)

				if c.laterChange != nil {
					x.changeSubscription(r, *c.laterChange)
				}
				x.advance(time.Minute)
				x.expect("SY_WebhookMessage WHERE Status = 1 AND "+c.delivered, 1)
			})
		})
	}
}

// TestDeletedInFlight deletes a message or its subscription during an attempt.
func TestDeletedInFlight(t *testing.T) {
	for name, remove := range map[string]func(x *simulation, sub webhook.Subscription, message string){
		"the message":      (*simulation).removeMessage,
		"the subscription": func(x *simulation, sub webhook.Subscription, _ string) { x.removeSubscription(sub) },
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				sub := x.subscribe("http://127.0.0.1/hook", "*")
				gate := x.startAttempt(503)
				id := x.onlyMessage()
				remove(x, sub, id)
				gate.Open()
				x.advance(10 * time.Minute)

				x.expect("WH_MessageView", 0)
				if n := x.fakeSender.sent[id]; n != 1 {
					t.Errorf("the deleted message was sent %d times, want once", n)
				}
				clear(x.fakeSender.sent) // deleted messages have no recorded attempts
				x.exec("DELETE FROM SY_WebhookMessage; DELETE FROM SY_WebhookMessageResponse; DELETE FROM WH_Event")
			})
		})
	}
}

// onlyMessage returns the ID of the only message that is stored.
func (x *simulation) onlyMessage() string {
	x.t.Helper()
	ids := x.texts("SELECT RecID FROM SY_WebhookMessage")
	if len(ids) != 1 {
		x.t.Fatalf("%d messages are stored, want 1", len(ids))
	}
	return ids[0]
}

// storeCalls are the calls without which a daemon cannot use the store for its messages.
var storeCalls = []deliverytest.Call{deliverytest.Renew, deliverytest.TakeOver, deliverytest.Write}

// cutOff makes the calls of a daemon fail until reconnect.
func (x *simulation) cutOff() {
	x.faultyStore.SetRule(deliverytest.Refuse(deliverytest.Unavailable("cut off")), storeCalls...)
}

// reconnect ends cutOff.
func (x *simulation) reconnect() { x.faultyStore.SetRule(nil, storeCalls...) }

// expireLease lets the lease of the first partition expire.
func (x *simulation) expireLease() {
	x.t.Helper()
	x.exec("UPDATE WH_Partition SET LeaseUntil = '' WHERE PartitionID = 1")
}

// startTwo starts two daemons with leases, and returns the second one.
func (x *simulation) startTwo() *simulation {
	x.t.Helper()
	x.stop(testTimeout)
	x.term = time.Minute
	x.startEngine()
	return x.startPeer()
}

// TestLateOutcomeIsFenced disconnects one of two engines from the store during an
// attempt. The other one takes over its messages and delivers them; the outcome of the
// late attempt changes nothing.
func TestLateOutcomeIsFenced(t *testing.T) {
	for name, late := range map[string]int{"late success": 200, "late failure": 503} {
		t.Run(name, func(t *testing.T) {
			simulate(t, func(x *simulation) {
				x.subscribe("http://127.0.0.1/hook", "*")
				second := x.startTwo()
				gate := x.startAttempt(late) // only the second attempt is sent
				x.cutOff()
				x.expireLease()
				second.advance(3 * time.Minute)
				x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1 AND HTTPCode = 200", 1)

				x.reconnect()
				gate.Open()
				x.advance(3 * time.Minute)
				x.expect("SY_WebhookMessage WHERE Status = 1 AND Attempts = 1 AND HTTPCode = 200", 1)
				x.expect("SY_WebhookMessageResponse", 1)

				x.publish("debtor.updated", "y") // under a new lease
				second.publish("debtor.updated", "z")
				x.advance(time.Minute)
				x.expect("SY_WebhookMessage WHERE Status = 1", 3)
				second.stop(testTimeout)
				x.forget() // one attempt more than recorded, of the same message
			})
		})
	}
}

// TestLateOutcomeRefusesOneEvent publishes while the outcome of an attempt waits to be
// written, after its partition was taken over: only the event that finds this out is refused.
func TestLateOutcomeRefusesOneEvent(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.subscribe("http://127.0.0.1/hook", "*")
		second := x.startTwo()
		gate := x.startAttempt(200)
		x.cutOff()
		x.expireLease()
		second.advance(3 * time.Minute)
		x.reconnect()
		gate.Open()
		time.Sleep(time.Millisecond)

		const untilJoined = 3500 * time.Microsecond // then the outcome joins the event
		for i, wantRefused := range []bool{true, false} {
			_, err := x.engine.Publish(context.Background(), delivery.Post{Name: "debtor.updated", Body: []byte("{}")})
			if refused := fault.Is(err, fault.Unavailable); refused != wantRefused {
				t.Errorf("event %d is refused: %v (error %v), want %v", i+1, refused, err, wantRefused)
			}
			time.Sleep(untilJoined)
		}
		x.advance(5 * time.Minute)
		second.stop(testTimeout)
		x.forget() // one attempt more than recorded
	})
}
