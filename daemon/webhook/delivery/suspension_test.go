package delivery

import (
	"context"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// forbiddenSender fails the test if an attempt is made.
type forbiddenSender struct{ t *testing.T }

// Send implements delivery.Sender.
func (s forbiddenSender) Send(context.Context, *webhook.Message, *webhook.Subscription, time.Time) webhook.Outcome {
	s.t.Error("an attempt starts under a lease that may expire")
	return webhook.Outcome{}
}

// TestNoAttemptAfterSuspension suspends the process between taking a message and its
// attempt, while the lease expires. The message is left to the next holder of the
// lease.
func TestNoAttemptAfterSuspension(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		e := New(Config{Sender: forbiddenSender{t}, LeaseTerm: time.Minute, Attempts: 10})
		e.core.clock.read.Store(&reading{local: time.Now(), store: noon})
		e.dispatcher.sending, e.queues.leases.renewed = t.Context(), time.Now()
		q := testQueue(ordered)
		e.queues.byID[q.id] = q
		q.admit(waitingMessage(7, 0), true)
		m := q.take(noon)
		started := e.dispatcher.begin(q, m, q.budget.tierOf(q))
		e.queues.leases.renewed = time.Now().Add(-e.LeaseTerm)
		e.dispatcher.deliver(started)
		if len(q.unsettled) > 0 || q.endpoint.inFlight > 0 || e.queues.budget.slots.inFlight > 0 || q.refillFrom(noon.Add(time.Second)) == nil {
			t.Errorf("ordered %v: the message stays here: %d unsettled, %d in flight, %d in all queues", ordered, len(q.unsettled), q.endpoint.inFlight, e.queues.budget.slots.inFlight)
		}
	}
}

// TestSuspensionKeepsOrder: later messages must wait for the one that was not sent.
func TestSuspensionKeepsOrder(t *testing.T) {
	e := New(Config{Sender: forbiddenSender{t}, LeaseTerm: time.Minute, Attempts: 10})
	e.core.clock.read.Store(&reading{local: time.Now(), store: noon})
	e.dispatcher.sending, e.queues.leases.renewed = t.Context(), time.Now()
	q := testQueue(true)
	e.queues.byID[q.id] = q
	q.admit(waitingMessage(7, 0), true)
	q.admit(waitingMessage(8, 0), true)
	m := q.take(noon)
	started := e.dispatcher.begin(q, m, q.budget.tierOf(q))
	e.queues.leases.renewed = time.Now().Add(-e.LeaseTerm)
	e.dispatcher.deliver(started)
	if m := q.take(noon); m != nil {
		t.Errorf("message %d overtakes message 7", m.ID)
	}
}
