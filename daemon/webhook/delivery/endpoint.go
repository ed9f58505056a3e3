package delivery

import (
	"net/http"
	"time"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/daemon/webhook"
)

// endpoint is the state of a subscription's endpoint, which determines the number of
// concurrent attempts.
type endpoint struct {
	breaker   breaker
	throttle  throttle
	health    health
	durations durations
	hold      hold
	retryAt   time.Time // end of a wait requested by Retry-After; zero after an attempt since then was accepted
	excuse    excuse
	inFlight  int // attempts in flight
	replaying int // how many of these are replays of a queue without an order
	daemons   int // number of daemons that send to the endpoint
}

// newEndpoint returns the endpoint of a subscription, with at most limit concurrent
// attempts. An endpoint that has been failing is probed first.
func newEndpoint(sub *webhook.Subscription, limit int) *endpoint {
	failingSince := sub.FailingSince
	if failingSince.Before(sub.MovedAt) { // at an earlier URL
		failingSince = time.Time{}
	}
	e := &endpoint{
		health:   health{since: failingSince},
		throttle: throttle{limit: min(initialLimit, limit), max: limit},
		hold:     hold{wait: newOwnFailureBackoff()},
		daemons:  1,
	}
	if !failingSince.IsZero() {
		e.breaker.failures = breakerFailures
	}
	return e
}

// share returns the maximum number of concurrent attempts of this daemon.
func (e *endpoint) share() int { return max(1, e.throttle.limit/e.daemons) }

// failing reports whether every attempt since the last success has failed.
func (e *endpoint) failing() bool { return !e.health.since.IsZero() }

// available reports whether an attempt may be started.
func (e *endpoint) available(now time.Time) bool {
	if now.Before(e.waitsUntil()) {
		return false
	}
	if e.breaker.open() {
		return e.inFlight == 0 && !now.Before(e.breaker.probe)
	}
	if !e.retryAt.IsZero() { // one attempt shows whether the endpoint accepts requests again
		return e.inFlight == 0
	}
	return e.inFlight < e.share()
}

// waitsUntil returns until when no attempt starts, zero if one may.
func (e *endpoint) waitsUntil() time.Time {
	if e.retryAt.After(e.hold.until) {
		return e.retryAt
	}
	return e.hold.until
}

// mayTry reports whether a single attempt may start although the circuit breaker is open.
func (e *endpoint) mayTry(now time.Time) bool {
	return e.inFlight == 0 && !now.Before(e.waitsUntil())
}

// endRequestedWait ends a wait requested by Retry-After.
func (e *endpoint) endRequestedWait() { e.retryAt = time.Time{} }

// nextProbe returns when the next probe may start while the circuit breaker is open.
func (e *endpoint) nextProbe() time.Time {
	if until := e.waitsUntil(); until.After(e.breaker.probe) {
		return until
	}
	return e.breaker.probe
}

// requestedWait returns the end of a wait that Retry-After requested, zero if there is none.
func (e *endpoint) requestedWait(now time.Time) time.Time {
	if now.Before(e.retryAt) {
		return e.retryAt
	}
	return time.Time{}
}

// maxRetryAfter is the longest time that an endpoint can hold back its queue, or in an order the
// message that others wait for. A message for which no other waits is held back longer if its policy
// allows that.
const maxRetryAfter = time.Hour

// observeRetryAfter holds back the queue if a response has requested that by Retry-After. After the
// wait, attempts are made one at a time until the endpoint accepts one.
func (e *endpoint) observeRetryAfter(o webhook.Outcome, p webhook.Policy, now time.Time) {
	isOverloaded := o.Code == http.StatusTooManyRequests || o.Code == http.StatusServiceUnavailable
	if !isOverloaded || o.RetryAfter == 0 {
		if !o.EndpointFailure() && !now.Before(e.retryAt) {
			e.retryAt = time.Time{}
		}
		return
	}
	until := now.Add(min(o.RetryAfter, p.RetryAfterMax, maxRetryAfter))
	if until.After(e.retryAt) {
		e.retryAt = until
	}
}

// breakerFailures is the number of consecutive failures that open a circuit breaker, and
// maxBreakerFailures that of an endpoint that recovers again and again.
const (
	breakerFailures    = 5
	maxBreakerFailures = 80
)

// maxProbeInterval limits the time between probes of a failing endpoint, so that a
// recovery is noticed long before the last step of the schedule.
const maxProbeInterval = 10 * time.Minute

// breaker is the circuit breaker of an endpoint. While it is open, one message is sent
// at each step of the schedule as a probe; the others are queued and use no attempts.
type breaker struct {
	failures  int // consecutive
	tolerance int // number of failures that open it; 0 for breakerFailures
	step      int // step of the schedule, while open
	probe     time.Time
}

// limit returns the number of failures that open the breaker.
func (b *breaker) limit() int { return max(breakerFailures, b.tolerance) }

func (b *breaker) open() bool { return b.failures >= b.limit() }

// observe records an attempt; isFirst reports whether it was the first one of its message. If
// only a retry shows that the endpoint has recovered, it is allowed twice as many failures before
// the breaker opens again: it may refuse the first attempt of each message.
func (b *breaker) observe(o webhook.Outcome, isFirst bool, schedule []time.Duration, now time.Time) {
	if !o.EndpointFailure() {
		tolerance := b.tolerance
		if isFirst {
			tolerance = 0
		} else if b.open() {
			tolerance = min(2*b.limit(), maxBreakerFailures)
		}
		*b = breaker{tolerance: tolerance}
		return
	}
	if b.open() && now.Before(b.probe) {
		return // not a probe: it was in flight when the breaker opened
	}
	if b.open() {
		b.tolerance = 0
	}
	b.failures++
	if !b.open() {
		return
	}
	wait := maxProbeInterval
	if b.step < len(schedule) {
		wait = min(wait, schedule[b.step])
		b.step++
	}
	b.probe = now.Add(wait)
}

// Bounds of the number of concurrent attempts of a queue.
const (
	initialLimit = 8
	fastResponse = time.Second // a response within this time lets the limit grow
)

// throttle adapts the number of concurrent attempts: plus one after limit fast
// successes, halved after a timeout or 429.
type throttle struct {
	limit, max int
	successes  int // fast successes since the limit changed
}

func (t *throttle) observe(o webhook.Outcome) {
	if o.Cause == webhook.TimedOut || o.Code == http.StatusTooManyRequests {
		t.limit = max(1, t.limit/2)
		t.successes = 0
		return
	}
	mayGrow := o.Success() && o.Took < fastResponse && t.limit < t.max
	if !mayGrow {
		return
	}
	t.successes++
	if t.successes >= t.limit {
		t.limit++
		t.successes = 0
	}
}

// slowAttempt is the average duration of attempts above which an endpoint counts as slow.
const slowAttempt = time.Second

// durations tracks how long the last attempts took. An endpoint that answers just before the time
// limit, or only every other time, never fails for good, but holds its attempts for as long as
// one that does.
type durations struct {
	took [8]time.Duration // the last attempts, in no order
	n    int              // attempts recorded
}

func (d *durations) observe(o webhook.Outcome) {
	d.took[d.n%len(d.took)] = o.Took
	d.n++
}

// areLong reports whether the last attempts took too long on average.
func (d *durations) areLong() bool {
	if d.n == 0 {
		return false
	}
	var sum time.Duration
	for _, took := range d.took {
		sum += took
	}
	return sum > slowAttempt*time.Duration(min(d.n, len(d.took)))
}

// hold keeps an endpoint's attempts back after a failure of our own that concerns only this
// endpoint, such as a lack of local ports for its address.
type hold struct {
	until   time.Time
	wait    backoff.Backoff
	failure webhook.OwnFailure // of the last attempt; empty if it had none
}

// begin starts or prolongs a hold. It returns false if there is one: attempts that were in flight
// before do not prolong it.
func (h *hold) begin(failure webhook.OwnFailure, now time.Time) bool {
	if now.Before(h.until) {
		return false
	}
	h.until = now.Add(h.wait.Next())
	h.failure = failure
	return true
}

// reset makes the next hold short again, after an attempt without such a failure.
func (h *hold) reset() {
	h.wait.Reset()
	h.failure = ""
}

// holdMemory is how long after a hold the next attempt starts at the latest, unless its message has
// been deleted.
const holdMemory = time.Minute

// blockedBy returns the failure of our own that holds attempts back now, empty if there is none.
func (e *endpoint) blockedBy(now time.Time) webhook.OwnFailure {
	isOver := e.inFlight == 0 && now.After(e.hold.until.Add(holdMemory))
	if isOver {
		return ""
	}
	return e.hold.failure
}

// How long lost connections of an endpoint are excused, and how long they are not after that.
const (
	excuseTime     = time.Second
	excuseInterval = 10 * time.Minute
)

// excuse limits the attempts that are not charged because their connection was lost. A failover
// takes all connections of an endpoint along at once. An endpoint that loses them again and again
// is charged.
type excuse struct {
	since    time.Time
	messages map[int64]bool // excused since then
}

// use excuses an attempt at a message that has lost its connection, and reports whether it may.
func (e *excuse) use(m *webhook.Message, now time.Time) bool {
	if now.Sub(e.since) >= excuseInterval {
		e.since = now
		e.messages = make(map[int64]bool)
	}
	if now.Sub(e.since) > excuseTime || e.messages[m.ID] {
		return false
	}
	e.messages[m.ID] = true
	return true
}

// health tracks how long an endpoint has failed without a success. Unlike breaker it
// counts all failures, including those that concern a single message.
type health struct {
	since    time.Time // time of the first failure after the last success, zero for none
	failures int       // counted since then by this daemon
	checking bool      // a check whether to disable the subscription is running
}

// observe records an attempt, and reports whether there is a change to be written.
func (h *health) observe(o webhook.Outcome, now time.Time) bool {
	if o.Success() {
		changed := !h.since.IsZero()
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

// shouldDisable reports whether the series of failures is long enough, in time and
// attempts, to disable the subscription.
func (h *health) shouldDisable(p webhook.Policy, now time.Time) bool {
	return p.DisableAfter > 0 && h.failures > p.MaxRetries() && now.Sub(h.since) >= p.DisableAfter
}
