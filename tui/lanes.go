package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// lanes is how deliveries to subscriptions stand. It is asked for where that is
// shown, and where a message does not go out at its time, since it explains why.
type lanes struct {
	known map[string]wire.Lane // by the id of the subscription
	whole bool                 // those that are not among them have nothing to tell
	due   bool                 // something has become of messages since
	asked time.Time
	since time.Time       // from when on the figures are, where that is less than an hour ago
	other map[string]bool // those that were enabled or disabled otherwise than what was fetched, by id
}

const (
	lanesLast = 10 * time.Second // that what is known of lanes holds
	lanesSoon = 3 * time.Second  // that it holds where something becomes of messages
	lateAfter = 3 * time.Second  // an attempt is not on its way any more
)

// take keeps what the service told.
func (l *lanes) take(s *wire.Stats, now time.Time) {
	l.asked, l.known, l.whole = now, make(map[string]wire.Lane, len(s.Lanes)), s.OtherLanes == 0
	for _, lane := range s.Lanes {
		l.known[lane.SubscriptionID] = lane
	}
	l.since = time.Time{}
	if since := time.Time(s.SinceDateTime); time.Time(s.ServerDateTime).Sub(since) < time.Hour {
		l.since = since
	}
}

// counted says of which time the figures are: a daemon counts nothing of before
// its start.
func (l *lanes) counted(a *app) string {
	if l.since.IsZero() {
		return "Last hour"
	}
	return "Since " + a.clock(l.since)[:len("15:04")]
}

// of is how deliveries to a subscription stand, false where that is not known.
// Of one without traffic it is nothing but noughts.
func (l *lanes) of(subscription string) (wire.Lane, bool) {
	lane, known := l.known[subscription]
	return lane, known || l.whole
}

// turned reports whether subscriptions of a subscriber were enabled or disabled
// since they were fetched: the service itself disables some. The lanes of a
// subscriber that is disabled are, too. It is told once, since a daemon may be
// behind what is stored.
func (l *lanes) turned(of wire.Subscriber, list ...wire.Subscription) bool {
	turned := false
	for _, one := range list {
		lane, known := l.known[one.RecID]
		if !known || lane.IsEnabled == (one.IsEnabled && of.IsEnabled) {
			delete(l.other, one.RecID)
			continue
		}
		turned = turned || !l.other[one.RecID]
		if l.other == nil {
			l.other = make(map[string]bool)
		}
		l.other[one.RecID] = true
	}
	return turned
}

// figures asks how deliveries stand for a screen that shows it: soon after
// something became of messages, else now and then.
func (a *app) figures(to screen) tea.Cmd {
	old := a.now.Sub(a.lanes.asked)
	if a.link.paused || old < lanesSoon || !a.lanes.due && old < lanesLast {
		return nil
	}
	return a.figuresNow(to)
}

// figuresNow asks whenever it was asked last.
func (a *app) figuresNow(to screen) tea.Cmd {
	a.lanes.asked, a.lanes.due = a.now, false
	return a.laneStats(to)
}

// late reports whether a message should have been sent by now.
func (a *app) late(m wire.Message) bool {
	switch m.Status {
	case 0:
		return a.since(time.Time(m.AddedDateTime)) > lateAfter
	case 2:
		at := time.Time(m.NextAttemptDateTime)
		return !at.IsZero() && a.since(at) > lateAfter
	}
	return false
}

// asks reports whether the lane of a message is worth a look: the message is
// late, or was said to be held up, which may be over.
func (a *app) asks(m wire.Message) bool { return a.late(m) || a.next(m) == "off" }

// explain asks how deliveries stand, where that was not asked for just now.
func (a *app) explain(to screen, asks bool) tea.Cmd {
	if !asks || a.link.paused || a.now.Sub(a.lanes.asked) < lanesLast {
		return nil
	}
	a.lanes.asked = a.now
	return a.laneStats(to)
}

// next is when the next attempt of a message is, in a word: "off" where its
// subscription is disabled, "held" where its endpoint fails so often that one
// message at a time is tried.
func (a *app) next(m wire.Message) string {
	lane, known := a.lanes.known[m.SubscriptionID]
	at := time.Time(m.NextAttemptDateTime)
	switch {
	case m.Status != 0 && m.Status != 2:
		return "-"
	case known && !lane.IsEnabled:
		return "off"
	case known && lane.Breaker == wire.BreakerOpen && a.late(m):
		return "held"
	case m.Status == 0 || at.IsZero():
		return "-"
	}
	return ui.Until(a.left(at))
}

// nextLong is the same with its reason.
func (a *app) nextLong(m wire.Message) string {
	switch word := a.next(m); word {
	case "off":
		return "not sent: the subscription is off"
	case "held":
		probe := time.Time(a.lanes.known[m.SubscriptionID].NextProbeDateTime)
		return "held: the endpoint fails; tried again " + soon(a.left(probe))
	case "-":
		return word
	default:
		return "scheduled, " + word
	}
}

// soon is how long it takes until something happens.
func soon(d time.Duration) string {
	if d <= 0 {
		return "now"
	}
	return "in " + ui.Age(d)
}

// explained keeps the answer. Without one, words stay as they are: what is late
// is seen anyway.
func (a *app) explained(m lanesMsg) {
	if m.err == nil {
		a.lanes.take(m.stats, a.now)
	}
}
