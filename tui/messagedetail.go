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
	ui.Base
	ui.Pager
	list    *messages
	message wire.Message
	messageParts
	tab      int
	wait     bool
	whole    bool   // the body is here
	revealed bool   // what is secret is shown, as far as it is known
	saved    string // where the body was written; empty for nowhere
	sending  string // what was answered with yes and has no answer yet; empty for nothing
}

// messageParts are what is fetched beside a message.
type messageParts struct {
	responses []wire.Attempt
	headers   []wire.Header // the subscription's own, without their values
	noHeaders string        // why they are not known
}

func newMessage(list *messages, m wire.Message) *messageScreen {
	s := &messageScreen{Base: ui.NewBase(list.Host), list: list, message: m}
	s.Owner = s.Dialog
	return s
}

func (s *messageScreen) Shown() tea.Cmd { return s.Poll() }

func (s *messageScreen) Poll() tea.Cmd {
	s.wait = true
	return ui.Fetch(s.Ctx, s, fetchMessage(s.message.SubscriberID, s.message.MessageID), s.took)
}

// Follow fetches the message again when something became of it.
func (s *messageScreen) Follow(changes []wire.MessageChange, _ int) tea.Cmd {
	for _, c := range changes {
		if c.MessageID == s.message.MessageID && !s.wait {
			return s.Poll()
		}
	}
	return nil
}

// took takes the message.
func (s *messageScreen) took(got fetchedMessage, err error) tea.Cmd {
	s.wait = false
	if err != nil {
		s.FetchFailed("fetching the message", err)
		return nil
	}
	s.message, s.messageParts, s.whole = got.message, got.messageParts, true
	return s.refill()
}

func (s *messageScreen) refill() tea.Cmd {
	s.fill()
	return nil
}

// Tick lets times go on, and asks why the message is late.
func (s *messageScreen) Tick() tea.Cmd {
	if s.SignInPending() {
		s.sending = "" // what becomes of it is told after the sign-in
	}
	if messageTabs[s.tab].ages {
		s.fill()
	}
	if !asks(s.message, s.Session) {
		return nil
	}
	return s.Queues.Explain(s, s.refill)
}

func (s *messageScreen) SetSize(width, height int) {
	s.Base.SetSize(width, height)
	s.fill()
}

// fill makes the lines of the open tab.
func (s *messageScreen) fill() {
	s.Fit(s.Width, s.Height-len(s.head())-1)
	switch lines := messageTabs[s.tab].lines(s); {
	case s.Width == 0:
	case messageTabs[s.tab].name == "Body":
		s.SetJSON(lines)
	default:
		s.SetLines(lines)
	}
}

func (s *messageScreen) View() string {
	head := s.head()
	s.Fit(s.Width, s.Height-len(head)-1) // which names that have come meanwhile can make longer
	lines := append(head, s.Draw()...)
	return strings.Join(append(lines, s.Theme.Tabbed(messageTabNames(), s.tab, s.Width)), "\n")
}

func (s *messageScreen) Title() string { return ui.ShortID(s.message.MessageID) }

func (s *messageScreen) Badges() []string {
	word, _ := s.Theme.StatusText(s.message.Status)
	chips := []string{word}
	if next := next(s.message, s.Session); next != "-" {
		chips = append(chips, "next "+next)
	}
	return append(chips, "try "+tries(s.message), s.message.EventName)
}

func (s *messageScreen) Status() string {
	if s.sending != "" {
		return s.sending + " ..."
	}
	place, _, _ := strings.Cut(s.list.Grid.Place(), statusGap) // its columns are not seen here
	return place
}
func (s *messageScreen) Scopes() []keymap.Scope {
	return []keymap.Scope{keymap.InMessage, keymap.InLists}
}
func (s *messageScreen) Waiting() bool      { return s.wait || s.sending != "" }
func (s *messageScreen) Equivalent() string { return "whctl messages show " + s.message.MessageID }

func (s *messageScreen) Do(b keymap.Binding) tea.Cmd {
	if s.Move(b) {
		return nil
	}
	switch b.Action {
	case keymap.NextTab:
		s.turn(1)
	case keymap.PreviousTab:
		s.turn(-1)
	case keymap.Retry, keymap.Remove:
		askOne(s, s.message, b.Action, s.begin, s.ended)
	case keymap.PageBefore:
		return s.step(-1)
	case keymap.PageAfter:
		return s.step(1)
	case keymap.CopyCell:
		s.Copy(s.message.MessageID)
	case keymap.CopyRow:
		s.copyTab()
	case keymap.Reveal:
		s.revealed = !s.revealed
		s.fill()
	case keymap.Export:
		s.Type(s.saveLine())
	}
	return nil
}

// begin notes what is on its way, which the line of status says from now on.
func (s *messageScreen) begin(what string) {
	s.sending = what
	s.ClearToast()
}

func (s *messageScreen) ended(string, error) tea.Cmd {
	s.sending = ""
	return s.Poll()
}

// step goes to the message before or after in the list.
func (s *messageScreen) step(n int) tea.Cmd {
	s.list.Grid.Move(n)
	one, ok := s.list.selected()
	if !ok {
		return s.list.want()
	}
	s.Reset()
	s.message, s.messageParts, s.whole, s.revealed, s.saved = one, messageParts{}, false, false, ""
	s.fill()
	return tea.Batch(s.list.want(), s.Poll())
}

func (s *messageScreen) turn(n int) {
	s.tab = (s.tab + n + len(messageTabs)) % len(messageTabs)
	s.Top = 0
	s.fill()
}

// copyTab copies what the tab shows: of the body every byte, of cURL the command.
func (s *messageScreen) copyTab() {
	switch messageTabs[s.tab].name {
	case "Body":
		s.Copy(s.message.Body)
		return
	case "cURL":
		s.Copy(s.curlText())
		return
	}
	var lines []string
	for _, l := range s.Lines {
		lines = append(lines, strings.TrimRight(l.Text, " "))
	}
	s.Copy(strings.Join(lines, "\n"))
}

// bodyPath is where the body is written unless somebody says otherwise.
func (s *messageScreen) bodyPath() string {
	return export.FreeName(s.Downloads, "body-"+ui.ShortID(s.message.MessageID), ".json")
}

// saveLine asks where the body is to be written.
func (s *messageScreen) saveLine() *ui.Line {
	l := ui.NewLine(s.Host, "save", "save body to", s.bodyPath())
	l.Help = ui.Size(len(s.message.Body)) + ", every byte as it is sent; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " saves, " + keymap.KeyFor(keymap.InLine, keymap.GoBack) + " leaves it"
	l.Check = func(path string) error {
		if !s.whole {
			return errors.New("the body is on its way")
		}
		return export.CheckTarget(path, "")
	}
	l.Accept = func(path string) tea.Cmd {
		if err := os.WriteFile(path, []byte(s.message.Body), 0o600); err != nil {
			s.Fail("saving the body", err)
			return nil
		}
		s.Tell(ui.Info, ui.Size(len(s.message.Body))+" written to "+path)
		s.saved = path
		s.fill()
		return nil
	}
	return l
}

// fetchedMessage is a message with its attempts, the first first.
type fetchedMessage struct {
	message wire.Message
	messageParts
}

// fetchMessage fetches one message.
func fetchMessage(subscriber, id string) func(context.Context, *client.Client) (fetchedMessage, error) {
	return func(ctx context.Context, c *client.Client) (m fetchedMessage, err error) {
		page, err := c.Messages(ctx, subscriber, url.Values{"MessageID": {id}, "Take": {"1"}})
		switch {
		case err != nil:
			return m, err
		case len(page.Results) == 0:
			return m, errors.New("the message is not there any more")
		}
		m.message = page.Results[0]
		responses, err := c.Attempts(ctx, url.Values{"MessageID": {id}, "OrderBy": {"ItemNo"}, "Take": {"200"}})
		if err != nil {
			return m, err
		}
		m.responses = responses.Results
		m.headers, m.noHeaders = ownHeaders(ctx, c, &m.message)
		return m, nil
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

func (s *messageScreen) Retime() string {
	s.fill()
	return ""
}
