package messages

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Detail is the screen of one message: its attempts, its content, and a command
// that sends it.
type Detail struct {
	ui.Base
	ui.Pager
	Content content
	list    messageList
	results *bulk
	tab     int
	attempt int // index of the selected attempt; newestAttempt until the user selects one
	sending inFlight
	partial bool // a preview: the headers are not fetched
	missed  bool // the message has changed while a fetch was in flight
	deleted bool // the user has deleted the message: the screen closes

	documents documents // below the attempts on a wide screen
}

// newestAttempt selects the newest attempt, also when another one is made.
const newestAttempt = -1

// messageList is the list that a message was opened from.
type messageList interface {
	// Step selects the message n rows further, and returns it, false if it is not loaded.
	Step(n int) (m wire.Message, ok bool, cmd tea.Cmd)
	// Position describes the selected row.
	Position() string
}

// MessageParts is the data fetched in addition to a message.
type MessageParts struct {
	Responses []wire.Attempt
	Headers   []wire.Header // custom headers of the subscription, without values
	NoHeaders string        // error text if Headers is unknown
	Withheld  string        // reason why the message is held, empty if it is not
}

// NewDetail returns the screen of a message of a list.
func NewDetail(list *List, m wire.Message) *Detail {
	return newDetail(list.HostSession, list, list.Bulk, list.Subscribers, m)
}

// newDetail returns the screen of a message that was opened from a list.
func newDetail(h ui.HostSession, list messageList, results *bulk, subscribers *names, m wire.Message) *Detail {
	s := &Detail{Base: ui.NewBase(h.Host), list: list, results: results, attempt: newestAttempt}
	s.Owner = s.HostSession
	s.documents = newDocuments(s.HostSession)
	s.Content = content{session: s.Session, subscribers: subscribers, Message: m}
	return s
}

func (s *Detail) Shown() tea.Cmd {
	if s.deleted {
		return s.Host.Pop()
	}
	return s.Poll()
}

func (s *Detail) Poll() tea.Cmd {
	s.Busy = true
	s.missed = false
	m := s.Content.Message
	return ui.Fetch(s.Ctx, s, fetchMessage(m.SubscriberID, m.MessageID, !s.partial), s.OnFetched)
}

// Follow fetches the message again when it has changed.
func (s *Detail) Follow(changes []wire.MessageChange, _ int) tea.Cmd {
	changed := slices.ContainsFunc(changes, func(c wire.MessageChange) bool {
		return c.MessageID == s.Content.Message.MessageID
	})
	if !changed || s.sending != "" { // it is fetched after the change in flight
		return nil
	}
	if s.Busy {
		s.missed = true
		return nil
	}
	return s.Poll()
}

// OnFetched shows the fetched message. It is fetched again if it has changed in the meantime.
func (s *Detail) OnFetched(fetched FetchedMessage, err error) tea.Cmd {
	s.Busy = false
	if err != nil {
		s.Host.ShowFetchError("fetching the message", err)
		return nil
	}
	isFirst := !s.Content.loaded
	s.Content.Message = fetched.Message
	s.Content.MessageParts = fetched.MessageParts
	s.Content.loaded = true
	s.fill()
	if isFirst {
		s.showAttempt()
	}
	if s.missed {
		return s.Poll()
	}
	return nil
}

// Tick refreshes times, and the queue statistics if the message is late.
func (s *Detail) Tick() tea.Cmd {
	if s.Host.SignInPending() {
		s.sending = "" // the result is shown after the sign-in
	}
	if MessageTabs[s.tab].timed {
		s.fill()
	}
	if !needsQueue(s.Content.Message, s.Session) {
		return nil
	}
	return s.Session.Queues.RefreshIfOld(s, func() tea.Cmd {
		s.fill()
		return nil
	})
}

func (s *Detail) SetSize(width, height int) {
	s.Base.SetSize(width, height)
	s.Content.width = width
	s.fill()
}

// fill builds the lines of the open tab.
func (s *Detail) fill() {
	s.ResizeTabs(s.Width, s.Height-len(s.head()))
	if s.Width == 0 {
		return
	}
	lines := MessageTabs[s.tab].lines(&s.Content)
	if s.divided() {
		s.SetLines(lines)
		s.Data.Values = s.Content.attemptValues(lines)
		s.ResizeTabs(s.Width, s.upperHeight()-len(s.head()))
		s.documents.setSearch(s.Search())
		s.documents.setSize(s.Width, s.Height-s.upperHeight()-1)
		s.documents.show(&s.Content, s.selectedAttempt())
		return
	}
	switch s.tab {
	case bodyTab:
		s.SetJSON(lines)
	case attemptsTab:
		selected := s.At
		s.SetLines(lines)
		s.Data.Values = s.Content.attemptValues(lines)
		s.Content.addSummary(&s.Pager, s.selectedAttempt())
		s.Scroll(selected - s.At) // the cursor may have been in the summary
	default:
		s.SetLines(lines)
	}
}

func (s *Detail) View() string { return strings.Join(s.drawn(s.Height), "\n") }

// drawn returns the head, and the open tab in the rest of height lines.
func (s *Detail) drawn(height int) []string {
	head := s.head() // new subscriber names can lengthen it
	return append(head, s.DrawTabs(messageTabNames(), s.tab, height-len(head))...)
}

// dividedMinHeight is the minimum height of a screen with the documents below the attempts.
const dividedMinHeight = 18

// divided reports whether the sent document and the answer are next to each other below the
// attempts.
func (s *Detail) divided() bool {
	hasRoom := s.PanelWidth() >= browse.PreviewMinWidth && s.Height >= dividedMinHeight
	return hasRoom && s.tab == attemptsTab && !s.partial
}

// upperHeight returns the height of the attempts with the head above them.
func (s *Detail) upperHeight() int {
	const tabs = 2
	return min(len(s.head())+tabs+max(len(s.Lines), 2), s.Height/2)
}

// Panels returns the attempts, and on a wide screen the documents below them.
func (s *Detail) Panels() []theme.Panel {
	if !s.divided() {
		return []theme.Panel{{Width: s.Width, Height: s.Height, Focused: true, Lines: s.drawn(s.Height)}}
	}
	height := s.upperHeight()
	attempts := theme.Panel{Width: s.Width, Height: height, Focused: true, Lines: s.drawn(height)}
	return append([]theme.Panel{attempts}, s.documents.panels(height+1)...)
}

// Click selects an attempt.
func (s *Detail) Click(_, y int, _ bool) tea.Cmd {
	const tabs = 2
	line := s.Top + y - len(s.head()) - tabs
	isAttempt := line >= attemptsTop && line < attemptsTop+len(s.Content.Responses)
	if s.tab == attemptsTab && isAttempt && line < s.Top+s.Rows {
		s.Scroll(line - s.At)
		s.selectAttempt()
	}
	return nil
}

func (s *Detail) Title() string { return ui.ShortID(s.Content.Message.MessageID) }

func (s *Detail) Badges() []string {
	m := s.Content.Message
	status, _ := s.Session.Theme.StatusText(m.Status)
	badges := []string{status}
	attempt := next(m, s.Session)
	if s.Content.Withheld != "" {
		attempt = withheld
	}
	if attempt == ui.Until(0) { // the other texts are clear without it, so that the event fits
		attempt = "next " + attempt
	}
	if attempt != noAttempt {
		badges = append(badges, attempt)
	}
	return append(badges, "att. "+attempts(m), m.EventName)
}

func (s *Detail) Status() string {
	return s.sending.progress()
}

// Count returns the number of the message in the list, and the number of messages.
func (s *Detail) Count() string { return s.list.Position() }

// Hints leaves out the keys of other messages if there are none.
func (s *Detail) Hints(bound []keymap.Binding) []keymap.Binding {
	if s.list.Position() != "1 of 1" {
		return bound
	}
	return slices.DeleteFunc(bound, func(b keymap.Binding) bool {
		return b.Action == keymap.PreviousPage || b.Action == keymap.NextPage
	})
}

func (s *Detail) Scopes() []keymap.Scope {
	return []keymap.Scope{keymap.InMessage, keymap.InLists}
}

func (s *Detail) Waiting() bool { return s.Busy || s.sending != "" }

func (s *Detail) Equivalent() string { return "whctl messages show " + s.Content.Message.MessageID }

func (s *Detail) Do(b keymap.Binding) tea.Cmd {
	if s.divided() && (s.documents.scroll(b.Action) || s.findNext(b.Action)) {
		return nil
	}
	if s.Move(b) {
		s.documents.match = noMatch
		s.selectAttempt()
		return nil
	}
	switch b.Action {
	case keymap.NextTab:
		s.switchTab(1)
	case keymap.PreviousTab:
		s.switchTab(-1)
	case keymap.Retry:
		s.change(s.finish).confirmRetry()
	case keymap.Delete:
		s.change(s.finishDelete).confirmDelete()
	case keymap.PreviousPage:
		return s.step(-1)
	case keymap.NextPage:
		return s.step(1)
	case keymap.CopyCell:
		s.Host.Copy(s.Value())
	case keymap.ShowWhy:
		return ui.OpenWhy(s.Host, s.Content.Message)
	case keymap.CopyRow:
		s.Host.Copy(s.Content.tabText(s.tab, s.Lines))
	case keymap.Reveal:
		s.Content.revealed = !s.Content.revealed
		s.fill()
	case keymap.Export:
		s.Host.ShowInput(s.saveLine())
	}
	return nil
}

// change returns a change of the message.
func (s *Detail) change(finish func(id string, err error) tea.Cmd) singleChange {
	return singleChange{
		screen:  s,
		results: s.results,
		message: s.Content.Message,
		begin:   s.sending.begin,
		finish:  finish,
	}
}

// finish handles the result of a change.
func (s *Detail) finish(string, error) tea.Cmd {
	s.sending = ""
	return s.Poll()
}

// finishDelete closes the screen of a deleted message, at the latest when it is shown next.
func (s *Detail) finishDelete(id string, err error) tea.Cmd {
	if err != nil || id != s.Content.Message.MessageID { // another message is shown by now
		return s.finish(id, err)
	}
	s.sending = ""
	s.deleted = true
	cmd := s.results.finish(id, nil)
	if s.Host.Front() == ui.Screen(s) {
		cmd = tea.Batch(cmd, s.Host.Pop())
	}
	return cmd
}

// step shows the message n rows further in the list.
func (s *Detail) step(n int) tea.Cmd {
	m, ok, cmd := s.list.Step(n)
	if !ok {
		return cmd
	}
	s.Reset()
	s.attempt = newestAttempt
	s.documents = newDocuments(s.HostSession)
	s.Content = content{session: s.Session, subscribers: s.Content.subscribers, width: s.Width, Message: m}
	s.fill()
	return tea.Batch(cmd, s.Poll())
}

// switchTab opens the tab n tabs further.
func (s *Detail) switchTab(n int) {
	s.tab = (s.tab + n + len(MessageTabs)) % len(MessageTabs)
	s.fill()
	s.Scroll(-len(s.Lines))
	s.showAttempt()
}

// selectedAttempt returns the index of the selected attempt, -1 if there is none.
func (s *Detail) selectedAttempt() int {
	newest := len(s.Content.Responses) - 1
	if s.attempt == newestAttempt {
		return newest
	}
	return min(s.attempt, newest)
}

// attemptsTop is the index of the line of the first attempt, after the title.
const attemptsTop = 1

// selectAttempt selects the attempt with the cursor: its answer is shown below. In the answer,
// the attempt stays selected.
func (s *Detail) selectAttempt() {
	index := max(0, s.At-attemptsTop)
	isAttempt := index < len(s.Content.Responses)
	if s.tab == attemptsTab && isAttempt && index != s.selectedAttempt() {
		s.attempt = index
		s.fill()
	}
}

// showAttempt moves the cursor to the selected attempt. A preview has no cursor.
func (s *Detail) showAttempt() {
	if s.tab == attemptsTab && !s.partial {
		s.Scroll(attemptsTop + max(0, s.selectedAttempt()) - s.At)
	}
}

// saveLine returns the input line for the path of the saved body.
func (s *Detail) saveLine() *ui.InputLine {
	l := ui.NewInputLine(s.Host, "save", "save body to", s.Content.bodyPath())
	l.Help = ui.Size(len(s.Content.Message.Body)) + ", byte for byte as sent; " +
		keymap.KeyFor(keymap.InLine, keymap.Submit) + " saves, " +
		keymap.KeyFor(keymap.InLine, keymap.GoBack) + " cancels"
	l.Check = func(path string) error {
		if !s.Content.loaded {
			return errors.New("the body is still loading")
		}
		return export.CheckPath(path, "")
	}
	l.Accept = func(path string) tea.Cmd {
		if err := export.WriteNew(path, []byte(s.Content.Message.Body)); err != nil {
			s.Host.ShowError("saving the body", err)
			return nil
		}
		s.Host.Notify(ui.Info, ui.Size(len(s.Content.Message.Body))+" written to "+path)
		s.Content.saved = path
		s.fill()
		return nil
	}
	return l
}

// FetchedMessage is a message with its attempts, oldest first.
type FetchedMessage struct {
	Message wire.Message
	MessageParts
}

// fetchMessage returns a function that fetches a message with its attempts and, on
// request, the headers of its subscription.
func fetchMessage(subscriber, id string, headers bool) func(context.Context, *client.Client) (FetchedMessage, error) {
	return func(ctx context.Context, c *client.Client) (m FetchedMessage, err error) {
		page, err := c.Messages(ctx, subscriber, url.Values{"MessageID": {id}, "Take": {"1"}})
		if err != nil {
			return m, err
		}
		if len(page.Results) == 0 {
			return m, errors.New("the message no longer exists")
		}
		m.Message = page.Results[0]
		m.Withheld = page.Meta[wire.MetaHeld]
		responses, err := c.Attempts(ctx, url.Values{"MessageID": {id}, "OrderBy": {"ItemNo"}, "Take": {"200"}})
		if err != nil {
			return m, err
		}
		m.Responses = responses.Results
		if headers {
			m.Headers, m.NoHeaders = subscriptionHeaders(ctx, c, &m.Message)
		}
		return m, nil
	}
}

// subscriptionHeaders returns the headers of a message's subscription, or an error text.
func subscriptionHeaders(ctx context.Context, c *client.Client, m *wire.Message) (headers []wire.Header, why string) {
	list, err := c.Subscriptions(ctx, m.SubscriberID)
	if err != nil {
		return nil, err.Error()
	}
	for _, s := range list {
		if s.RecID == m.SubscriptionID {
			return s.Headers, ""
		}
	}
	return nil, "the subscription no longer exists"
}

func (s *Detail) Retime() string {
	s.fill()
	return ""
}

func (s *Detail) Commands() []string {
	return []string{
		"whctl messages retry " + s.Content.Message.MessageID,
		"whctl messages delete " + s.Content.Message.MessageID,
	}
}

// head returns the lines above the tabs.
func (s *Detail) head() []string {
	lines := s.Content.head()
	if s.partial {
		lines = append(lines, theme.Spaces(s.Width))
	}
	return lines
}
