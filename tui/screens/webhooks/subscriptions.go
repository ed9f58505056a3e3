package webhooks

import (
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Subscriptions is the list of a subscriber's subscriptions.
type Subscriptions struct {
	browse.SearchTable
	Subscriber wire.Subscriber
	left       leftList // nil if it was not opened from the list of subscribers
	List       []wire.Subscription
	columns    responsiveColumns
	loaded     bool
	SelectID   string // ID of the subscription to select once it is loaded
}

// leftList is the list of subscribers that is shown on the left of a subscriber's subscriptions.
type leftList interface {
	// Redraw builds the rows again.
	Redraw()
	// Replace updates a subscriber of the list.
	Replace(subscriber wire.Subscriber)
	// SetCount updates the number of subscriptions of a subscriber.
	SetCount(id string, subscriptions int)
	// Fit sets the size of the list.
	Fit(width, height int)
	// LeftPanel returns the panel of the list.
	LeftPanel() theme.Panel
}

// NewSubscriptions returns the list of a subscriber's subscriptions.
func NewSubscriptions(h ui.Host, subscriber wire.Subscriber) *Subscriptions {
	return newSubscriptions(h, subscriber, nil)
}

// newSubscriptions returns the list of a subscriber's subscriptions, to the right of the list of
// subscribers unless that is nil.
func newSubscriptions(h ui.Host, subscriber wire.Subscriber, left leftList) *Subscriptions {
	s := &Subscriptions{
		SearchTable: browse.NewSearchTable(h, "subscriptions", "words in the event, URL or state"),
		Subscriber:  subscriber,
		left:        left,
		columns:     responsiveColumns{all: subscriptionColumns},
	}
	s.Refill = s.fill
	s.Grid.Empty = func() string {
		return emptyText(&s.SearchTable, s.loaded, len(s.List), "subscription", keymap.InSubscriptions)
	}
	s.Preview.ShowBelow(s, stateLines)
	s.columns.fit(s.Grid, ui.MinWidth)
	return s
}

// stateLines is the maximum height of the state of the selected subscription below the list.
const stateLines = 21

// SelectedScreen returns the state of the selected subscription, nil if there is none.
func (s *Subscriptions) SelectedScreen() ui.Screen {
	subscription, ok := s.Selected()
	if !ok {
		return nil
	}
	return NewSubscription(s, subscription)
}

// SelectCreated selects a new subscription once it is loaded. A search could hide it.
func (s *Subscriptions) SelectCreated(id string) {
	s.SelectID = id
	s.Search = ""
}

func (s *Subscriptions) Shown() tea.Cmd { return s.Poll() }

func (s *Subscriptions) Title() string { return s.Subscriber.Name }

func (s *Subscriptions) Scopes() []keymap.Scope {
	return []keymap.Scope{keymap.InSubscriptions, keymap.InLists}
}

func (s *Subscriptions) Badges() []string {
	var badges []string
	if s.loaded { // before that, only the name may be known
		badges = append(badges, enableVerb(s.Subscriber.IsEnabled)+"d")
	}
	return append(badges, s.SearchTable.Badges()...)
}

// Explanations explains the columns of the list.
func (s *Subscriptions) Explanations() []ui.Explanation {
	return s.columns.explanations(s.Session.Theme)
}

func (s *Subscriptions) Equivalent() string {
	return "whctl subscriptions list --subscriber " + ui.Quote(s.Subscriber.Name)
}

func (s *Subscriptions) Commands() []string {
	list := []string{"whctl subscriptions create " + ui.Quote(s.Subscriber.Name) + " EVENT URL"}
	if subscription, ok := s.Selected(); ok {
		list = append(list, subscriptionCommands(subscription)...)
	}
	return list
}

func (s *Subscriptions) Poll() tea.Cmd {
	s.Busy = true
	return tea.Batch(s.fetch(), s.Session.Queues.RefreshNow(s, s.onQueues))
}

// fetch fetches the subscriptions.
func (s *Subscriptions) fetch() tea.Cmd {
	return ui.Fetch(s.Ctx, s, fetchSubscriber(s.Subscriber.RecID), s.onFetched)
}

// Tick refreshes the queue statistics.
func (s *Subscriptions) Tick() tea.Cmd { return s.Session.Queues.Refresh(s, s.onQueues) }

// onQueues shows new queue statistics. It fetches the subscriptions again if one
// was enabled or disabled elsewhere.
func (s *Subscriptions) onQueues() tea.Cmd {
	s.fill()
	if s.split() {
		s.left.Redraw()
	}
	if s.Session.Queues.EnabledChanged(s.Subscriber, s.List...) {
		return s.fetch()
	}
	return nil
}

// Status describes the selected row. It includes the delivery problem of the selected
// subscription.
func (s *Subscriptions) Status() string {
	if subscription, ok := s.Selected(); ok {
		if why := problemText(subscription, s.Session); why != "" {
			return why
		}
	}
	return s.Grid.PositionText()
}

// onFetched shows the fetched subscriptions.
func (s *Subscriptions) onFetched(subscriber *wire.Subscriber, err error) tea.Cmd {
	s.Busy = false
	if err != nil {
		s.Host.ShowFetchError("fetching subscriptions", err)
		return nil
	}
	s.List = subscriber.Subscriptions
	s.loaded = true
	s.SetOwner(*subscriber)
	s.fill()
	s.Preview.Refresh()
	if s.SelectID != "" && s.Grid.Select(s.SelectID) {
		s.SelectID = ""
	}
	return nil
}

// Owner returns the subscriber.
func (s *Subscriptions) Owner() wire.Subscriber { return s.Subscriber }

// Position describes the selected row.
func (s *Subscriptions) Position() string { return s.Count() }

// Step selects the subscription n rows further, and returns it, false if there is none.
func (s *Subscriptions) Step(n int) (wire.Subscription, bool) {
	s.Grid.Move(n)
	return s.Selected()
}

// SetOwner updates the subscriber, in the list on the left too.
func (s *Subscriptions) SetOwner(subscriber wire.Subscriber) {
	subscriber.Subscriptions = nil
	s.Subscriber = subscriber
	if s.left == nil {
		return
	}
	s.left.Replace(subscriber)
	if s.loaded {
		s.left.SetCount(subscriber.RecID, len(s.List))
	}
}

// fill builds the rows of the subscriptions that match the search.
func (s *Subscriptions) fill() {
	var rows []*grid.Row
	for _, subscription := range s.List {
		state := stateCell(subscription, s.Session)
		url := ui.ShortURL(subscription.URL)
		if !s.ContainsWords(subscription.EventName, url, state.Text, subscription.DisabledReason) {
			continue
		}
		rows = append(rows, &grid.Row{
			ID:    subscription.RecID,
			Cells: s.columns.cells(subscriptionCells(subscription, state, s.Session)...),
		})
	}
	s.Grid.SetRows(grid.NewList(rows))
}

// Replace updates a subscription of the list.
func (s *Subscriptions) Replace(subscription wire.Subscription) {
	i := slices.IndexFunc(s.List, func(listed wire.Subscription) bool {
		return listed.RecID == subscription.RecID
	})
	if i >= 0 {
		s.List[i] = subscription
		s.fill()
	}
}

// Selected returns the selected subscription, false if there is none.
func (s *Subscriptions) Selected() (wire.Subscription, bool) {
	return browse.SelectedItem(&s.Table, s.List, func(subscription wire.Subscription) string {
		return subscription.RecID
	})
}

func (s *Subscriptions) Do(b keymap.Binding) tea.Cmd {
	if s.Move(b) {
		return nil
	}
	if b.Action == keymap.AddNew {
		s.Host.ShowOverlay(s.NewForm(""))
		return nil
	}
	subscription, ok := s.Selected()
	if !ok {
		return nil
	}
	if b.Action == keymap.ShowInfo {
		return s.Host.Push(NewSubscription(s, subscription))
	}
	return act(s, s.Subscriber, subscription, b.Action)
}

// NewForm returns the form for a new subscription to event.
func (s *Subscriptions) NewForm(event string) ui.Overlay {
	title := "New subscription for " + s.Subscriber.Name
	return SubscriptionForm(s, title, event, func(map[string]string) (string, error) {
		return s.Subscriber.RecID, nil
	})
}

// fetchSubscriber returns a function that fetches a subscriber with its
// subscriptions.
func fetchSubscriber(id string) func(context.Context, *client.Client) (*wire.Subscriber, error) {
	return func(ctx context.Context, c *client.Client) (*wire.Subscriber, error) { return c.Subscriber(ctx, id) }
}

// SetSize sets the size of the screen. In the split view the list of subscribers keeps
// its width.
func (s *Subscriptions) SetSize(width, height int) {
	s.Base.SetSize(width, height)
	if s.split() {
		s.left.Fit(splitLeftWidth, height)
		width -= splitLeftWidth + 1
	}
	if s.columns.fit(s.Grid, width) {
		s.fill()
	}
	s.Preview.Fit(s.PanelWidth(), width, height)
}

// split reports whether the subscribers are shown on the left.
func (s *Subscriptions) split() bool { return s.left != nil && s.PanelWidth() >= splitMinWidth }

// Panels returns the list and its preview, to the right of the subscribers if there is room.
func (s *Subscriptions) Panels() []theme.Panel {
	panels := s.Table.Panels()
	if !s.split() {
		return panels
	}
	subscribers := s.left.LeftPanel()
	subscribers.Lines = dimmed(s.Session.Theme, subscribers.Lines) // with the sign at the subscriber
	return append([]theme.Panel{subscribers}, moveRight(panels)...)
}

// rightPanels returns the panels while the list of subscribers on the left has the focus.
func (s *Subscriptions) rightPanels() []theme.Panel {
	panels := moveRight(s.Table.Panels())
	for i := range panels {
		p := &panels[i]
		p.Focused = false
		p.Lines = dimmed(s.Session.Theme, p.Lines)
		if i == 0 {
			p.Lines = withoutSign(s.Session.Theme, p.Lines)
			p.Title = ui.Heading(s.Title(), s.Badges(), theme.Breadcrumb)
			p.Note = []theme.Span{{Text: display.Count(s.Grid.Len(), "subscription", "subscriptions"), Role: theme.Dim}}
		}
	}
	return panels
}

// moveRight moves panels to the right of the subscribers.
func moveRight(panels []theme.Panel) []theme.Panel {
	for i := range panels {
		panels[i].X += splitLeftWidth + 1
	}
	return panels
}

// dimmed draws the lines of a panel without the focus.
func dimmed(t *theme.Theme, lines []string) []string {
	return strings.Split(t.Dimmed(strings.Join(lines, "\n")), "\n")
}

// withoutSign removes the sign at the selected row.
func withoutSign(t *theme.Theme, lines []string) []string {
	return strings.Split(strings.Replace(strings.Join(lines, "\n"), t.Pointer, " ", 1), "\n")
}

func (s *Subscriptions) Click(x, y int, double bool) tea.Cmd {
	if s.split() {
		x -= splitLeftWidth + 1
		if x < 0 {
			return s.Host.Pop()
		}
	}
	return browse.ClickRow(s, s.Grid, x, y, double)
}
