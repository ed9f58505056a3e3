package messages

import (
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// lateAfter is the delay after which a message that is due counts as late.
const lateAfter = 3 * time.Second

// late reports whether a message should have been sent by now.
func late(m wire.Message, s *ui.Session) bool {
	switch m.Status {
	case 0:
		return s.Since(time.Time(m.AddedDateTime)) > lateAfter
	case 2:
		due := time.Time(m.NextAttemptDateTime)
		return !due.IsZero() && s.Since(due) > lateAfter
	}
	return false
}

// needsQueue reports whether the state of the queue explains the message: it is
// late, or its subscription was disabled, which may have changed.
func needsQueue(m wire.Message, s *ui.Session) bool { return late(m, s) || next(m, s) == "disabled" }

// next returns the time of the next attempt, or "disabled" if the subscription
// is, "breaker" if the circuit breaker of the endpoint is open, "-" if none is scheduled.
func next(m wire.Message, s *ui.Session) string {
	if m.Status != 0 && m.Status != 2 {
		return "-"
	}
	if paused(m, s) {
		return "disabled"
	}
	if s.Queues.BreakerOpen(m.SubscriptionID) && late(m, s) {
		return "breaker"
	}
	due := time.Time(m.NextAttemptDateTime)
	if m.Status == 0 || due.IsZero() {
		return "-"
	}
	return ui.Until(s.TimeUntil(due))
}

// paused reports whether delivery to the subscription is known to be disabled: a message
// that is retried waits until it is enabled.
func paused(m wire.Message, s *ui.Session) bool {
	queue, ok := s.Queues.Known[m.SubscriptionID]
	return ok && !queue.IsEnabled
}

// nextLong returns the same with a reason.
func nextLong(m wire.Message, s *ui.Session) string {
	switch word := next(m, s); word {
	case "disabled":
		return "not sent: the subscription is disabled"
	case "breaker":
		probe := time.Time(s.Queues.Known[m.SubscriptionID].NextProbeDateTime)
		return display.BreakerOpen("", s.TimeUntil(probe))
	case "-":
		return word
	default:
		return "scheduled, " + word
	}
}
