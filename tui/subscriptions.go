package tui

import (
	"context"
	"slices"

	"github.com/bizhook/whd/tui/browse"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// subscriptions lists what one subscriber gets.
type subscriptions struct {
	browse.SearchTable
	subscriber wire.Subscriber
	master     *subscribers // at the left, where there is room; nil for none
	list       []wire.Subscription
	fitted     fitted
	loaded     bool
	busy       bool
	sought     string // the id of a subscription to select once it is here
}

func newSubscriptions(h ui.Host, subscriber wire.Subscriber) *subscriptions {
	s := &subscriptions{SearchTable: browse.NewSearchTable(h, "subscriptions", "words of the event, the URL or the state"), subscriber: subscriber, fitted: fitted{all: subscriptionColumns}}
	s.Refill = s.fill
	s.fitted.fit(s.Grid, ui.MinWidth)
	return s
}

func (s *subscriptions) Shown() tea.Cmd { return s.Poll() }
func (s *subscriptions) Title() string  { return s.subscriber.Name }
func (s *subscriptions) Scopes() []keymap.Scope {
	return []keymap.Scope{keymap.InSubscriptions, keymap.InLists}
}
func (s *subscriptions) Waiting() bool { return s.busy }
func (s *subscriptions) Badges() []string {
	chips := []string{ui.ShortID(s.subscriber.RecID)}
	if s.loaded { // before, the subscriber may be known by its name only
		chips = append(chips, onOff(s.subscriber.IsEnabled))
	}
	return append(chips, s.SearchTable.Badges()...)
}
func (s *subscriptions) Equivalent() string {
	return "whctl subscriptions list --subscriber " + ui.Quote(s.subscriber.Name)
}

func (s *subscriptions) Poll() tea.Cmd {
	s.busy = true
	return tea.Batch(s.ask(), s.Queues.RefreshNow(s, s.figured))
}

// ask fetches the subscriptions.
func (s *subscriptions) ask() tea.Cmd {
	return ui.Fetch(s.Ctx, s, fetchSubscriber(s.subscriber.RecID), s.took)
}

// Tick lets the figures go on.
func (s *subscriptions) Tick() tea.Cmd { return s.Queues.Refresh(s, s.figured) }

// figured shows how deliveries are.
func (s *subscriptions) figured() tea.Cmd {
	s.fill()
	if s.split() {
		s.master.fill()
	}
	if s.Queues.Turned(s.subscriber, s.list...) {
		return s.ask()
	}
	return nil
}

// Status says of the selected subscription why nothing goes out, if so.
func (s *subscriptions) Status() string {
	if s.loaded && len(s.list) == 0 {
		return "no subscriptions yet: n adds one"
	}
	if one, ok := s.selected(); ok {
		if why := trouble(one, s.Session); why != "" {
			return s.Grid.Place() + "   " + why
		}
	}
	return s.Grid.Place()
}

// took takes the subscriber with its subscriptions.
func (s *subscriptions) took(of *wire.Subscriber, err error) tea.Cmd {
	s.busy = false
	if err != nil {
		s.FetchFailed("fetching subscriptions", err)
		return nil
	}
	s.list, s.loaded = of.Subscriptions, true
	s.renew(*of)
	s.fill()
	if s.sought != "" && s.Grid.Select(s.sought) {
		s.sought = ""
	}
	return nil
}

// renew takes what the subscriber is now, also for the list of subscribers.
func (s *subscriptions) renew(of wire.Subscriber) {
	of.Subscriptions = nil
	s.subscriber = of
	if s.master != nil {
		s.master.renew(of)
	}
}

// fill makes the rows of those that hold all words that are sought.
func (s *subscriptions) fill() {
	var rows []*grid.Row
	for _, one := range s.list {
		state := stateCell(one, s.Session)
		if !s.ContainsWords(one.EventName, ui.ShortURL(one.URL), state.Text, one.DisabledReason) {
			continue
		}
		rows = append(rows, &grid.Row{ID: one.RecID, Cells: s.fitted.cells(subscriptionCells(one, state, s.Session)...)})
	}
	s.Grid.SetRows(grid.NewList(rows))
}

// take puts what a subscription is now into the list, which may have been older
// than the form.
func (s *subscriptions) take(now wire.Subscription) {
	if i := slices.IndexFunc(s.list, func(one wire.Subscription) bool { return one.RecID == now.RecID }); i >= 0 {
		s.list[i] = now
		s.fill()
	}
}

func (s *subscriptions) selected() (wire.Subscription, bool) {
	return browse.RowOf(&s.Table, s.list, func(one wire.Subscription) string { return one.RecID })
}

func (s *subscriptions) Do(b keymap.Binding) tea.Cmd {
	if s.Move(b) {
		return nil
	}
	if b.Action == keymap.AddNew {
		s.Show(s.newForm(""))
		return nil
	}
	one, ok := s.selected()
	switch {
	case !ok:
		return nil
	case b.Action == keymap.ShowInfo:
		return s.Push(newSubscription(s, one))
	}
	return act(s, s.subscriber, one, b.Action)
}

// newForm asks for a new subscription.
func (s *subscriptions) newForm(event string) ui.Overlay {
	return subscriptionForm(s, "New subscription for "+s.subscriber.Name, event, func(map[string]string) (string, error) { return s.subscriber.RecID, nil })
}

// fetchSubscriber fetches a subscriber with its subscriptions.
func fetchSubscriber(id string) func(context.Context, *client.Client) (*wire.Subscriber, error) {
	return func(ctx context.Context, c *client.Client) (*wire.Subscriber, error) { return c.Subscriber(ctx, id) }
}
