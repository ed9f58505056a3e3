package messages

import (
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// lateAfter is when an attempt is not on its way any more.
const lateAfter = 3 * time.Second

// late reports whether a message should have been sent by now.
func late(m wire.Message, s *ui.Session) bool {
	switch m.Status {
	case 0:
		return s.Since(time.Time(m.AddedDateTime)) > lateAfter
	case 2:
		at := time.Time(m.NextAttemptDateTime)
		return !at.IsZero() && s.Since(at) > lateAfter
	}
	return false
}

// asks reports whether the queue of a message is worth a look: the message is
// late, or was said to be held up, which may be over.
func asks(m wire.Message, s *ui.Session) bool { return late(m, s) || next(m, s) == "off" }

// next is when the next attempt of a message is, in a word: "off" where its
// subscription is disabled, "held" where its endpoint fails so often that one
// message at a time is tried.
func next(m wire.Message, s *ui.Session) string {
	queue, known := s.Queues.Known[m.SubscriptionID]
	at := time.Time(m.NextAttemptDateTime)
	switch {
	case m.Status != 0 && m.Status != 2:
		return "-"
	case known && !queue.IsEnabled:
		return "off"
	case known && queue.Breaker == wire.BreakerOpen && late(m, s):
		return "held"
	case m.Status == 0 || at.IsZero():
		return "-"
	}
	return ui.Until(s.TimeUntil(at))
}

// nextLong is the same with its reason.
func nextLong(m wire.Message, s *ui.Session) string {
	switch word := next(m, s); word {
	case "off":
		return "not sent: the subscription is off"
	case "held":
		probe := time.Time(s.Queues.Known[m.SubscriptionID].NextProbeDateTime)
		return "held: the endpoint fails; tried again " + ui.Soon(s.TimeUntil(probe))
	case "-":
		return word
	default:
		return "scheduled, " + word
	}
}
