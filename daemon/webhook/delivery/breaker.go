package delivery

import (
	"net/http"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// breakerFailures is how many failures in a row open a lane's breaker.
const breakerFailures = 5

// maxProbe bounds the time between probes of an endpoint that is in
// trouble, so that the first success is noticed long before the last step of
// the schedule.
const maxProbe = 10 * time.Minute

// breaker keeps a lane from spending its messages' attempts on an endpoint that
// is in trouble. While it is open one message goes out at each step of the
// schedule; those behind it wait and their attempts do not count.
type breaker struct {
	failures int // in a row
	step     int // of the schedule, while open
	probe    time.Time
}

func (b *breaker) open() bool { return b.failures >= breakerFailures }

// note counts an attempt.
func (b *breaker) note(o webhook.Outcome, schedule []time.Duration, now time.Time) {
	if !o.Broken() {
		*b = breaker{}
		return
	}
	if b.open() && now.Before(b.probe) {
		return // no probe: it was under way when the breaker opened
	}
	if b.failures++; !b.open() {
		return
	}
	wait := maxProbe
	if b.step < len(schedule) {
		wait = min(wait, schedule[b.step])
		b.step++
	}
	b.probe = now.Add(wait)
}

// The bounds of the number of attempts that a lane has under way.
const (
	firstLimit = 8
	quick      = time.Second // an answer within this time lets the limit grow
)

// throttle finds how many attempts at once do an endpoint good: one more for
// each round of quick successes, half as many after a time-out or 429.
type throttle struct {
	limit, most int
	gained      int // quick successes since the limit changed
}

func (t *throttle) note(o webhook.Outcome) {
	switch {
	case o.Cause == webhook.TimedOut || o.Code == http.StatusTooManyRequests:
		t.limit, t.gained = max(1, t.limit/2), 0
	case o.Success() && o.Took < quick && t.limit < t.most:
		if t.gained++; t.gained >= t.limit {
			t.limit, t.gained = t.limit+1, 0
		}
	}
}
