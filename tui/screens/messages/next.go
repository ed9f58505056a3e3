package messages

import (
	"slices"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// lateAfter is the delay after which a message that is due counts as late.
const lateAfter = 3 * time.Second

// Results of next other than a time.
const (
	noAttempt            = "-" // none is scheduled
	subscriptionDisabled = "disabled"
	breakerOpen          = "paused"     // the circuit breaker of the endpoint is open
	withheld             = "held"       // the owner of the subscription may not read the record
	waitRequested        = "waiting"    // its endpoint requested a wait
	rateLimited          = "rate limit" // the rate limit of the subscription delays it
)

// late reports whether a message should have been sent by now.
func late(m wire.Message, s *ui.Session) bool {
	switch m.Status {
	case ui.StatusNotSent:
		return s.Since(time.Time(m.AddedDateTime)) > lateAfter
	case ui.StatusRetrying:
		due := time.Time(m.NextAttemptDateTime)
		return !due.IsZero() && s.Since(due) > lateAfter
	}
	return false
}

// needsQueue reports whether the state of the queue explains the message: it is
// late, or its subscription was disabled, which may have changed.
func needsQueue(m wire.Message, s *ui.Session) bool {
	return late(m, s) || next(m, s) == subscriptionDisabled
}

// next returns the time of the next attempt, or why there is none: noAttempt,
// subscriptionDisabled, withheld, waitRequested, breakerOpen or rateLimited.
func next(m wire.Message, s *ui.Session) string {
	if m.Status != ui.StatusNotSent && m.Status != ui.StatusRetrying {
		return noAttempt
	}
	if paused(m, s) {
		return subscriptionDisabled
	}
	if slices.Contains(s.Queues.Known[m.SubscriptionID].HeldEvents, m.EventName) {
		return withheld
	}
	if !waitUntil(m, s).IsZero() && late(m, s) {
		return waitRequested
	}
	if s.Queues.BreakerOpen(m.SubscriptionID) && late(m, s) {
		return breakerOpen
	}
	if !rateUntil(m, s).IsZero() && late(m, s) {
		return rateLimited
	}
	due := time.Time(m.NextAttemptDateTime)
	if m.Status == ui.StatusNotSent || due.IsZero() {
		return noAttempt
	}
	return ui.Until(s.TimeUntil(due))
}

// waitUntil returns the end of the wait that the endpoint of a message requested; zero for none.
func waitUntil(m wire.Message, s *ui.Session) time.Time {
	return time.Time(s.Queues.Known[m.SubscriptionID].WaitUntilDateTime)
}

// rateUntil returns when the rate limit of a subscription allows its next attempt; zero if no message
// waits for that.
func rateUntil(m wire.Message, s *ui.Session) time.Time {
	return time.Time(s.Queues.Known[m.SubscriptionID].RateUntilDateTime)
}

// paused reports whether delivery to the subscription is known to be disabled: a message
// that is retried waits until it is enabled.
func paused(m wire.Message, s *ui.Session) bool {
	queue, ok := s.Queues.Known[m.SubscriptionID]
	return ok && !queue.IsEnabled
}

// nextLong describes the next attempt with the reason, noAttempt if none is scheduled.
func nextLong(m wire.Message, s *ui.Session) string {
	switch attempt := next(m, s); attempt {
	case subscriptionDisabled:
		return "not sent: the subscription is disabled"
	case withheld:
		return "held: the owner may not read the record"
	case waitRequested:
		return "the endpoint asked to wait until " + s.TimeOfDay(waitUntil(m, s))
	case breakerOpen:
		return "paused after failures"
	case rateLimited:
		return "delayed by the rate limit"
	case noAttempt:
		return noAttempt
	default:
		return "scheduled"
	}
}

// nextAt returns the time of the next attempt, zero if it is not known.
func nextAt(m wire.Message, s *ui.Session) time.Time {
	queue := s.Queues.Known[m.SubscriptionID]
	switch next(m, s) {
	case subscriptionDisabled, withheld, noAttempt:
		return time.Time{}
	case waitRequested:
		return waitUntil(m, s)
	case breakerOpen:
		return time.Time(queue.NextProbeDateTime)
	case rateLimited:
		return rateUntil(m, s)
	default:
		return time.Time(m.NextAttemptDateTime)
	}
}
