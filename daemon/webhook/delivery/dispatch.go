package delivery

import (
	"context"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// schedule looks what a lane wants: a turn, a page, or to be looked at later. The
// engine's lock is held.
func (e *Engine) schedule(l *queue) {
	if e.stopped {
		return
	}
	now := e.Now()
	if !l.queued && l.ready(now) {
		l.queued = true
		t := e.budget.of(l)
		t.ring = append(t.ring, l)
	}
	if !l.needsRefill && l.recent == nil && l.refillFrom(now) != nil {
		l.needsRefill = true
		t := e.budget.of(l)
		t.refills = append(t.refills, l)
		signal(e.budget.refill)
	}
	e.setAlarm(l, now)
}

// setAlarm has the lane looked at when its next wait ends.
func (e *Engine) setAlarm(l *queue, now time.Time) {
	at := l.alarm(now)
	if at.IsZero() {
		return
	}
	if l.timer == nil {
		l.timer = time.AfterFunc(at.Sub(now), func() { e.awake(l) })
		return
	}
	l.timer.Reset(at.Sub(now))
}

func (e *Engine) awake(l *queue) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.schedule(l)
	e.dispatch()
}

// dispatch begins attempts while lanes are ready and the limit allows. The engine's
// lock is held.
func (e *Engine) dispatch() {
	for e.inFlight < e.Attempts {
		f := e.next()
		if f == nil {
			return
		}
		e.inFlight++
		e.attempts.Go(func() { e.deliver(f) })
	}
}

// attempt is an attempt under way.
type attempt struct {
	queue   *queue
	message *webhook.Message
	tier    *tier // whose attempt it is
}

// next gives the next lane its next. A lane with more to send goes to the end of
// its ring.
func (e *Engine) next() *attempt {
	for !e.stopped {
		t := e.nextRing()
		if t == nil || e.pending.unsaved() > maxUnsaved || e.lapsing() {
			return nil
		}
		l := t.ring[0]
		t.ring[0] = nil
		t.ring = t.ring[1:]
		l.queued = false
		m := l.take(e.Now())
		e.schedule(l)
		if m != nil {
			t.inFlight++
			return &attempt{l, m, t}
		}
	}
	return nil
}

// nextRing is the tier whose turn it is, nil where none has a lane that may begin
// an attempt.
func (e *Engine) nextRing() *tier {
	for range e.budget.tiers {
		e.turned = 1 - e.turned
		if t := &e.budget.tiers[e.turned]; len(t.ring) > 0 && t.inFlight < t.attempts {
			return t
		}
	}
	return nil
}

// deliver makes attempts until no lane is ready.
func (e *Engine) deliver(f *attempt) {
	for f != nil {
		sub := e.approve(f.queue)
		var o webhook.Outcome
		if sub != nil {
			o = e.Sender.Send(e.sending, f.message, sub, e.Now())
		}
		f = e.finish(f, o, sub != nil && e.sending.Err() == nil)
	}
}

// approve gives the subscription for an attempt that begins this moment, nil
// where it was deleted, or where this process has stood still since the lane got
// its turn, for so long that the lease may run out.
func (e *Engine) approve(l *queue) *webhook.Subscription {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lapsing() {
		return nil
	}
	return l.sub
}

// finish ends an attempt and gives the next one, if any may begin.
func (e *Engine) finish(f *attempt, o webhook.Outcome, counts bool) *attempt {
	l, m := f.queue, f.message
	if counts {
		e.decide(m, o)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	l.inFlight--
	f.tier.inFlight--
	if counts {
		e.noteOutcome(l, m, o)
	} else {
		l.putBack(m)
	}
	e.schedule(l)
	next := e.next()
	if next == nil {
		e.inFlight--
	}
	return next
}

// noteOutcome lets a lane learn from an attempt. One at the URL that the
// subscription had before says nothing about the endpoint that it has. The
// engine's lock is held.
func (e *Engine) noteOutcome(l *queue, m *webhook.Message, o webhook.Outcome) {
	if l.sub == nil || m.URL != l.sub.URL {
		return
	}
	now, policy, was := e.Now(), e.policyOf(l.sub), e.budget.of(l)
	l.throttle.note(o)
	l.breaker.note(o, policy.Schedule, now)
	e.noteHealth(l, o, policy, now)
	moved := was != e.budget.of(l)
	if moved {
		was.remove(l)
	}
	if len(l.known) > 0 && (l.open() || was.scarce() && moved) {
		l.drop() // what waits for an endpoint in trouble takes no memory from others
	}
}

// decide hands the ledger what becomes of a message.
func (e *Engine) decide(m *webhook.Message, o webhook.Outcome) {
	sub := e.snapshot().Subscription(m.Subscription)
	after := webhook.Decide(m.State, o, e.policyOf(sub), e.Now(), spread())
	reason := ""
	if o.Disables() && sub != nil && m.URL == sub.URL {
		reason = disabledBy(o)
	}
	e.pending.record(webhook.AttemptResult{Message: m, After: after, Outcome: o}, reason)
}

func disabledBy(o webhook.Outcome) string {
	if o.Disable {
		return "the endpoint asked for it (webhook-delivery: disable)"
	}
	return "the endpoint answered 410 Gone"
}

// policyOf is the policy of a subscription: the settings', with its own
// schedule where it has one.
func (e *Engine) policyOf(sub *webhook.Subscription) webhook.Policy {
	p := e.Policy()
	if sub != nil && sub.Schedule != nil {
		p.Schedule = sub.Schedule
	}
	return p
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// sleep waits for a signal, or for d where it is not 0. It reports false once
// ctx is done.
func (e *Engine) sleep(ctx context.Context, wake <-chan struct{}, d time.Duration) bool {
	var over <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-wake:
	case <-over:
	}
	return ctx.Err() == nil
}

// The bounds of the waits after failures in a row.
const (
	minBackoff = 100 * time.Millisecond
	maxBackoff = 5 * time.Second
)
