// Package webhooks has the screens of subscribers, subscriptions and events.
package webhooks

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"

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

// Subscribers is the list of subscribers.
type Subscribers struct {
	browse.SearchTable
	List               []wire.Subscriber
	total              int
	loaded             bool
	subscriptionCounts map[string]int // subscriptions by subscriber ID; nil if unknown
	selectID           string         // ID of the subscriber to select once it is loaded
	detail             *Subscriptions // subscriptions of the selected subscriber; nil on a narrow screen
	columns            responsiveColumns
}

// NewSubscribers returns the list of subscribers.
func NewSubscribers(h ui.Host) *Subscribers {
	s := &Subscribers{
		SearchTable: browse.NewSearchTable(h, "subscribers", "words in the name or state"),
		columns:     responsiveColumns{all: subscriberColumns},
	}
	s.Refill = s.fill
	s.OnSearch = s.showDetail
	s.Grid.Empty = func() string {
		return emptyText(&s.SearchTable, s.loaded, len(s.List), "subscriber", keymap.InSubscribers)
	}
	s.columns.fit(s.Grid, ui.MinWidth)
	return s
}

// emptyText returns why a list has no rows, "" before it is loaded. count is the number of rows
// without a search.
func emptyText(
	list *browse.SearchTable, isLoaded bool, count int, noun string, scope keymap.Scope,
) string {
	if !isLoaded {
		return ""
	}
	key := keymap.KeyFor(scope, keymap.AddNew)
	return cmp.Or(list.NoMatch(noun, count), "No "+noun+" yet. "+key+" creates one.")
}

func (s *Subscribers) Shown() tea.Cmd {
	if s.detail != nil && s.detail.Search != "" {
		s.detail.Search = "" // the search badge is not visible in the split view
		s.detail.fill()
	}
	return s.Poll()
}

func (s *Subscribers) Title() string { return "Subscribers" }

func (s *Subscribers) Scopes() []keymap.Scope {
	return []keymap.Scope{keymap.InSubscribers, keymap.InLists}
}

// Explanations explains the columns of the list.
func (s *Subscribers) Explanations() []ui.Explanation {
	return s.columns.explanations(s.Session.Theme)
}

func (s *Subscribers) Equivalent() string { return "whctl subscribers list" }

func (s *Subscribers) Commands() []string {
	list := []string{"whctl subscribers create NAME"}
	if subscriber, ok := s.selected(); ok {
		name := ui.Quote(subscriber.Name)
		list = append(list,
			"whctl subscribers update "+name+" --name NAME",
			"whctl subscribers "+enableVerb(!subscriber.IsEnabled)+" "+name,
			"whctl subscribers delete "+name)
	}
	return list
}

func (s *Subscribers) Poll() tea.Cmd {
	s.Busy = true
	return tea.Batch(
		ui.Fetch(s.Ctx, s, fetchSubscribers, s.onFetched),
		s.Session.Queues.RefreshNow(s, s.onQueues),
	)
}

// Tick refreshes the queue statistics.
func (s *Subscribers) Tick() tea.Cmd { return s.Session.Queues.Refresh(s, s.onQueues) }

// onQueues shows new queue statistics.
func (s *Subscribers) onQueues() tea.Cmd {
	s.fill()
	if s.detail != nil {
		s.detail.fill()
	}
	return nil
}

func (s *Subscribers) Status() string {
	if s.total > len(s.List) {
		return fmt.Sprintf("the first %s of %s", display.Thousands(len(s.List)), display.Thousands(s.total))
	}
	return s.Grid.PositionText()
}

// onFetched shows the fetched subscribers.
func (s *Subscribers) onFetched(m subscriberList, err error) tea.Cmd {
	s.Busy = false
	if err != nil {
		s.Host.ShowFetchError("fetching subscribers", err)
		return nil
	}
	s.List = m.list
	s.total = m.total
	s.subscriptionCounts = m.subscriptions
	s.loaded = true
	s.fill()
	if s.selectID != "" && s.Grid.Select(s.selectID) {
		s.selectID = ""
	}
	if s.showsDetail() {
		return s.reloadDetail()
	}
	return s.showDetail()
}

func (s *Subscribers) fill() {
	var rows []*grid.Row
	named := make(map[string]int, len(s.List)) // number of subscribers by name
	for _, subscriber := range s.List {
		named[subscriber.Name]++
	}
	for _, subscriber := range s.List {
		name := subscriber.Name
		if named[name] > 1 {
			name += " (" + ui.ShortID(subscriber.RecID) + ")"
		}
		state := subscriberCell(subscriber, s.Session)
		if !s.ContainsWords(subscriber.Name, state.Text) {
			continue
		}
		subscriptions := int64(s.subscriptionCounts[subscriber.RecID])
		queued, ok := s.Session.Queues.PendingOf(subscriber.RecID)
		rows = append(rows, &grid.Row{
			ID: subscriber.RecID,
			Cells: s.columns.cells(
				grid.Cell{Text: name},
				state,
				numberCell(subscriptions, s.subscriptionCounts != nil),
				numberCell(queued, ok),
			),
		})
	}
	s.Grid.SetRows(grid.NewList(rows))
}

func (s *Subscribers) selected() (wire.Subscriber, bool) {
	return browse.SelectedItem(&s.Table, s.List, func(subscriber wire.Subscriber) string { return subscriber.RecID })
}

func (s *Subscribers) Do(b keymap.Binding) tea.Cmd {
	if s.Move(b) {
		return s.showDetail()
	}
	if b.Action == keymap.AddNew {
		s.Host.ShowOverlay(s.NewForm())
		return nil
	}
	subscriber, ok := s.selected()
	if !ok {
		return nil
	}
	switch b.Action {
	case keymap.Open:
		return s.openDetail()
	case keymap.ShowMessages:
		filter := ui.MessageFilter{Subscriber: subscriber.RecID, Label: subscriber.Name}
		return s.Host.Open(ui.MessagesTarget{MessageFilter: filter})
	case keymap.CopyCell:
		s.Host.Copy(subscriber.RecID)
	case keymap.Edit:
		s.Host.ShowOverlay(s.ChangeForm(subscriber))
	case keymap.ToggleEnabled:
		confirmEnable(s.Host, subscriber.Name, subscriber.IsEnabled, nil, func() tea.Cmd {
			return EnableSubscriber(s, subscriber, !subscriber.IsEnabled)
		})
	case keymap.Delete:
		return confirmDelete(s, subscriber, nil)
	}
	return nil
}

// enableLines describes the effect of the change on messages.
func enableLines(wasEnabled bool) []string {
	if wasEnabled {
		return []string{"Delivery is paused. New events still create messages, " +
			"which stay queued until it is enabled again."}
	}
	return []string{"Queued messages are sent now."}
}

// EnableSubscriber enables or disables a subscriber.
func EnableSubscriber(s Polling, subscriber wire.Subscriber, on bool) tea.Cmd {
	return s.Common().Host.Change(ui.Change{
		Screen: s,
		Name:   enableVerb(on) + " " + subscriber.Name,
		Then:   pollAfter(s),
		Do: func(ctx context.Context, c *client.Client) error {
			_, err := c.UpdateSubscriber(ctx, subscriber.RecID, wire.SubscriberRequest{IsEnabled: &on})
			return err
		},
	})
}

// NewForm returns the form for a new subscriber.
func (s *Subscribers) NewForm() ui.Overlay {
	f := ui.NewForm(s.Host, "New subscriber", "create")
	f.Add("Name", "Name", "", "name of the program that receives events; enter creates the subscriber")
	f.Send = func(values map[string]string, _ bool) tea.Cmd {
		name := values["Name"]
		return s.save(f, "new subscriber "+name,
			func(ctx context.Context, c *client.Client) (*wire.Subscriber, error) {
				return c.AddSubscriber(ctx, wire.SubscriberRequest{Name: &name})
			})
	}
	return f
}

// ChangeForm returns the form that renames a subscriber.
func (s *Subscribers) ChangeForm(subscriber wire.Subscriber) ui.Overlay {
	f := ui.NewForm(s.Host, "Change "+subscriber.Name, "change")
	f.Add("Name", "Name", subscriber.Name,
		"the SubscriberID does not change; "+keymap.KeyFor(keymap.InSubscribers, keymap.ToggleEnabled)+
			" enables or disables the subscriber")
	f.Send = func(values map[string]string, _ bool) tea.Cmd {
		name := values["Name"]
		switch name {
		case "":
			f.Fields[0].Error = "enter a name"
			return nil
		case subscriber.Name:
			f.NotifyUnchanged()
			return nil
		}
		return s.save(f, "change of "+subscriber.Name,
			func(ctx context.Context, c *client.Client) (*wire.Subscriber, error) {
				return c.UpdateSubscriber(ctx, subscriber.RecID, wire.SubscriberRequest{Name: &name})
			})
	}
	return f
}

// save creates or changes a subscriber with the values of a form.
func (s *Subscribers) save(
	f *ui.Form, name string, do func(ctx context.Context, c *client.Client) (*wire.Subscriber, error),
) tea.Cmd {
	var saved *wire.Subscriber
	return s.Host.Change(ui.Change{
		Screen: s,
		Name:   name,
		Do: func(ctx context.Context, c *client.Client) (err error) {
			saved, err = do(ctx, c)
			return err
		},
		OnDone: func(err error) { showFormResult(s.Host, f, name, saved != nil, err) },
		Then: func(error) tea.Cmd {
			if saved != nil {
				s.saved(*saved)
			}
			return s.Poll()
		},
	})
}

// saved updates the list after a subscriber was saved.
func (s *Subscribers) saved(subscriber wire.Subscriber) {
	i := s.index(subscriber.RecID)
	if i >= 0 {
		s.List[i].Name = subscriber.Name
		s.selectID = ""
	} else { // a new subscriber is selected once it is loaded
		s.selectID = subscriber.RecID
		s.Search = ""
	}
	s.fill()
}

// index returns the index of a subscriber in the list, -1 if it is not in it.
func (s *Subscribers) index(id string) int {
	return slices.IndexFunc(s.List, func(subscriber wire.Subscriber) bool { return subscriber.RecID == id })
}

// Replace updates a subscriber of the list. It ignores one that is not in the
// list.
func (s *Subscribers) Replace(subscriber wire.Subscriber) {
	if i := s.index(subscriber.RecID); i >= 0 {
		s.List[i] = subscriber
		s.fill()
	}
}

// SetCount updates the number of subscriptions of a subscriber.
func (s *Subscribers) SetCount(id string, subscriptions int) {
	if s.subscriptionCounts == nil || s.subscriptionCounts[id] == subscriptions {
		return
	}
	s.subscriptionCounts[id] = subscriptions
	s.fill()
}

// subscriberList has the first ui.MaxListed subscribers with counts.
type subscriberList struct {
	list          []wire.Subscriber
	total         int
	subscriptions map[string]int // keyed by subscriber ID; nil if unknown
}

// fetchSubscribers fetches the subscribers and their counts. If the subscriptions
// cannot be counted, subscriptions is nil and err is nil.
func fetchSubscribers(ctx context.Context, c *client.Client) (subscriberList, error) {
	list, total, err := ui.Subscribers(ctx, c)
	if err != nil {
		return subscriberList{}, err
	}
	l := subscriberList{list: list, total: total}
	page, err := c.AllSubscriptions(ctx, url.Values{
		"Take":   {strconv.Itoa(ui.MaxListed)},
		"Fields": {"SY_WebhookSubscriber_RecID"},
	})
	if err != nil || len(page.Results) == ui.MaxListed {
		return l, nil // the list is useful without the counts
	}
	l.subscriptions = make(map[string]int)
	for _, subscription := range page.Results {
		l.subscriptions[subscription.SubscriberID]++
	}
	return l, nil
}

// On a wide screen the subscribers are on the left, and the subscriptions of the
// selected subscriber on the right.
const (
	splitMinWidth  = 98 // cells
	splitLeftWidth = 45
)

// SetSize sets the size of both sides.
func (s *Subscribers) SetSize(width, height int) {
	s.Base.SetSize(width, height)
	if !s.isSplit() {
		s.Fit(width, height)
		return
	}
	s.Fit(splitLeftWidth, height)
	if s.detail != nil {
		s.detail.SetSize(width, height)
	}
}

// Redraw builds the rows again.
func (s *Subscribers) Redraw() { s.fill() }

// LeftPanel returns the list, on the left of the subscriptions.
func (s *Subscribers) LeftPanel() theme.Panel {
	panel := s.Grid.Panel()
	panel.Title = []theme.Span{{Text: s.Title(), Role: theme.Breadcrumb}}
	panel.Note = []theme.Span{{Text: s.Count(), Role: theme.Dim}}
	return panel
}

// Fit sets the size of the list and the columns that fit.
func (s *Subscribers) Fit(width, height int) {
	if s.columns.fit(s.Grid, width) {
		s.fill()
	}
	s.Grid.SetSize(width, height)
}

// isSplit reports whether the subscriptions are on the right.
func (s *Subscribers) isSplit() bool { return s.PanelWidth() >= splitMinWidth }

// Panels returns the list, and the subscriptions of the selected subscriber.
func (s *Subscribers) Panels() []theme.Panel {
	list := s.Grid.Panel()
	list.Focused = true
	panels := []theme.Panel{list}
	if s.isSplit() && s.detail != nil {
		return append(panels, s.detail.rightPanels()...)
	}
	if s.isSplit() {
		room := s.Width - splitLeftWidth - 1
		panels = append(panels, theme.Panel{X: splitLeftWidth + 1, Width: room, Height: s.Height})
	}
	return panels
}

// HasChild reports whether child is the screen on the right or its preview.
func (s *Subscribers) HasChild(child ui.Screen) bool {
	return s.detail != nil && (child == ui.Screen(s.detail) || s.detail.HasChild(child))
}

// Previewed returns the preview of the screen on the right.
func (s *Subscribers) Previewed() ui.Screen {
	if s.detail == nil {
		return nil
	}
	return s.detail.Previewed()
}

// UpdatePreview updates the preview of the screen on the right.
func (s *Subscribers) UpdatePreview() tea.Cmd {
	if s.detail == nil {
		return nil
	}
	return s.detail.UpdatePreview()
}

// isDetailOf reports whether the screen on the right has the subscriptions of a subscriber.
func (s *Subscribers) isDetailOf(subscriber wire.Subscriber) bool {
	return s.detail != nil && s.detail.Subscriber.RecID == subscriber.RecID
}

// showsDetail reports whether the subscriptions of the selected subscriber are on the right.
func (s *Subscribers) showsDetail() bool {
	subscriber, ok := s.selected()
	return ok && s.isSplit() && s.isDetailOf(subscriber)
}

// showDetail shows the subscriptions of the selected subscriber on the right.
func (s *Subscribers) showDetail() tea.Cmd {
	subscriber, ok := s.selected()
	if !ok || !s.isSplit() {
		return nil
	}
	if s.isDetailOf(subscriber) {
		s.detail.Subscriber = subscriber // the name may have changed
		return nil
	}
	if s.detail != nil {
		s.detail.Stop()
	}
	s.detail = newSubscriptions(s.Host, subscriber, s)
	s.detail.SetSize(s.Width, s.Height)
	return s.detail.Poll()
}

// reloadDetail fetches the subscriptions on the right again.
func (s *Subscribers) reloadDetail() tea.Cmd {
	show := s.showDetail()
	s.detail.Reset()
	return tea.Batch(show, s.detail.Poll())
}

// openDetail opens the subscriptions of the selected subscriber. It reuses the
// screen on the right.
func (s *Subscribers) openDetail() tea.Cmd {
	subscriber, ok := s.selected()
	if !ok {
		return nil
	}
	if !s.isDetailOf(subscriber) {
		s.detail = newSubscriptions(s.Host, subscriber, s)
	}
	s.detail.Subscriber = subscriber // the name may have changed
	s.detail.Reset()
	return s.Host.Push(s.detail)
}

func (s *Subscribers) Click(x, y int, double bool) tea.Cmd {
	if s.isSplit() && x > splitLeftWidth {
		return s.openDetail()
	}
	return tea.Batch(browse.ClickRow(s, s.Grid, x, y, double), s.showDetail())
}
