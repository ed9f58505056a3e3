package tui

import (
	"context"
	"errors"
	"net/url"
	"os"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// messageScreen shows one message: its attempts, what it says, and how to send
// it by hand.
type messageScreen struct {
	part
	pager
	list      *messages
	message   wire.Message
	responses []wire.Attempt
	headers   []wire.Header // the subscription's own, without their values
	noHeaders string        // why they are not known
	tab       int
	wait      bool
	whole     bool   // the body is here
	revealed  bool   // what is secret is shown, as far as it is known
	saved     string // where the body was written; empty for nowhere
	sending   string // what was answered with yes and has no answer yet; empty for nothing
}

func newMessage(list *messages, m wire.Message) screen {
	s := &messageScreen{part: newPart(list.app), list: list, message: m}
	s.shell = list.app
	return s
}

func (s *messageScreen) shown() tea.Cmd { return s.poll() }

func (s *messageScreen) poll() tea.Cmd {
	s.wait = true
	return fetchMessage(s.context, s.app.client, s, s.message.SubscriberID, s.message.MessageID)
}

// follow fetches the message again when something became of it.
func (s *messageScreen) follow(m liveMsg) tea.Cmd {
	for _, c := range m.changes {
		if c.MessageID == s.message.MessageID && !s.wait {
			return s.poll()
		}
	}
	return nil
}

func (s *messageScreen) update(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case messageMsg:
		s.wait = false
		if m.err != nil {
			s.app.unfetched("fetching the message", m.err)
			return nil
		}
		s.message, s.responses, s.whole = *m.message, m.responses, true
		s.headers, s.noHeaders = m.headers, m.noHeaders
		s.fill()
	case lanesMsg:
		s.app.explained(m)
		s.fill()
	case doneMsg:
		s.sending = ""
		s.app.done(m)
		return s.poll()
	}
	return nil
}

// tick lets times go on, and asks why the message is late.
func (s *messageScreen) tick() tea.Cmd {
	if s.app.held != nil {
		s.sending = "" // what becomes of it is told after the sign-in
	}
	if messageTabs[s.tab].ages {
		s.fill()
	}
	return s.app.explain(s, s.app.asks(s.message))
}

func (s *messageScreen) setSize(width, height int) {
	s.part.setSize(width, height)
	s.fill()
}

// fill makes the lines of the open tab.
func (s *messageScreen) fill() {
	s.fit(s.width, s.height-len(s.head())-1)
	switch lines := messageTabs[s.tab].lines(s); {
	case s.width == 0:
	case messageTabs[s.tab].name == "Body":
		s.setJSON(lines)
	default:
		s.setLines(lines)
	}
}

func (s *messageScreen) view() string {
	head := s.head()
	s.fit(s.width, s.height-len(head)-1) // which names that have come meanwhile can make longer
	lines := append(head, s.draw()...)
	return strings.Join(append(lines, s.app.theme.Tabbed(messageTabNames(), s.tab, s.width)), "\n")
}

func (s *messageScreen) title() string { return ui.ShortID(s.message.MessageID) }

func (s *messageScreen) chips() []string {
	word, _ := s.app.theme.StatusText(s.message.Status)
	chips := []string{word}
	if next := s.app.next(s.message); next != "-" {
		chips = append(chips, "next "+next)
	}
	return append(chips, "try "+tries(s.message), s.message.EventName)
}

func (s *messageScreen) status() string {
	if s.sending != "" {
		return s.sending + " ..."
	}
	place, _, _ := strings.Cut(s.list.grid.Place(), statusGap) // its columns are not seen here
	return place
}
func (s *messageScreen) scopes() []keymap.Scope {
	return []keymap.Scope{keymap.InMessage, keymap.InLists}
}
func (s *messageScreen) waiting() bool { return s.wait || s.sending != "" }
func (s *messageScreen) twin() string  { return "whctl messages show " + s.message.MessageID }

func (s *messageScreen) do(b keymap.Binding) tea.Cmd {
	if s.move(b) {
		return nil
	}
	switch b.Action {
	case keymap.NextTab:
		s.turn(1)
	case keymap.PreviousTab:
		s.turn(-1)
	case keymap.Retry, keymap.Remove:
		s.app.askOne(s, s.message, b.Action, func(what string) { s.sending, s.app.toasts.Passing = what, nil })
	case keymap.PageBefore:
		return s.step(-1)
	case keymap.PageAfter:
		return s.step(1)
	case keymap.CopyCell:
		s.app.clip(s.message.MessageID)
	case keymap.CopyRow:
		s.copyTab()
	case keymap.Reveal:
		s.revealed = !s.revealed
		s.fill()
	case keymap.Export:
		s.app.line = s.saveLine()
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
	s.message, s.responses, s.whole, s.revealed, s.saved = one, nil, false, false, ""
	s.headers, s.noHeaders = nil, ""
	s.fill()
	return tea.Batch(s.list.want(), s.poll())
}

func (s *messageScreen) turn(n int) {
	s.tab = (s.tab + n + len(messageTabs)) % len(messageTabs)
	s.top = 0
	s.fill()
}

// copyTab copies what the tab shows: of the body every byte, of cURL the command.
func (s *messageScreen) copyTab() {
	switch messageTabs[s.tab].name {
	case "Body":
		s.app.clip(s.message.Body)
		return
	case "cURL":
		s.app.clip(s.curlText())
		return
	}
	var lines []string
	for _, l := range s.lines {
		lines = append(lines, strings.TrimRight(l.Text, " "))
	}
	s.app.clip(strings.Join(lines, "\n"))
}

// bodyPath is where the body is written unless somebody says otherwise.
func (s *messageScreen) bodyPath() string {
	return export.FreeName(s.app.options.Downloads, "body-"+ui.ShortID(s.message.MessageID), ".json")
}

// saveLine asks where the body is to be written.
func (s *messageScreen) saveLine() *line {
	l := newLine(s.app, "save", "save body to", s.bodyPath())
	l.help = ui.Size(len(s.message.Body)) + ", every byte as it is sent; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " saves, " + keymap.KeyFor(keymap.InLine, keymap.GoBack) + " leaves it"
	l.check = func(path string) error {
		if !s.whole {
			return errors.New("the body is on its way")
		}
		return export.CheckTarget(path, "")
	}
	l.accept = func(path string) tea.Cmd {
		if err := os.WriteFile(path, []byte(s.message.Body), 0o600); err != nil {
			s.app.fail("saving the body", err)
			return nil
		}
		s.app.tell(ui.Info, ui.Size(len(s.message.Body))+" written to "+path)
		s.saved = path
		s.fill()
		return nil
	}
	return l
}

// fetchMessage fetches one message with its attempts, the first first.
func fetchMessage(ctx context.Context, c *client.Client, to screen, subscriber, id string) tea.Cmd {
	return func() tea.Msg {
		m := messageMsg{reply: reply{to: to}}
		page, err := c.Messages(ctx, subscriber, url.Values{"MessageID": {id}, "Take": {"1"}})
		switch {
		case err != nil:
			m.err = err
			return m
		case len(page.Results) == 0:
			m.err = errors.New("the message is not there any more")
			return m
		}
		m.message = &page.Results[0]
		responses, err := c.Attempts(ctx, url.Values{"MessageID": {id}, "OrderBy": {"ItemNo"}, "Take": {"200"}})
		if err != nil {
			m.err = err
			return m
		}
		m.responses = responses.Results
		m.headers, m.noHeaders = ownHeaders(ctx, c, m.message)
		return m
	}
}

// ownHeaders are those of a message's subscription, or why they are not known:
// that does not keep the message from being shown.
func ownHeaders(ctx context.Context, c *client.Client, m *wire.Message) (headers []wire.Header, why string) {
	list, err := c.Subscriptions(ctx, m.SubscriberID)
	if err != nil {
		return nil, err.Error()
	}
	for _, s := range list {
		if s.RecID == m.SubscriptionID {
			return s.Headers, ""
		}
	}
	return nil, "the subscription is not there any more"
}
