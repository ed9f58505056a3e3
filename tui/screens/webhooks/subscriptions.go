package webhooks

import (
	"context"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// Commands implements ui.Commander.
func (s *Subscriptions) Commands() []string {
	list := []string{"whctl subscriptions create " + ui.Quote(s.Subscriber.Name) + " EVENT URL"}
	if one, ok := s.Selected(); ok {
		list = append(list, subscriptionDeeds(one)...)
	}
	return list
}

// Subscriptions lists what one subscriber gets.
type Subscriptions struct {
	browse.SearchTable
	Subscriber wire.Subscriber
	master     *Subscribers // at the left, where there is room; nil for none
	List       []wire.Subscription
	fitted     fitted
	loaded     bool
	busy       bool
	Sought     string // the id of a subscription to select once it is here
}

// NewSubscriptions lists the subscriptions of a subscriber.
func NewSubscriptions(h ui.Host, subscriber wire.Subscriber) *Subscriptions {
	s := &Subscriptions{SearchTable: browse.NewSearchTable(h, "subscriptions", "words of the event, the URL or the state"), Subscriber: subscriber, fitted: fitted{all: subscriptionColumns}}
	s.Refill = s.fill
	s.fitted.fit(s.Grid, ui.MinWidth)
	return s
}

// Shown implements ui.Screen.
func (s *Subscriptions) Shown() tea.Cmd { return s.Poll() }

// Title implements ui.Screen.
func (s *Subscriptions) Title() string { return s.Subscriber.Name }

// Scopes implements ui.Screen.
func (s *Subscriptions) Scopes() []keymap.Scope {
	return []keymap.Scope{keymap.InSubscriptions, keymap.InLists}
}

// Waiting implements ui.Waiter.
func (s *Subscriptions) Waiting() bool { return s.busy }

// Badges implements ui.Screen.
func (s *Subscriptions) Badges() []string {
	badges := []string{ui.ShortID(s.Subscriber.RecID)}
	if s.loaded { // before, the subscriber may be known by its name only
		badges = append(badges, onOff(s.Subscriber.IsEnabled))
	}
	return append(badges, s.SearchTable.Badges()...)
}

// Equivalent implements ui.Screen.
func (s *Subscriptions) Equivalent() string {
	return "whctl subscriptions list --subscriber " + ui.Quote(s.Subscriber.Name)
}

// Poll implements ui.Poller.
func (s *Subscriptions) Poll() tea.Cmd {
	s.busy = true
	return tea.Batch(s.ask(), s.Queues.RefreshNow(s, s.figured))
}

// ask fetches the subscriptions.
func (s *Subscriptions) ask() tea.Cmd {
	return ui.Fetch(s.Ctx, s, fetchSubscriber(s.Subscriber.RecID), s.took)
}

// Tick lets the figures go on.
func (s *Subscriptions) Tick() tea.Cmd { return s.Queues.Refresh(s, s.figured) }

// figured shows how deliveries are.
func (s *Subscriptions) figured() tea.Cmd {
	s.fill()
	if s.split() {
		s.master.fill()
	}
	if s.Queues.EnabledChanged(s.Subscriber, s.List...) {
		return s.ask()
	}
	return nil
}

// Status says of the selected subscription why nothing goes out, if so.
func (s *Subscriptions) Status() string {
	if s.loaded && len(s.List) == 0 {
		return "no subscriptions yet: n adds one"
	}
	if one, ok := s.Selected(); ok {
		if why := trouble(one, s.Session); why != "" {
			return s.Grid.PositionText() + "   " + why
		}
	}
	return s.Grid.PositionText()
}

// took takes the subscriber with its subscriptions.
func (s *Subscriptions) took(of *wire.Subscriber, err error) tea.Cmd {
	s.busy = false
	if err != nil {
		s.ShowFetchError("fetching subscriptions", err)
		return nil
	}
	s.List, s.loaded = of.Subscriptions, true
	s.renew(*of)
	s.fill()
	if s.Sought != "" && s.Grid.Select(s.Sought) {
		s.Sought = ""
	}
	return nil
}

// renew takes what the subscriber is now, also for the list of subscribers.
func (s *Subscriptions) renew(of wire.Subscriber) {
	of.Subscriptions = nil
	s.Subscriber = of
	if s.master != nil {
		s.master.renew(of)
	}
}

// fill makes the rows of those that hold all words that are sought.
func (s *Subscriptions) fill() {
	var rows []*grid.Row
	for _, one := range s.List {
		state := stateCell(one, s.Session)
		if !s.ContainsWords(one.EventName, ui.ShortURL(one.URL), state.Text, one.DisabledReason) {
			continue
		}
		rows = append(rows, &grid.Row{ID: one.RecID, Cells: s.fitted.cells(subscriptionCells(one, state, s.Session)...)})
	}
	s.Grid.SetRows(grid.NewList(rows))
}

// Take puts what a subscription is now into the list, which may have been older
// than the form.
func (s *Subscriptions) Take(now wire.Subscription) {
	if i := slices.IndexFunc(s.List, func(one wire.Subscription) bool { return one.RecID == now.RecID }); i >= 0 {
		s.List[i] = now
		s.fill()
	}
}

// Selected is the selected subscription, false for none.
func (s *Subscriptions) Selected() (wire.Subscription, bool) {
	return browse.SelectedItem(&s.Table, s.List, func(one wire.Subscription) string { return one.RecID })
}

// Do implements ui.Screen.
func (s *Subscriptions) Do(b keymap.Binding) tea.Cmd {
	if s.Move(b) {
		return nil
	}
	if b.Action == keymap.AddNew {
		s.ShowOverlay(s.NewForm(""))
		return nil
	}
	one, ok := s.Selected()
	switch {
	case !ok:
		return nil
	case b.Action == keymap.ShowInfo:
		return s.Push(NewSubscription(s, one))
	}
	return act(s, s.Subscriber, one, b.Action)
}

// NewForm asks for a new subscription.
func (s *Subscriptions) NewForm(event string) ui.Overlay {
	return SubscriptionForm(s, "New subscription for "+s.Subscriber.Name, event, func(map[string]string) (string, error) { return s.Subscriber.RecID, nil })
}

// fetchSubscriber fetches a subscriber with its subscriptions.
func fetchSubscriber(id string) func(context.Context, *client.Client) (*wire.Subscriber, error) {
	return func(ctx context.Context, c *client.Client) (*wire.Subscriber, error) { return c.Subscriber(ctx, id) }
}
