package tui

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// subscriptions lists what one subscriber gets.
type subscriptions struct {
	table
	subscriber wire.Subscriber
	master     *subscribers // at the left, where there is room; nil for none
	list       []wire.Subscription
	fitted     fitted
	loaded     bool
	busy       bool
	search     string
	sought     string // the id of a subscription to select once it is here
}

func newSubscriptions(a *app, subscriber wire.Subscriber) screen {
	s := &subscriptions{table: newTable(a, true), subscriber: subscriber, fitted: fitted{all: subscriptionColumns}}
	s.fitted.fit(s.grid, leastWidth)
	return s
}

func (s *subscriptions) shown() tea.Cmd { return s.poll() }
func (s *subscriptions) title() string  { return s.subscriber.Name }
func (s *subscriptions) scopes() []keymap.Scope {
	return []keymap.Scope{keymap.InSubscriptions, keymap.InLists}
}
func (s *subscriptions) waiting() bool { return s.busy }
func (s *subscriptions) chips() []string {
	chips := []string{ui.ShortID(s.subscriber.RecID)}
	if s.loaded { // before, the subscriber may be known by its name only
		chips = append(chips, onOff(s.subscriber.IsEnabled))
	}
	if s.search != "" {
		chips = append(chips, s.search)
	}
	return chips
}
func (s *subscriptions) twin() string {
	return "whctl subscriptions list --subscriber " + argument(s.subscriber.Name)
}

func (s *subscriptions) poll() tea.Cmd {
	s.busy = true
	return tea.Batch(fetchSubscriptions(s.context, s.app.client, s, s.subscriber.RecID), s.app.figuresNow(s))
}

// tick lets the figures go on.
func (s *subscriptions) tick() tea.Cmd { return s.app.figures(s) }

// status says of the selected subscription why nothing goes out, if so.
func (s *subscriptions) status() string {
	if s.loaded && len(s.list) == 0 {
		return "no subscriptions yet: n adds one"
	}
	if one, ok := s.selected(); ok {
		if why := s.app.trouble(one); why != "" {
			return s.grid.Place() + "   " + why
		}
	}
	return s.grid.Place()
}

func (s *subscriptions) update(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case subscriptionsMsg:
		s.busy = false
		if m.err != nil {
			s.app.unfetched("fetching subscriptions", m.err)
			return nil
		}
		s.list, s.loaded = m.list, true
		s.renew(m.subscriber)
		s.fill()
		if s.sought != "" && s.grid.Select(s.sought) {
			s.sought = ""
		}
	case lanesMsg:
		s.app.explained(m)
		s.fill()
		if s.split() {
			s.master.fill()
		}
		if s.app.lanes.turned(s.subscriber, s.list...) {
			return fetchSubscriptions(s.context, s.app.client, s, s.subscriber.RecID)
		}
	case doneMsg:
		s.app.done(m)
		return s.poll()
	case stakeMsg:
		s.app.askRemove(m)
	case subscriptionMsg:
		return s.added(m)
	case changedMsg:
		return s.edited(m)
	}
	return nil
}

// renew takes what the subscriber is now, also for the list of subscribers.
func (s *subscriptions) renew(of *wire.Subscriber) {
	if of == nil {
		return
	}
	s.subscriber = *of
	if s.master != nil {
		s.master.renew(*of)
	}
}

// fill makes the rows of those that hold all words that are sought.
func (s *subscriptions) fill() {
	var rows []*grid.Row
	for _, one := range s.list {
		state := s.app.stateCell(one)
		if !holdsWords(s.search, one.EventName, ui.ShortURL(one.URL), state.Text, one.DisabledReason) {
			continue
		}
		rows = append(rows, &grid.Row{ID: one.RecID, Cells: s.fitted.cells(s.app.subscriptionCells(one, state)...)})
	}
	s.grid.SetRows(grid.NewList(rows))
}

// find narrows the list while it is typed.
func (s *subscriptions) find() *line {
	l := newLine(s.app, "subscriptions", "/", s.search)
	l.help = "words of the event, the URL or the state; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " keeps it"
	l.check = func(text string) error {
		s.search = text
		s.fill()
		return nil
	}
	l.accept = func(string) tea.Cmd { return nil }
	return l
}

// added tells how a new subscription went.
func (s *subscriptions) added(m subscriptionMsg) tea.Cmd {
	s.app.subscribed(m)
	return s.poll()
}

// edited puts what a subscription is now into the list, which may have been older
// than the form.
func (s *subscriptions) edited(m changedMsg) tea.Cmd {
	if m.subscription != nil {
		if i := slices.IndexFunc(s.list, func(one wire.Subscription) bool { return one.RecID == m.subscription.RecID }); i >= 0 {
			s.list[i] = *m.subscription
			s.fill()
		}
	}
	s.app.changed(m)
	return s.poll()
}

func (s *subscriptions) selected() (wire.Subscription, bool) {
	row := s.grid.Row()
	if row == nil {
		return wire.Subscription{}, false
	}
	i := slices.IndexFunc(s.list, func(one wire.Subscription) bool { return one.RecID == row.ID })
	if i < 0 {
		return wire.Subscription{}, false
	}
	return s.list[i], true
}

func (s *subscriptions) do(b keymap.Binding) tea.Cmd {
	if s.move(b) {
		return nil
	}
	if b.Action == keymap.AddNew {
		s.app.over = s.newForm("")
		return nil
	}
	one, ok := s.selected()
	switch {
	case !ok:
		return nil
	case b.Action == keymap.ShowInfo:
		return s.app.push(newSubscription(s, one))
	}
	return s.app.act(s, s.subscriber, one, b.Action)
}

// newForm asks for a new subscription.
func (s *subscriptions) newForm(event string) overlay {
	return s.app.subscriptionForm("New subscription for "+s.subscriber.Name, event, s, func(map[string]string) (string, error) { return s.subscriber.RecID, nil })
}

// fetchSubscriptions fetches the subscriptions of a subscriber with the subscriber
// itself, or those of all where it is empty.
func fetchSubscriptions(ctx context.Context, c *client.Client, to screen, subscriber string) tea.Cmd {
	return func() tea.Msg {
		m := subscriptionsMsg{reply: reply{to: to}}
		if subscriber != "" {
			if m.subscriber, m.err = c.Subscriber(ctx, subscriber); m.err == nil {
				m.list, m.subscriber.Subscriptions = m.subscriber.Subscriptions, nil
			}
			return m
		}
		page, err := c.AllSubscriptions(ctx, url.Values{"Take": {strconv.Itoa(listMost)}})
		if m.err = err; err == nil {
			m.list = page.Results
		}
		return m
	}
}
