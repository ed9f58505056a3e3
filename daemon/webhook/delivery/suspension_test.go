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

// suspendedEngine returns an engine with a queue.
func suspendedEngine(t *testing.T, q *queue) *Engine {
	t.Helper()
	e := New(Config{Sender: forbiddenSender{t}, LeaseTerm: time.Minute, Attempts: 10})
	e.core.clock.read.Store(&reading{local: time.Now(), store: noon})
	e.dispatcher.sending = t.Context()
	e.queues.leases.renewed = time.Now()
	e.queues.byID[q.id] = q
	return e
}

// deliverAfterSuspension takes a message, lets the lease expire, and then starts the attempt.
func (e *Engine) deliverAfterSuspension(q *queue) {
	m := q.take(noon)
	started := e.dispatcher.begin(q, m, q.budget.tierOf(q))
	e.queues.leases.renewed = time.Now().Add(-e.LeaseTerm)
	e.dispatcher.deliver(started)
}

// TestNoAttemptAfterSuspension suspends the process between taking a message and its
// attempt, while the lease expires. The message is left to the next holder of the
// lease.
func TestNoAttemptAfterSuspension(t *testing.T) {
	for name, ordered := range map[string]bool{"without an order": false, "in order": true} {
		t.Run(name, func(t *testing.T) {
			q := testQueue(ordered)
			e := suspendedEngine(t, q)
			m := waitingMessage(7, 0)
			q.admit(m, true)
			e.deliverAfterSuspension(q)

			if n := len(q.unsettled); n > 0 {
				t.Errorf("%d messages are unsettled, want none", n)
			}
			if n, total := q.endpoint.inFlight, e.queues.budget.slots.inFlight; n > 0 || total > 0 {
				t.Errorf("%d attempts of the queue and %d in total are in flight, want none", n, total)
			}
			expectRead(t, q, m, noon.Add(time.Second))
		})
	}
}

// TestSuspensionKeepsOrder checks that later messages wait for the one that was not sent.
func TestSuspensionKeepsOrder(t *testing.T) {
	q := testQueue(true)
	e := suspendedEngine(t, q)
	q.admit(waitingMessage(7, 0), true)
	q.admit(waitingMessage(8, 0), true)
	e.deliverAfterSuspension(q)
	expectNoneTaken(t, q, "message 7 was not sent")
}
