package tui

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
)

// subscriptionScreen shows one subscription, and how deliveries to it stand.
type subscriptionScreen struct {
	part
	pager
	list     *subscriptions
	one      wire.Subscription
	wait     bool
	revealed bool // its URL is shown with what can be a key
}

func newSubscription(list *subscriptions, one wire.Subscription) screen {
	s := &subscriptionScreen{part: newPart(list.app), list: list, one: one}
	s.shell = list.app
	return s
}

func (s *subscriptionScreen) shown() tea.Cmd { return s.poll() }

func (s *subscriptionScreen) poll() tea.Cmd {
	s.wait = true
	return tea.Batch(s.app.subscriptions(s.context, s, s.one.SubscriberID), s.app.figuresNow(s))
}

// tick lets times and figures go on.
func (s *subscriptionScreen) tick() tea.Cmd {
	s.fill()
	return s.app.figures(s)
}

func (s *subscriptionScreen) update(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case subscriptionsMsg:
		return s.found(m)
	case lanesMsg:
		s.app.explained(m)
		s.fill()
		if s.app.lanes.turned(s.one) {
			return s.app.subscriptions(s.context, s, s.one.SubscriberID)
		}
	case doneMsg:
		s.app.done(m)
		return s.poll()
	case changedMsg:
		if m.subscription != nil {
			s.one = *m.subscription
		}
		s.app.changed(m)
		return s.poll()
	case stakeMsg:
		s.app.askRemove(m)
	}
	return nil
}

// found takes what the subscription is now. Where it is no more, its screen is
// left.
func (s *subscriptionScreen) found(m subscriptionsMsg) tea.Cmd {
	s.wait = false
	if m.err != nil {
		s.app.fail("fetching the subscription", m.err)
		return nil
	}
	i := slices.IndexFunc(m.list, func(one wire.Subscription) bool { return one.RecID == s.one.RecID })
	if i < 0 {
		if s.app.front() == screen(s) {
			cmd, _ := s.app.pop()
			return cmd
		}
		return nil
	}
	s.one = m.list[i]
	s.fill()
	return nil
}

func (s *subscriptionScreen) setSize(width, height int) {
	s.part.setSize(width, height)
	s.fit(width, height)
	s.fill()
}

func (s *subscriptionScreen) view() string    { return strings.Join(s.draw(), "\n") }
func (s *subscriptionScreen) title() string   { return s.one.EventName }
func (s *subscriptionScreen) scopes() []scope { return []scope{inSubscription, inLists} }
func (s *subscriptionScreen) waiting() bool   { return s.wait }
func (s *subscriptionScreen) twin() string    { return "whctl subscriptions show " + s.one.RecID }

func (s *subscriptionScreen) status() string {
	text := s.list.grid.Place()
	if s.top+s.rows < len(s.lines) {
		text += "   " + s.app.keyFor(inLists, goDown) + " shows what is below"
	}
	return text
}

func (s *subscriptionScreen) chips() []string {
	return []string{s.app.stateCell(s.one).Text}
}

func (s *subscriptionScreen) do(b binding) tea.Cmd {
	if s.move(b) {
		return nil
	}
	switch b.action {
	case pageBefore:
		return s.step(-1)
	case pageAfter:
		return s.step(1)
	case reveal:
		s.revealed = !s.revealed
		s.fill()
		return nil
	}
	return s.app.act(s, s.list.subscriber, s.one, b.action)
}

// step goes to the subscription before or after in the list.
func (s *subscriptionScreen) step(n int) tea.Cmd {
	s.list.grid.Move(n)
	one, ok := s.list.selected()
	if !ok || one.RecID == s.one.RecID {
		return nil
	}
	s.afresh()
	s.one, s.revealed = one, false
	s.scroll(-len(s.lines))
	s.fill()
	return s.poll()
}

// detailLine is a line of the screen: a label and what is told.
type detailLine struct {
	label, text string
	ink         grid.Ink
}

// fill makes the lines anew. What is too long for one goes on below.
func (s *subscriptionScreen) fill() {
	if s.width == 0 {
		return
	}
	t := s.app.theme
	var lines []span
	var inked [][]span
	for _, l := range s.told() {
		label := l.label
		for _, text := range slices.DeleteFunc(append(t.broken(l.text, s.width-detailLabel-3, 20), ""), func(text string) bool { return text == "" && l.text != "" }) {
			row := []span{{"  " + t.Fit(label, detailLabel, false), t.label}, {text, l.ink}}
			lines, inked = append(lines, span{row[0].text + text, ""}), append(inked, row)
			label = ""
		}
	}
	s.setLines(lines)
	s.inked = inked
}

// detailLabel is how wide the labels are.
const detailLabel = 16

// told is all that is known of the subscription.
func (s *subscriptionScreen) told() []detailLine {
	a, one := s.app, s.one
	t := a.theme
	address := maskURL(one.URL)
	if s.revealed {
		address = one.URL
	}
	state := a.stateCell(one)
	why := cmp.Or(a.trouble(one), state.Text)
	if !s.list.subscriber.IsEnabled {
		why += "; the subscriber is disabled"
	}
	lines := []detailLine{
		{"Event", one.EventName, t.crumb}, {"URL", address, ""}, {"State", why, state.Ink}, {},
	}
	lines = append(lines, s.deliveries()...)
	order := "no: messages go out side by side"
	if one.Ordered {
		order = "yes: each message waits for the one before"
	}
	return append(lines, detailLine{},
		detailLine{"Ordered", order, ""}, detailLine{"Retries", cmp.Or(waits(one.RetrySchedule), "as the service's settings say"), ""},
		detailLine{"Headers", cmp.Or(headerNames(one), "none of its own"), ""}, detailLine{},
		detailLine{"Subscriber", s.list.subscriber.Name + "  " + shortID(one.SubscriberID), ""}, detailLine{"SubscriptionID", one.RecID, ""},
		detailLine{"ItemNo", fmt.Sprint(one.ItemNo), t.dim}, detailLine{"Saved", s.at(one.LastSavedDateTime), t.dim}, detailLine{"RowHash", base64.StdEncoding.EncodeToString(one.RowHash), t.dim})
}

// deliveries is how deliveries to the subscription stand.
func (s *subscriptionScreen) deliveries() []detailLine {
	a := s.app
	lane, known := a.lanes.of(s.one.RecID)
	if !known {
		return []detailLine{{"Deliveries", strings.Repeat(a.theme.Loading, 3), a.theme.dim}}
	}
	lines := []detailLine{
		{"Last hour", fmt.Sprintf("%s delivered, %s failed, %s given up", thousands(lane.Delivered), thousands(lane.Failed), thousands(lane.GivenUp)), ""},
		{"Waiting", s.waits(lane), ""},
		{"On the way", fmt.Sprintf("%d, at most %d at a time", lane.InFlight, lane.Limit), ""},
	}
	if lane.Limit == 0 {
		lines = lines[:len(lines)-1] // nothing was sent since the service was started
	}
	if p99 := time.Duration(lane.P99); p99 > 0 {
		lines = append(lines, detailLine{"Attempts take", "99% of them at most " + thousands(p99.Milliseconds()) + " ms", ""})
	}
	if since := cmp.Or(s.one.FailingSince, lane.FailingSince); !time.Time(since).IsZero() {
		lines = append(lines, detailLine{"Failing since", s.at(since), a.theme.status[3]})
	}
	if lane.Breaker == wire.BreakerOpen {
		lines = append(lines, detailLine{"Next try", s.at(lane.NextProbeDateTime) + ": one message at a time, until one is received", ""})
	}
	if lane.LastFailure != nil {
		lines = append(lines, detailLine{"Last failure", failureText(*lane.LastFailure) + ", " + s.at(lane.LastFailure.At), ""})
	}
	return lines
}

// waits is what waits to be sent.
func (s *subscriptionScreen) waits(lane wire.Lane) string {
	if lane.Pending == 0 {
		return "nothing"
	}
	text := fmt.Sprintf("%s: %s not sent yet, %s to be tried again", plural(int(lane.Pending), "message", "messages"), thousands(lane.NotSent), thousands(lane.RetryPending))
	if at := time.Time(lane.OldestDateTime); !at.IsZero() {
		text += "; the oldest since " + s.at(lane.OldestDateTime)
	}
	return text
}

func thousands(n int64) string { return grid.Thousands(int(n)) }

// at is a time with its date, and how long ago or ahead it is.
func (s *subscriptionScreen) at(m wire.Moment) string {
	at := time.Time(m)
	if at.IsZero() {
		return "-"
	}
	text := s.app.here(at).Format("2006-01-02 15:04:05")
	if at.After(s.app.now) {
		return text + " (" + soon(at.Sub(s.app.now)) + ")"
	}
	return text + " (" + age(s.app.now.Sub(at)) + " ago)"
}

func (s *subscriptionScreen) deeds() []string { return subscriptionDeeds(s.one) }
