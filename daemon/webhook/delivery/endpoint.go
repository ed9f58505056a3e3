package delivery

import (
	"net/http"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// endpoint is what is known of where a queue's messages go, and how many attempts
// at once it gets.
type endpoint struct {
	breaker  breaker
	throttle throttle
	health   health
	inFlight int // attempts under way
	daemons  int // that share the endpoint
}

// newEndpoint makes the endpoint of a subscription, which gets limit attempts at once
// at most. One that has only failed lately is probed first.
func newEndpoint(sub *webhook.Subscription, limit int) endpoint {
	e := endpoint{health: health{since: sub.FailingSince}, throttle: throttle{limit: min(initialLimit, limit), max: limit}, daemons: 1}
	if !sub.FailingSince.IsZero() {
		e.breaker.failures = breakerFailures
	}
	return e
}

// share is how many attempts this daemon may have under way: its part of what
// the endpoint gets.
func (e *endpoint) share() int { return max(1, e.throttle.limit/e.daemons) }

// failing reports whether nothing has succeeded since a failure.
func (e *endpoint) failing() bool { return !e.health.since.IsZero() }

// available reports whether the endpoint may get an attempt.
func (e *endpoint) available(now time.Time) bool {
	if e.breaker.open() {
		return e.inFlight == 0 && !now.Before(e.breaker.probe)
	}
	return e.inFlight < e.share()
}

// breakerFailures is how many failures in a row open a queue's breaker.
const breakerFailures = 5

// maxProbeInterval bounds the time between probes of an endpoint that is in
// trouble, so that the first success is noticed long before the last step of
// the schedule.
const maxProbeInterval = 10 * time.Minute

// breaker keeps a queue from spending its messages' attempts on an endpoint that
// is in trouble. While it is open one message goes out at each step of the
// schedule; those behind it wait and their attempts do not count.
type breaker struct {
	failures int // in a row
	step     int // of the schedule, while open
	probe    time.Time
}

func (b *breaker) open() bool { return b.failures >= breakerFailures }

// observe counts an attempt.
func (b *breaker) observe(o webhook.Outcome, schedule []time.Duration, now time.Time) {
	if !o.EndpointFailure() {
		*b = breaker{}
		return
	}
	if b.open() && now.Before(b.probe) {
		return // no probe: it was under way when the breaker opened
	}
	if b.failures++; !b.open() {
		return
	}
	wait := maxProbeInterval
	if b.step < len(schedule) {
		wait = min(wait, schedule[b.step])
		b.step++
	}
	b.probe = now.Add(wait)
}

// The bounds of the number of attempts that a queue has under way.
const (
	initialLimit = 8
	fastResponse = time.Second // an answer within this time lets the limit grow
)

// throttle finds how many attempts at once do an endpoint good: one more for
// each round of quick successes, half as many after a time-out or 429.
type throttle struct {
	limit, max int
	successes  int // quick successes since the limit changed
}

func (t *throttle) observe(o webhook.Outcome) {
	switch {
	case o.Cause == webhook.TimedOut || o.Code == http.StatusTooManyRequests:
		t.limit, t.successes = max(1, t.limit/2), 0
	case o.Success() && o.Took < fastResponse && t.limit < t.max:
		if t.successes++; t.successes >= t.limit {
			t.limit, t.successes = t.limit+1, 0
		}
	}
}

// health is how long an endpoint has done nothing but fail. Unlike the breaker
// it counts every failure, also those that speak of one message only: what is sent
// there is not read.
type health struct {
	since    time.Time // of the first failure after the last success, the zero time for none
	failures int       // counted since then, by this daemon
	checking bool      // is being looked into
}

// observe counts an attempt, and reports whether there is something to write down.
func (h *health) observe(o webhook.Outcome, now time.Time) (changed bool) {
	if o.Success() {
		changed = !h.since.IsZero()
		*h = health{}
		return changed
	}
	h.failures++
	if h.since.IsZero() {
		h.since = now
		return true
	}
	return false
}

// shouldDisable reports whether it has gone on for so long, and with so many
// attempts, that the subscription is to be disabled.
func (h *health) shouldDisable(p webhook.Policy, now time.Time) bool {
	return p.DisableAfter > 0 && h.failures > p.MaxRetries() && now.Sub(h.since) >= p.DisableAfter
}
