package messages

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// Why is the history of a key as a timeline: changes and events with the messages of each
// subscription, their attempts, and the reasons for those that are missing.
type Why struct {
	ui.Base
	key      string
	why      *wire.Why
	search   string
	timeline timeline
	results  *bulk                // of retries
	missed   []wire.MessageChange // arrived while a fetch was in flight
	placed   bool                 // the cursor was placed on the last problem
}

// NewWhy returns the history of a key.
func NewWhy(h ui.Host, key string) *Why {
	s := &Why{Base: ui.NewBase(h), key: key, why: new(wire.Why)}
	s.timeline.session = s.Session
	unmarked := &marks{grid: grid.New(s.Session.Theme, true)}
	s.results = &bulk{host: h, list: s, session: s.Session, marks: unmarked}
	return s
}

func (s *Why) Shown() tea.Cmd { return s.Poll() }

// Title returns the key, with the kind of its record if it is known.
func (s *Why) Title() string {
	kind := ""
	for _, step := range s.why.Steps {
		isAboutKey := step.ChangeID != 0 || step.EventID != ""
		if isAboutKey && step.Kind != "" {
			kind = step.Kind + " "
			break
		}
	}
	return "Why " + kind + s.key
}

func (s *Why) Badges() []string {
	if s.search == "" {
		return nil
	}
	return []string{s.search}
}

// Count returns the numbers of changes, or else of events, and of subscriptions.
func (s *Why) Count() string {
	changes := make(map[int64]bool)
	events := make(map[string]bool)
	subscriptions := make(map[string]bool)
	for _, step := range s.why.Steps {
		changes[step.ChangeID] = true
		events[step.EventID] = true
		subscriptions[step.SubscriptionID] = true
	}
	delete(changes, 0)
	delete(events, "")
	delete(subscriptions, "")
	var parts []string
	if len(changes) > 0 {
		parts = append(parts, display.Count(len(changes), "change", "changes"))
	} else if len(events) > 0 {
		parts = append(parts, display.Count(len(events), "event", "events"))
	}
	if len(subscriptions) > 0 {
		parts = append(parts, display.Count(len(subscriptions), "subscription", "subscriptions"))
	}
	return strings.Join(parts, ", ")
}

func (s *Why) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InWhy, keymap.InLists} }

func (s *Why) Equivalent() string { return "whctl why " + ui.Quote(s.key) }

// Commands returns the command for the selected message.
func (s *Why) Commands() []string {
	m, ok := s.selected()
	if !ok {
		return nil
	}
	return []string{"whctl messages retry " + m.MessageID}
}

func (s *Why) Poll() tea.Cmd {
	key := s.key
	read := func(ctx context.Context, c *client.Client) (*wire.Why, error) {
		return c.WhyOf(ctx, key)
	}
	s.Busy = true
	return ui.Fetch(s.Ctx, s, read, s.show)
}

// show shows a history that was fetched. It is fetched again if one of its messages has changed
// in the meantime.
func (s *Why) show(why *wire.Why, err error) tea.Cmd {
	s.Busy = false
	missed := s.missed
	s.missed = nil
	if err != nil {
		s.Host.ShowFetchError("fetching the history of the key", err)
		return nil
	}
	s.why = why
	s.key = why.Key // of a message, if the screen was opened by its ID
	s.fill()
	if !s.placed {
		s.placed = true
		s.placeCursor()
	}
	return s.Follow(missed, 0)
}

// placeCursor selects the last failed attempt of a message that is not delivered, or else the last
// step with a message.
func (s *Why) placeCursor() {
	last, problem := -1, -1
	for i, item := range s.timeline.items {
		step := s.step(item.id)
		if step == nil || step.MessageID == "" {
			continue
		}
		last = i
		isFailure := step.Step == wire.WhyAttempt && s.statusOf(step.MessageID) != ui.StatusDelivered
		if isFailure || step.Step == wire.WhyFailed {
			problem = i
		}
	}
	if problem >= 0 {
		last = problem
	}
	if last >= 0 {
		s.timeline.index = last
		s.timeline.move(0)
	}
}

// Follow fetches the steps again when one of the messages has changed.
func (s *Why) Follow(changes []wire.MessageChange, _ int) tea.Cmd {
	if s.Busy {
		s.missed = append(s.missed, changes...)
		return nil
	}
	changed := slices.ContainsFunc(changes, func(c wire.MessageChange) bool {
		return slices.ContainsFunc(s.why.Steps, func(step wire.WhyStep) bool { return step.MessageID == c.MessageID })
	})
	if !changed {
		return nil
	}
	return s.Poll()
}

// Tick refreshes the times until the next attempts.
func (s *Why) Tick() tea.Cmd {
	if s.Host.SignInPending() {
		s.results.sending = "" // the result is shown after the sign-in
	}
	s.fill()
	return nil
}

// Retime shows the times in another zone.
func (s *Why) Retime() string {
	s.fill()
	return ""
}

func (s *Why) Status() string {
	if progress := s.results.sending.progress(); progress != "" {
		return progress
	}
	if s.why.More {
		return "there are older steps"
	}
	return ""
}

func (s *Why) Waiting() bool { return s.Busy || s.results.sending != "" }

func (s *Why) SetSize(width, height int) {
	s.Base.SetSize(width, height)
	s.timeline.setSize(width, height)
}

func (s *Why) View() string { return s.timeline.view() }

// Find returns the search input, which filters the steps while the user types.
func (s *Why) Find() *ui.InputLine {
	l := ui.NewInputLine(s.Host, "why", "/", s.search)
	l.Help = "part of a line; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " applies it"
	l.Check = func(text string) error {
		s.search = text
		s.fill()
		return nil
	}
	l.Accept = func(string) tea.Cmd { return nil }
	return l
}

// fill builds the items of the timeline.
func (s *Why) fill() {
	layout := whyLayout{session: s.Session, search: strings.ToLower(s.search)}
	s.timeline.set(layout.items(s.why.Steps))
}

// step returns the step with an ID of the timeline, nil for none.
func (s *Why) step(id string) *wire.WhyStep {
	for i := range s.why.Steps {
		if id != "" && whyID(s.why.Steps[i]) == id {
			return &s.why.Steps[i]
		}
	}
	return nil
}

// whyID identifies a step.
func whyID(step wire.WhyStep) string {
	return step.Step + step.Text + time.Time(step.At).String() + step.MessageID
}

// statusOf returns the status of a message by its last step.
func (s *Why) statusOf(message string) int {
	status := ui.StatusNotSent
	for _, step := range s.why.Steps {
		if step.MessageID != message {
			continue
		}
		switch step.Step {
		case wire.WhyAttempt:
			status = ui.StatusRetrying
		case wire.WhyDelivered:
			status = ui.StatusDelivered
		case wire.WhyFailed:
			status = ui.StatusFailed
		}
	}
	return status
}

// selected returns the message of the selected step as far as the steps describe it, false if it
// has none.
func (s *Why) selected() (m wire.Message, ok bool) {
	step := s.step(s.timeline.selectedID())
	if step == nil || step.MessageID == "" {
		return m, false
	}
	return s.message(step.MessageID), true
}

// message returns a message as far as the steps describe it.
func (s *Why) message(id string) wire.Message {
	m := wire.Message{MessageID: id, Status: s.statusOf(id), Key: s.why.Key}
	for _, step := range s.why.Steps {
		if step.MessageID != id {
			continue
		}
		m.SubscriberID = step.SubscriberID
		m.SubscriptionID = step.SubscriptionID
		m.EventName = step.EventName
		m.URL = step.URL
		switch step.Step {
		case wire.WhyMessage:
			m.AddedDateTime = step.At
		case wire.WhyAttempt:
			m.Retries++
			m.LastMessageResponseHTTPCode = nil
			if step.Code != 0 {
				m.LastMessageResponseHTTPCode = new(step.Code)
			}
			m.LastMessageResponseMessage = attemptOf(step).result
		}
		m.NextAttemptDateTime = step.Due
	}
	return m
}

func (s *Why) Do(b keymap.Binding) tea.Cmd {
	if s.timeline.handle(b.Action) {
		return nil
	}
	switch b.Action {
	case keymap.Open:
		return s.open()
	case keymap.Retry:
		m, ok := s.selected()
		if !ok {
			s.Host.Notify(ui.Warning, "select an attempt: this step has no message to retry")
			return nil
		}
		change := singleChange{
			screen:  s,
			results: s.results,
			message: m,
			begin:   s.results.sending.begin,
			finish:  s.results.finish,
		}
		change.confirmRetry()
	case keymap.CopyCell:
		if step := s.step(s.timeline.selectedID()); step != nil {
			s.Host.Copy(step.Text)
		}
	}
	return nil
}

// open opens the message of the selected step, or else the messages with the key.
func (s *Why) open() tea.Cmd {
	m, ok := s.selected()
	if ok {
		return s.Host.Push(newDetail(s.HostSession, s, s.results, s.names(), m))
	}
	ofKey := client.Filter{Field: "Key", Operator: record.Equal, Values: []string{s.key}}
	return s.Host.Open(ui.MessagesTarget{
		Here:          true,
		MessageFilter: ui.MessageFilter{Conditions: []client.Filter{ofKey}},
	})
}

// names returns the names of the subscribers.
func (s *Why) names() *names {
	fetched := make(map[string]string)
	for _, step := range s.why.Steps {
		if step.Subscriber != "" {
			fetched[step.SubscriberID] = step.Subscriber
		}
	}
	return &names{queues: &s.Session.Queues, Fetched: fetched, requested: true}
}

// Click selects a step; a double click opens it.
func (s *Why) Click(_, y int, double bool) tea.Cmd {
	if s.timeline.selectAt(y) && double {
		return s.open()
	}
	return nil
}

// Send sends a change of messages.
func (s *Why) Send(c ui.Change) tea.Cmd {
	c.Screen = s
	return s.Host.Change(c)
}

// messageIDs returns the IDs of the messages in the order of the timeline.
func (s *Why) messageIDs() []string {
	var ids []string
	for _, item := range s.timeline.items {
		step := s.step(item.id)
		if step != nil && step.MessageID != "" && !slices.Contains(ids, step.MessageID) {
			ids = append(ids, step.MessageID)
		}
	}
	return ids
}

// Step selects the message n messages further, and returns it, false if there is none.
func (s *Why) Step(n int) (m wire.Message, ok bool, cmd tea.Cmd) {
	current, ok := s.selected()
	ids := s.messageIDs()
	i := slices.Index(ids, current.MessageID) + n
	if !ok || i < 0 || i >= len(ids) {
		return m, false, nil
	}
	for index, item := range s.timeline.items {
		if step := s.step(item.id); step != nil && step.MessageID == ids[i] {
			s.timeline.index = index
		}
	}
	s.timeline.reveal()
	return s.message(ids[i]), true, nil
}

// Position describes the selected message.
func (s *Why) Position() string {
	current, ok := s.selected()
	if !ok {
		return ""
	}
	ids := s.messageIDs()
	return display.Thousands(slices.Index(ids, current.MessageID)+1) + " of " + display.Thousands(len(ids))
}
