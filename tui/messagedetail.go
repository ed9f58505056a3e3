package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
)

// messageScreen shows one message: its attempts, what it says, and how to send
// it by hand.
type messageScreen struct {
	part
	pager
	list      *messages
	message   wire.Message
	responses []wire.MessageResponse
	tab       int
	wait      bool
	whole     bool // the body is here
}

var messageTabs = []string{"Attempts", "Body", "Response", "cURL"}

func newMessage(list *messages, m wire.Message) screen {
	s := &messageScreen{part: newPart(list.app), list: list, message: m}
	s.shell = list.app
	return s
}

func (s *messageScreen) shown() tea.Cmd { return s.poll() }

func (s *messageScreen) poll() tea.Cmd {
	s.wait = true
	return s.app.message(s.context, s, s.message.SubscriberID, s.message.MessageID)
}

// follow fetches the message again when something became of it.
func (s *messageScreen) follow(m liveMsg) tea.Cmd {
	for _, c := range m.changes {
		if c.MessageID == s.message.MessageID && !s.wait {
			return s.poll()
		}
	}
	s.fill()
	return nil
}

func (s *messageScreen) update(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case messageMsg:
		s.wait = false
		if m.err != nil {
			s.app.fail("fetching the message", m.err)
			return nil
		}
		s.message, s.responses, s.whole = *m.message, m.responses, true
		s.fill()
	case doneMsg:
		s.app.done(m)
		return s.poll()
	}
	return nil
}

func (s *messageScreen) setSize(width, height int) {
	s.part.setSize(width, height)
	s.fit(width, height-4)
	s.fill()
}

// fill makes the lines of the open tab.
func (s *messageScreen) fill() {
	switch {
	case s.width == 0:
	case s.tab == 0:
		s.setLines(s.attempts())
	case s.tab == 1:
		s.setLines(s.app.jsonLines([]byte(s.message.Body), s.width-2))
	case s.tab == 2:
		s.setLines(s.answers())
	default:
		s.setLines(s.curl())
	}
}

// attempts lists what was tried, and when the next attempt is.
func (s *messageScreen) attempts() []span {
	t := s.app.theme
	when, what := 23, 36
	if s.width < 76 {
		when, what = 10, 24
	}
	lines := []span{{"  " + t.Fit("  #  when", when+5, false) + t.Fit("result", what, false) + "         took", t.Title}}
	for _, r := range s.responses {
		result, ink := resultOf(r), t.status[3]
		if r.Status == 1 {
			ink = t.status[1]
		}
		lines = append(lines, span{fmt.Sprintf("  %3d  %s%s  %s", r.ItemNo, t.Fit(s.app.moment(time.Time(r.LastSavedDateTime)), when, false), t.Fit(result, what, false), took(r.Duration)), ink})
	}
	if at := time.Time(s.message.NextAttemptDateTime); s.message.Status == 2 && !at.IsZero() {
		lines = append(lines, span{fmt.Sprintf("  %3d  %s%s", len(s.responses)+1, t.Fit(s.app.clock(at), when, false), "scheduled, "+until(at.Sub(s.app.now))), t.dim})
	}
	if len(s.responses) == 0 && s.whole {
		lines = append(lines, span{"  no attempt yet", t.dim})
	}
	return lines
}

// resultOf is what came of an attempt.
func resultOf(r wire.MessageResponse) string {
	if r.HTTPCode != nil {
		return strings.TrimSpace(strconv.Itoa(*r.HTTPCode) + " " + r.Message)
	}
	return r.Message
}

// took is a duration of the wire for people.
func took(text string) string {
	var span wire.TimeSpan
	if span.UnmarshalJSON([]byte(strconv.Quote(text))) != nil {
		return text
	}
	return fmt.Sprintf("%8s ms", grid.Thousands(int(time.Duration(span).Milliseconds())))
}

// answers are what the receiver said, the last first.
func (s *messageScreen) answers() []span {
	var lines []span
	for i := len(s.responses) - 1; i >= 0; i-- {
		lines = append(lines, span{fmt.Sprintf("  attempt %d: %s", s.responses[i].ItemNo, resultOf(s.responses[i])), s.app.theme.crumb})
	}
	return lines
}

// curl sends the same from this computer. What is secret is not known here.
func (s *messageScreen) curl() []span {
	text := "curl -X POST " + argument(s.message.URL) + ` -H "Content-Type: application/json; charset=utf-8"` +
		" -H " + argument("webhook-id: "+s.message.MessageID) + " -H " + argument("X-Event-Name: "+s.message.EventName) + " --data-binary @body.json"
	lines := []span{{"  The body goes to body.json (Y copies it). Signature and own headers are not", s.app.theme.dim}, {"  known here: the receiver may refuse it.", s.app.theme.dim}, {}}
	for _, l := range wrapped(text, s.width-4) {
		lines = append(lines, span{"  " + l.text, ""})
	}
	return lines
}

func (s *messageScreen) view() string {
	a := s.app
	body := size(len(s.message.Body))
	if !s.whole {
		body = strings.Repeat(a.theme.Loading, 3)
	}
	head := []string{
		a.compose(s.width, []span{{"  To     ", a.theme.label}, {s.message.URL, ""}}, []span{{"subscriber ", a.theme.label}, {shortID(s.message.SubscriberID) + " ", ""}}),
		a.compose(s.width, []span{{"  Added  ", a.theme.label}, {a.clock(time.Time(s.message.AddedDateTime)) + " (" + age(a.now.Sub(time.Time(s.message.AddedDateTime))) + " ago)", ""}}, []span{{"size ", a.theme.label}, {body + " ", ""}}),
		strings.Repeat(" ", s.width),
	}
	lines := append(head, s.draw()...)
	return strings.Join(append(lines, a.tabbed(messageTabs, s.tab, s.width)), "\n")
}

func (s *messageScreen) title() string { return shortID(s.message.MessageID) }

func (s *messageScreen) chips() []string {
	word, _ := s.app.theme.statusText(s.message.Status)
	chips := []string{s.message.EventName, word}
	if at := time.Time(s.message.NextAttemptDateTime); s.message.Status == 2 && !at.IsZero() {
		chips = append(chips, "next "+until(at.Sub(s.app.now)))
	}
	return append(chips, "try "+tries(s.message))
}

func (s *messageScreen) status() string  { return s.list.grid.Place() }
func (s *messageScreen) scopes() []scope { return []scope{inMessage, inLists} }
func (s *messageScreen) waiting() bool   { return s.wait }
func (s *messageScreen) twin() string    { return "whctl messages show " + s.message.MessageID }

func (s *messageScreen) do(b binding) tea.Cmd {
	if s.move(b) {
		return nil
	}
	switch b.action {
	case nextTab:
		s.turn(1)
	case previousTab:
		s.turn(-1)
	case retry, remove:
		s.app.askOne(s, s.message, b.action)
	case pageBefore:
		return s.step(-1)
	case pageAfter:
		return s.step(1)
	case copyCell:
		s.app.clip(s.message.MessageID)
	case copyRow:
		s.copyTab()
	}
	return nil
}

// step goes to the message before or after in the list.
func (s *messageScreen) step(n int) tea.Cmd {
	s.list.grid.Move(n)
	one, ok := s.list.selected()
	if !ok {
		return s.list.want()
	}
	s.afresh()
	s.message, s.responses, s.whole = one, nil, false
	s.fill()
	return tea.Batch(s.list.want(), s.poll())
}

func (s *messageScreen) turn(n int) {
	s.tab = (s.tab + n + len(messageTabs)) % len(messageTabs)
	s.top = 0
	s.fill()
}

// copyTab copies what the tab shows: of the body every byte.
func (s *messageScreen) copyTab() {
	if s.tab == 1 {
		s.app.clip(s.message.Body)
		return
	}
	var lines []string
	for _, l := range s.lines {
		lines = append(lines, strings.TrimRight(l.text, " "))
	}
	s.app.clip(strings.Join(lines, "\n"))
}
