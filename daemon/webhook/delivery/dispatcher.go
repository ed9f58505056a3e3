package delivery

import (
	"container/list"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/webhook"
)

// dispatcher runs attempts: it selects queues in turn and processes the outcome of each
// attempt.
type dispatcher struct {
	*core
	pause    *pause
	running  list.List // the running attempts by their start; guarded by the lock of the queues
	lastTier int       // index of the tier of the last attempt

	sending       context.Context    // context of running attempts
	cancelSending context.CancelFunc // cancels sending
	attempts      sync.WaitGroup
	disableChecks sync.WaitGroup
}

// attempt is a running attempt.
type attempt struct {
	queue    *queue
	message  *webhook.Message
	sub      *webhook.Subscription // as it was at the start; nil if the attempt must not start
	endpoint *endpoint             // that the attempt counts for
	tier     *tier                 // that the attempt counts for
	probe    bool                  // it shows whether a pause is over
	withheld bool                  // the owner of the subscription may not read the event
	began    time.Time
	element  *list.Element // element of the running attempts
	ctx      context.Context
	cancel   context.CancelFunc
}

// isAtOldURL reports whether the URL of the subscription has changed since the start. It may have
// changed back.
func (a *attempt) isAtOldURL() bool { return a.endpoint != a.queue.endpoint }

// maxUnsaved is the number of unwritten results above which no attempts are started.
const maxUnsaved = 4096

// dispatch starts attempts while queues are ready and the limit allows. The lock of the
// queues is held.
func (d *dispatcher) dispatch() {
	for {
		a := d.next()
		if a == nil {
			return
		}
		d.attempts.Go(func() { d.deliver(a) })
	}
}

// next takes the next message from the queues in turn, nil if there is none or if no attempt
// may start. A queue with more messages goes to the end of its rotation. The lock of the queues
// is held.
func (d *dispatcher) next() *attempt {
	for !d.queues.stopped {
		now := d.Now()
		if d.queues.leases.nearExpiry() || !d.pause.allows(now) {
			return nil
		}
		if _, unsaved := d.pending.depth(); unsaved > maxUnsaved {
			return nil
		}
		q, t := d.nextQueue()
		if q == nil {
			return nil
		}
		var m *webhook.Message
		if t == &d.queues.budget.replays {
			m = q.takeReplay(now)
		} else {
			q.isReady = false
			m = q.take(now)
		}
		d.queues.schedule(q)
		if m != nil {
			return d.begin(q, m, t)
		}
	}
	return nil
}

// nextQueue removes and returns the next queue that may start an attempt, from the tiers in
// turn; nil if there is none. Replays wait for all other messages.
func (d *dispatcher) nextQueue() (*queue, *tier) {
	budget := d.queues.budget
	next := func(t *tier) *queue {
		return t.ready.next(func(subscriber string) bool {
			return t.slots.allow(subscriber) && budget.slots.allow(subscriber)
		})
	}
	for range budget.tiers {
		d.lastTier = 1 - d.lastTier
		t := &budget.tiers[d.lastTier]
		if q := next(t); q != nil {
			return q, t
		}
	}
	return next(&budget.replays), &budget.replays
}

// begin records the start of an attempt. The lock of the queues is held.
func (d *dispatcher) begin(q *queue, m *webhook.Message, t *tier) *attempt {
	d.queues.budget.slots.take(q.subscriber)
	t.slots.take(q.subscriber)
	a := &attempt{
		queue:    q,
		message:  m,
		endpoint: q.endpoint,
		tier:     t,
		probe:    d.pause.active(),
		began:    time.Now(),
	}
	if a.probe {
		d.pause.probeStarted(d.Now())
	}
	a.ctx, a.cancel = context.WithCancel(d.sending)
	a.element = d.running.PushBack(a)
	return a
}

// end reverses begin. The lock of the queues is held.
func (d *dispatcher) end(a *attempt) {
	a.cancel()
	d.running.Remove(a.element)
	a.endpoint.inFlight--
	if a.tier == &d.queues.budget.replays {
		a.endpoint.replaying--
	}
	a.tier.slots.release(a.queue.subscriber)
	d.queues.budget.slots.release(a.queue.subscriber)
}

// cancel cancels the running attempts of a queue. The lock of the queues is held.
func (d *dispatcher) cancel(q *queue) {
	for e := d.running.Front(); e != nil; e = e.Next() {
		if a := e.Value.(*attempt); a.queue == q {
			a.cancel()
		}
	}
}

// oldestAttempt returns how long the oldest running attempt has been running, 0 if there is none.
func (d *dispatcher) oldestAttempt() time.Duration {
	d.queues.mu.Lock()
	defer d.queues.mu.Unlock()
	if oldest := d.running.Front(); oldest != nil {
		return time.Since(oldest.Value.(*attempt).began)
	}
	return 0
}

// paused describes the current pause, empty if there is none, and its error message.
func (d *dispatcher) paused() (problem, detail string) {
	d.queues.mu.Lock()
	defer d.queues.mu.Unlock()
	return d.pause.problem(), d.pause.detail
}

// resume starts a probe when a pause is over. If no message is due, it ends the pause.
func (d *dispatcher) resume() {
	d.queues.mu.Lock()
	defer d.queues.mu.Unlock()
	now := d.Now()
	if d.pause.active() && d.pause.allows(now) && !d.hasReady() {
		d.pause.end(now)
	}
	d.dispatch()
}

// hasReady reports whether a queue may start an attempt. The lock of the queues is held.
func (d *dispatcher) hasReady() bool {
	for i := range d.queues.budget.tiers {
		if len(d.queues.budget.tiers[i].ready.turns) > 0 {
			return true
		}
	}
	return len(d.queues.budget.replays.ready.turns) > 0
}

// deliver runs attempts until no queue is ready.
func (d *dispatcher) deliver(a *attempt) {
	for a != nil {
		d.approve(a)
		var o webhook.Outcome
		if a.sub != nil {
			began := d.Now()
			o = d.Sender.Send(a.ctx, a.message, a.sub, d.storeTime())
			o.Began = began // by Now, like the due times; the time of the signature can be behind it
		}
		valid := a.sub != nil && (a.ctx.Err() == nil || o.Success())
		a = d.finish(a, o, valid)
	}
}

// approve sets the subscription of an attempt as it is now: its URL, headers, secrets and rights
// belong together. An attempt must not start if the subscription was deleted, if its owner may
// not read the event, or if a lease may expire because the process was suspended since the
// message was taken.
func (d *dispatcher) approve(a *attempt) {
	d.queues.mu.Lock()
	defer d.queues.mu.Unlock()
	sub := a.queue.sub
	if sub == nil || a.isAtOldURL() || d.queues.leases.nearExpiry() {
		return
	}
	a.withheld = sub.Withholds(a.message.Event.Name)
	if !a.withheld {
		a.sub = sub
	}
}

// finish ends an attempt and returns the next one, nil if there is none. An attempt that is not
// valid was not made or was cancelled.
func (d *dispatcher) finish(a *attempt, o webhook.Outcome, valid bool) *attempt {
	excused := valid && d.excuse(a, o)
	counts := valid && !excused

	d.queues.mu.Lock()
	defer d.queues.mu.Unlock()
	d.end(a)
	if a.sub == nil { // no request was sent
		a.queue.rate.putBack()
	}
	switch {
	case a.withheld:
		a.queue.withhold(a.message, d.Now())
	case counts:
		o.Own = ""
		d.decide(a, o)
		d.observe(a, o)
		a.endpoint.hold.reset()
	case excused:
		d.recorder.CountUncharged(o.Own)
		d.holdBack(a, o)
		a.queue.putBack(a.message)
	default:
		a.queue.putBack(a.message)
	}
	showsRecovery := a.probe && valid && !o.Own.AffectsAll()
	if showsRecovery && d.pause.active() {
		d.pause.end(d.Now())
		d.dispatch()
	}
	d.queues.schedule(a.queue)
	return d.next()
}

// excuse reports whether an attempt is not counted because of a failure of our own.
func (d *dispatcher) excuse(a *attempt, o webhook.Outcome) bool {
	if o.Own != webhook.ConnectionLost {
		return o.Own != ""
	}
	d.queues.mu.Lock()
	defer d.queues.mu.Unlock()
	return a.endpoint.excuse.use(a.message, d.Now())
}

// holdBack delays further attempts after a failure of our own: all of them, or those of the
// queue. After a lost connection the message is attempted again at once. The lock of the queues
// is held.
func (d *dispatcher) holdBack(a *attempt, o webhook.Outcome) {
	now := d.Now()
	if o.Own.AffectsAll() {
		if !d.pause.active() {
			d.pause.begin(o, now)
		} else if a.probe {
			d.pause.prolong(o, now)
		}
		return
	}
	if o.Own == webhook.ConnectionLost {
		return
	}
	hold := &a.endpoint.hold
	if hold.begin(o.Own, now) {
		d.Log.Warn("the messages for an endpoint wait; no retries are used up",
			"reason", webhook.OwnFailures[o.Own], "detail", o.Detail, "until", hold.until.UTC().Format(time.RFC3339))
	}
}

// stop waits for running attempts, and cancels them once ctx is done.
func (d *dispatcher) stop(ctx context.Context) {
	keepSending := context.AfterFunc(ctx, d.cancelSending)
	d.attempts.Wait()
	d.pause.stop()
	keepSending()
	d.cancelSending()
}

// maxTestDelay is the longest time until a retry of a test message. Its result is not awaited for longer,
// and hours later it would surprise the receiver.
const maxTestDelay = time.Minute

// decide computes and queues the next state of the message of an attempt. A message that has
// failed at an old URL is due at the new one at once. The lock of the queues is held.
func (d *dispatcher) decide(a *attempt, o webhook.Outcome) {
	m := a.message
	now := d.Now()
	sub := d.queues.Subscriptions().Subscription(m.Subscription)
	policy := d.policyFor(sub)
	if sub != nil && hasOrder(sub, m) { // the queue waits for it
		policy.RetryAfterMax = min(policy.RetryAfterMax, maxRetryAfter)
	}
	spread := rand.Float64()
	after := webhook.Decide(m.State, o, policy, now, spread)
	if _, isTest := record.SentEvent(m.Event.Name); isTest && after.Next.Sub(now) > maxTestDelay {
		after = webhook.State{Status: webhook.Failed, Attempts: after.Attempts}
	}
	postponed := isPostponed(m, o, policy, after, now, spread)
	moved := sub != nil && a.isAtOldURL()
	if moved && !o.Success() {
		after.Status = webhook.RetryPending
		after.Next = now
		after.Replay = m.Replay
		postponed = false
	}

	disableReason := ""
	if o.Disables() && sub != nil && !moved {
		disableReason = "the endpoint responded with 410 Gone"
		if o.Disable {
			disableReason = "requested by the endpoint (webhook-delivery: disable)"
		}
	}

	delay := resultDelay
	if sub != nil && hasOrder(sub, m) {
		delay = orderedDelay
	} else if m.Replay {
		delay = replayDelay
	}
	result := webhook.AttemptResult{Message: m, URL: a.sub.URL, After: after, Postponed: postponed, Outcome: o}
	d.pending.record(result, disableReason, delay)
	if after.Status == webhook.Failed {
		d.reportFailed(a.queue, m, after, o)
	}
}

// hasOrder reports whether other messages of a subscription may wait for this one.
func hasOrder(sub *webhook.Subscription, m *webhook.Message) bool {
	return sub.Order.All || sub.Order.ByKey && m.Event.Key != ""
}

// observe updates a queue's endpoint after an attempt. An attempt at an old URL of the
// subscription is ignored. The lock of the queues is held.
func (d *dispatcher) observe(a *attempt, o webhook.Outcome) {
	q := a.queue
	if q.sub == nil || a.isAtOldURL() {
		return
	}
	now := d.Now()
	policy := d.policyFor(q.sub)
	tier := q.budget.tierOf(q)

	e := a.endpoint
	e.throttle.observe(o)
	e.observeRetryAfter(o, policy, now)
	e.durations.observe(o)
	isProbe := a.message != q.requests.underway // a failure of a requested message does not delay the next probe
	if isProbe || !e.breaker.open() || !o.EndpointFailure() {
		e.breaker.observe(o, a.message.Attempts == 0, policy.Schedule, now)
	}
	if !e.breaker.open() {
		q.probes = probes{}
		requested := q.requests.end()
		if requested != nil {
			q.evict(requested) // it follows with all others
		}
	}
	d.observeHealth(q, e, o, policy)
	d.reportEndpoint(q, o)

	moved := tier != q.budget.tierOf(q)
	if moved {
		tier.remove(q)
	}
	// Messages for a failing endpoint must not use the memory of others.
	mustDrop := e.breaker.open() || moved && tier.scarce()
	if mustDrop && q.inMemory() > 0 {
		for _, m := range q.window.retries {
			q.probes.add(m)
		}
		q.drop()
	}
}

// observeHealth records whether an endpoint has failed since its last success, and starts a check
// if it has failed for too long. The lock of the queues is held.
func (d *dispatcher) observeHealth(q *queue, e *endpoint, o webhook.Outcome, policy webhook.Policy) {
	now := d.Now()
	if e.health.observe(o, now) {
		d.pending.setHealth(Health{Subscription: q.id, Since: e.health.since})
	}
	if e.health.checking || !q.enabled() || !e.health.shouldDisable(policy, now) {
		return
	}
	e.health.checking = true
	since := e.health.since
	d.disableChecks.Go(func() { d.disableIfFailing(d.sending, q.id, since) })
}

// disableIfFailing disables a subscription that has failed for too long, unless the
// store shows a success, possibly of another daemon.
func (d *dispatcher) disableIfFailing(ctx context.Context, subscription int64, since time.Time) {
	succeeded, err := d.Store.Succeeded(ctx, subscription, since)
	d.queues.mu.Lock()
	defer d.queues.mu.Unlock()
	q := d.queues.byID[subscription]
	switch {
	case q == nil || !q.endpoint.health.since.Equal(since): // a success, or a new URL
	case err != nil:
		q.endpoint.health.checking = false // the next failure starts another check
	case succeeded:
		tier := d.queues.budget.tierOf(q)
		q.endpoint.health = health{}
		if tier != d.queues.budget.tierOf(q) {
			tier.remove(q)
			d.queues.schedule(q)
		}
	default:
		reason := fmt.Sprintf("every attempt since %s has failed", since.UTC().Format(time.RFC3339))
		d.pending.disable(Disabled{Subscription: subscription, Reason: reason, At: d.Now()})
	}
}
