package delivery

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// dispatcher runs attempts: it selects queues in turn and processes the outcome of each
// attempt.
type dispatcher struct {
	*core
	lastTier int // index of the tier of the last attempt

	sending       context.Context    // context of running attempts
	cancelSending context.CancelFunc // cancels sending
	attempts      sync.WaitGroup
	disableChecks sync.WaitGroup
}

// attempt is a running attempt.
type attempt struct {
	queue   *queue
	message *webhook.Message
	tier    *tier // that the attempt counts for
}

// maxUnsaved is the number of unwritten results above which no attempts are started.
const maxUnsaved = 4096

// dispatch starts attempts while queues are ready and the limit allows. The lock of the
// queues is held.
func (d *dispatcher) dispatch() {
	for d.queues.budget.inFlight() < d.Attempts {
		a := d.next()
		if a == nil {
			return
		}
		d.attempts.Go(func() { d.deliver(a) })
	}
}

// next takes the next message from the queues in turn, nil if there is none. A queue
// with more messages goes to the end of its ring. The lock of the queues is held.
func (d *dispatcher) next() *attempt {
	for !d.queues.stopped {
		t := d.nextTier()
		if t == nil || d.queues.leases.nearExpiry() {
			return nil
		}
		if _, unsaved := d.pending.depth(); unsaved > maxUnsaved {
			return nil
		}
		q := t.ring[0]
		t.ring[0] = nil
		t.ring = t.ring[1:]
		q.inRing = false
		m := q.take(d.Now())
		d.queues.schedule(q)
		if m != nil {
			t.inFlight++
			return &attempt{q, m, t}
		}
	}
	return nil
}

// nextTier returns the next tier in the rotation that may start an attempt, nil if
// there is none.
func (d *dispatcher) nextTier() *tier {
	tiers := &d.queues.budget.tiers
	for range tiers {
		d.lastTier = 1 - d.lastTier
		if t := &tiers[d.lastTier]; len(t.ring) > 0 && t.inFlight < t.maxAttempts {
			return t
		}
	}
	return nil
}

// deliver runs attempts until no queue is ready.
func (d *dispatcher) deliver(a *attempt) {
	for a != nil {
		sub := d.approve(a.queue)
		var o webhook.Outcome
		if sub != nil {
			began := d.Now()
			o = d.Sender.Send(d.sending, a.message, sub, d.storeTime())
			o.Began = began // by Now, like the due times; the time of the signature can be behind it
		}
		a = d.finish(a, o, sub != nil && d.sending.Err() == nil)
	}
}

// approve returns the subscription for an attempt that starts now. It returns nil if
// the subscription was deleted or a lease may expire, because the process was suspended
// since the message was taken.
func (d *dispatcher) approve(q *queue) *webhook.Subscription {
	d.queues.mu.Lock()
	defer d.queues.mu.Unlock()
	if d.queues.leases.nearExpiry() {
		return nil
	}
	return q.sub
}

// finish ends an attempt and returns the next one, nil if there is none.
func (d *dispatcher) finish(a *attempt, o webhook.Outcome, counts bool) *attempt {
	if counts {
		d.decide(a.message, o)
	}
	d.queues.mu.Lock()
	defer d.queues.mu.Unlock()
	a.queue.endpoint.inFlight--
	a.tier.inFlight--
	if counts {
		d.observe(a.queue, a.message, o)
	} else {
		a.queue.putBack(a.message)
	}
	d.queues.schedule(a.queue)
	return d.next()
}

// stop waits for running attempts, and cancels them once ctx is done.
func (d *dispatcher) stop(ctx context.Context) {
	cut := context.AfterFunc(ctx, d.cancelSending)
	d.attempts.Wait()
	cut()
	d.cancelSending()
}

// decide computes and queues the message's next state.
func (d *dispatcher) decide(m *webhook.Message, o webhook.Outcome) {
	sub := d.queues.Subscriptions().Subscription(m.Subscription)
	after := webhook.Decide(m.State, o, d.policyFor(sub), d.Now(), rand.Float64())
	reason := ""
	if o.Disables() && sub != nil && m.URL == sub.URL {
		reason = "the endpoint responded with 410 Gone"
		if o.Disable {
			reason = "requested by the endpoint (webhook-delivery: disable)"
		}
	}
	delay := resultDelay
	if sub != nil && (sub.Order.All || sub.Order.ByKey && m.Event.Key != "") {
		delay = orderedDelay
	}
	d.pending.record(webhook.AttemptResult{Message: m, After: after, Outcome: o}, reason, delay)
}

// observe updates a queue's endpoint after an attempt. An attempt at an earlier URL of
// the subscription is ignored. The lock of the queues is held.
func (d *dispatcher) observe(q *queue, m *webhook.Message, o webhook.Outcome) {
	if q.sub == nil || m.URL != q.sub.URL {
		return
	}
	now, policy, tier := d.Now(), d.policyFor(q.sub), q.budget.tierOf(q)
	e := &q.endpoint
	e.throttle.observe(o)
	e.breaker.observe(o, policy.Schedule, now)
	if e.health.observe(o, now) {
		d.pending.setHealth(Health{Subscription: q.id, Since: e.health.since})
	}
	if !e.health.checking && q.enabled() && e.health.shouldDisable(policy, now) {
		e.health.checking = true
		since := e.health.since
		d.disableChecks.Go(func() { d.disableIfFailing(d.sending, q.id, since) })
	}
	moved := tier != q.budget.tierOf(q)
	if moved {
		tier.remove(q)
	}
	if len(q.window.known) > 0 && (e.breaker.open() || tier.scarce() && moved) {
		q.drop() // so that messages for a failing endpoint do not use the memory of others
	}
}

// disableIfFailing disables a subscription that has failed for too long, unless the
// store shows a success, possibly of another daemon.
func (d *dispatcher) disableIfFailing(ctx context.Context, subscription int64, since time.Time) {
	succeeded, err := d.Store.Succeeded(ctx, subscription, since)
	d.queues.mu.Lock()
	defer d.queues.mu.Unlock()
	q := d.queues.byID[subscription]
	switch {
	case q == nil:
	case err != nil:
		q.endpoint.health.checking = false // the next failure starts another check
	case succeeded:
		q.endpoint.health = health{}
	default:
		reason := fmt.Sprintf("every attempt since %s has failed", since.UTC().Format(time.RFC3339))
		d.pending.disable(Disabled{subscription, reason, d.Now()})
	}
}
