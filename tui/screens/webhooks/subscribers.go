// Package webhooks is the screens of subscribers, their subscriptions and the
// events that they get.
package webhooks

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
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

// Commands implements ui.Commander.
func (s *Subscribers) Commands() []string {
	list := []string{"whctl subscribers create NAME"}
	if one, ok := s.selected(); ok {
		name := ui.Quote(one.Name)
		list = append(list, "whctl subscribers update "+name+" --name NAME", "whctl subscribers "+switching(one.IsEnabled)+" "+name, "whctl subscribers delete "+name)
	}
	return list
}

// Subscribers lists who gets events.
type Subscribers struct {
	browse.SearchTable
	List   []wire.Subscriber
	total  int
	loaded bool
	busy   bool
	has    map[string]int // subscriptions, by the id of the subscriber; nil where that is not known
	sought string         // the id of one to select once it is here
	detail *Subscriptions // of the selected one, where there is room
	fitted fitted
}

// NewSubscribers lists the subscribers.
func NewSubscribers(h ui.Host) *Subscribers {
	s := &Subscribers{SearchTable: browse.NewSearchTable(h, "subscribers", "words of the name or the state"), fitted: fitted{all: subscriberColumns}}
	s.Refill, s.OnSearch = s.fill, func() tea.Cmd { return s.look(false) }
	s.fitted.fit(s.Grid, ui.MinWidth)
	return s
}

// Shown implements ui.Screen.
func (s *Subscribers) Shown() tea.Cmd {
	if s.detail != nil && s.detail.Search != "" {
		s.detail.Search = "" // which is not seen beside it
		s.detail.fill()
	}
	return s.Poll()
}

// Title implements ui.Screen.
func (s *Subscribers) Title() string { return "Subscribers" }

// Scopes implements ui.Screen.
func (s *Subscribers) Scopes() []keymap.Scope {
	return []keymap.Scope{keymap.InSubscribers, keymap.InLists}
}

// Equivalent implements ui.Screen.
func (s *Subscribers) Equivalent() string { return "whctl subscribers list" }

// Waiting implements ui.Waiter.
func (s *Subscribers) Waiting() bool { return s.busy }

// Poll implements ui.Poller.
func (s *Subscribers) Poll() tea.Cmd {
	s.busy = true
	return tea.Batch(ui.Fetch(s.Ctx, s, fetchSubscribers, s.took), s.Queues.RefreshNow(s, s.figured))
}

// Tick lets the figures go on.
func (s *Subscribers) Tick() tea.Cmd { return s.Queues.Refresh(s, s.figured) }

// figured shows how deliveries are.
func (s *Subscribers) figured() tea.Cmd {
	s.fill()
	if s.detail != nil {
		s.detail.fill()
	}
	return nil
}

// Status implements ui.Screen.
func (s *Subscribers) Status() string {
	switch {
	case s.loaded && len(s.List) == 0:
		return "no subscribers yet: n adds one"
	case s.total > len(s.List):
		return s.Grid.PositionText() + fmt.Sprintf("   the first %s of %s", display.Thousands(len(s.List)), display.Thousands(s.total))
	}
	return s.Grid.PositionText()
}

// took takes the subscribers.
func (s *Subscribers) took(m subscriberList, err error) tea.Cmd {
	s.busy = false
	if err != nil {
		s.ShowFetchError("fetching subscribers", err)
		return nil
	}
	s.List, s.total, s.has, s.loaded = m.list, m.total, m.subscriptions, true
	s.fill()
	if s.sought != "" && s.Grid.Select(s.sought) {
		s.sought = ""
	}
	return s.look(true)
}

func (s *Subscribers) fill() {
	var rows []*grid.Row
	for _, one := range s.List {
		state := enabledCell(one.IsEnabled, "")
		if !s.ContainsWords(one.Name, state.Text) {
			continue
		}
		waiting, known := s.Queues.PendingOf(one.RecID)
		rows = append(rows, &grid.Row{ID: one.RecID, Cells: s.fitted.cells(
			grid.Cell{Text: one.Name}, grid.Cell{Text: ui.ShortID(one.RecID), Role: theme.Dim}, state, figure(int64(s.has[one.RecID]), s.has != nil), figure(waiting, known),
		)})
	}
	s.Grid.SetRows(grid.NewList(rows))
}

func (s *Subscribers) selected() (wire.Subscriber, bool) {
	return browse.SelectedItem(&s.Table, s.List, func(one wire.Subscriber) string { return one.RecID })
}

// Do implements ui.Screen.
func (s *Subscribers) Do(b keymap.Binding) tea.Cmd {
	if s.Move(b) {
		return s.look(false)
	}
	if b.Action == keymap.AddNew {
		s.ShowOverlay(s.NewForm())
		return nil
	}
	one, ok := s.selected()
	if !ok {
		return nil
	}
	switch b.Action {
	case keymap.Open:
		return s.enter()
	case keymap.ShowMessages:
		return s.Open(ui.MessagesTarget{MessageFilter: ui.MessageFilter{Subscriber: one.RecID, Label: one.Name}})
	case keymap.CopyCell:
		s.Copy(one.RecID)
	case keymap.Edit:
		s.ShowOverlay(s.ChangeForm(one))
	case keymap.ToggleEnabled:
		ui.OpenConfirm(s.Host, verbOf(!one.IsEnabled)+" "+one.Name+"?", strings.ToLower(verbOf(!one.IsEnabled)), enableLines(one.IsEnabled), func() tea.Cmd {
			return EnableSubscriber(s, one, !one.IsEnabled)
		})
	case keymap.Delete:
		return weighRemove(s, one, nil)
	}
	return nil
}

func verbOf(on bool) string {
	if on {
		return "Enable"
	}
	return "Disable"
}

func onOff(on bool) string {
	if on {
		return "enabled"
	}
	return "disabled"
}

// enableLines say what becomes of messages.
func enableLines(was bool) []string {
	if was {
		return []string{"Events still make messages. They wait, and go out when it is enabled again."}
	}
	return []string{"What has waited goes out now."}
}

// EnableSubscriber enables or disables a subscriber.
func EnableSubscriber(s Polling, one wire.Subscriber, on bool) tea.Cmd {
	return s.Common().Change(ui.Change{Screen: s, Name: onOff(on) + " " + one.Name, Then: polled(s), Do: func(ctx context.Context, c *client.Client) error {
		_, err := c.UpdateSubscriber(ctx, one.RecID, wire.SubscriberRequest{IsEnabled: &on})
		return err
	}})
}

// NewForm asks for a new subscriber.
func (s *Subscribers) NewForm() ui.Overlay {
	f := ui.NewForm(s.Host, "New subscriber", "create")
	f.Add("Name", "Name", "", "whose program gets the events; enter creates it")
	f.Send = func(values map[string]string, _ bool) tea.Cmd {
		name := values["Name"]
		return s.save(f, "new subscriber "+name, func(ctx context.Context, c *client.Client) (*wire.Subscriber, error) {
			return c.AddSubscriber(ctx, wire.SubscriberRequest{Name: &name})
		})
	}
	return f
}

// ChangeForm asks what a subscriber is to be called.
func (s *Subscribers) ChangeForm(one wire.Subscriber) ui.Overlay {
	f := ui.NewForm(s.Host, "Change "+one.Name, "change")
	f.Add("Name", "Name", one.Name, "its id, which is its key, stays as it is; "+keymap.KeyFor(keymap.InSubscribers, keymap.ToggleEnabled)+" enables and disables it")
	f.Send = func(values map[string]string, _ bool) tea.Cmd {
		name := values["Name"]
		switch name {
		case "":
			f.Fields[0].Error = "a subscriber has a name"
			return nil
		case one.Name:
			f.NotifyUnchanged()
			return nil
		}
		return s.save(f, "change of "+one.Name, func(ctx context.Context, c *client.Client) (*wire.Subscriber, error) {
			return c.UpdateSubscriber(ctx, one.RecID, wire.SubscriberRequest{Name: &name})
		})
	}
	return f
}

// save makes or changes a subscriber, as a form asks.
func (s *Subscribers) save(f *ui.Form, what string, do func(ctx context.Context, c *client.Client) (*wire.Subscriber, error)) tea.Cmd {
	var now *wire.Subscriber
	return s.Change(ui.Change{Screen: s, Name: what, Do: func(ctx context.Context, c *client.Client) (err error) {
		now, err = do(ctx, c)
		return err
	}, OnDone: func(err error) { formTold(s.Host, f, what, now != nil, err) }, Then: func(error) tea.Cmd {
		if now != nil {
			s.saved(*now)
		}
		return s.Poll()
	}})
}

// saved puts what a subscriber is called now into the list.
func (s *Subscribers) saved(now wire.Subscriber) {
	s.sought = now.RecID // a new one is selected once it is here
	if i := slices.IndexFunc(s.List, func(one wire.Subscriber) bool { return one.RecID == s.sought }); i >= 0 {
		s.List[i].Name, s.sought = now.Name, ""
	} else {
		s.Search = ""
	}
	s.fill()
}

// renew puts what a subscriber is now into the list, unless it is not there any
// more.
func (s *Subscribers) renew(one wire.Subscriber) {
	if i := slices.IndexFunc(s.List, func(old wire.Subscriber) bool { return old.RecID == one.RecID }); i >= 0 {
		s.List[i] = one
		s.fill()
	}
}

// subscriberList is the subscribers with how many there are.
type subscriberList struct {
	list          []wire.Subscriber
	total         int
	subscriptions map[string]int // how many each has, by its id; nil where that is not known
}

// fetchSubscribers fetches the subscribers with how many there are.
func fetchSubscribers(ctx context.Context, c *client.Client) (l subscriberList, err error) {
	if l.list, l.total, err = ui.Subscribers(ctx, c); err != nil {
		return l, err
	}
	page, err := c.AllSubscriptions(ctx, url.Values{"Take": {strconv.Itoa(ui.MaxListed)}, "Fields": {"SY_WebhookSubscriber_RecID"}})
	if err != nil || len(page.Results) == ui.MaxListed {
		return l, nil // the names do without the numbers
	}
	l.subscriptions = make(map[string]int)
	for _, one := range page.Results {
		l.subscriptions[one.SubscriberID]++
	}
	return l, nil
}

// Where there is room, the subscribers stand at the left and the subscriptions
// of the selected one at the right.

const (
	splitFrom = 100 // cells from which on there is room for both
	splitLeft = 45  // of them are the subscribers'
)

// SetSize gives both sides their part.
func (s *Subscribers) SetSize(width, height int) {
	s.Base.SetSize(width, height)
	if width < splitFrom {
		s.fit(width, height)
		return
	}
	s.fit(splitLeft, height)
	if s.detail != nil {
		s.detail.SetSize(width, height)
	}
}

// fit gives the list its size, and the columns that there is room for.
func (s *Subscribers) fit(width, height int) {
	if s.fitted.fit(s.Grid, width) {
		s.fill()
	}
	s.Grid.SetSize(width, height)
}

// View implements ui.Screen.
func (s *Subscribers) View() string {
	if s.Width < splitFrom {
		return s.Grid.View()
	}
	right := strings.Repeat(strings.Repeat(" ", s.Width-splitLeft-1)+"\n", s.Height)
	if s.detail != nil {
		right = s.Theme.Dimmed(strings.Replace(s.detail.Grid.View(), " "+s.Theme.Pointer+" ", "   ", 1))
	}
	return s.Theme.SideBySide(s.Grid.View(), right)
}

// HasChild reports whether a screen is the one at the right.
func (s *Subscribers) HasChild(one ui.Screen) bool {
	return s.detail != nil && one == ui.Screen(s.detail)
}

// look shows the subscriptions of the selected subscriber at the right; anew
// also where they are there already.
func (s *Subscribers) look(anew bool) tea.Cmd {
	one, ok := s.selected()
	if s.Width < splitFrom || !ok {
		return nil
	}
	if s.detail == nil || s.detail.Subscriber.RecID != one.RecID {
		if s.detail != nil {
			s.detail.Stop()
		}
		s.detail = NewSubscriptions(s.Host, one)
		s.detail.master = s
		s.detail.SetSize(s.Width, s.Height)
		return s.detail.Poll()
	}
	if s.detail.Subscriber = one; !anew {
		return nil
	}
	s.detail.Reset()
	return s.detail.Poll()
}

// enter opens the subscriptions of a subscriber: those at the right, where they
// are there.
func (s *Subscribers) enter() tea.Cmd {
	one, ok := s.selected()
	if !ok {
		return nil
	}
	if s.detail == nil || s.detail.Subscriber.RecID != one.RecID {
		s.detail = NewSubscriptions(s.Host, one)
		s.detail.master = s
	}
	s.detail.Subscriber = one // which may have another name by now
	s.detail.Reset()
	return s.Push(s.detail)
}

// Click implements ui.Clicker.
func (s *Subscribers) Click(x, y int, again bool) tea.Cmd {
	if s.Width >= splitFrom && x > splitLeft {
		return s.enter()
	}
	return tea.Batch(s.ClickRow(s, x, y, again), s.look(false))
}

// SetSize leaves room for the subscribers, where there is enough.
func (s *Subscriptions) SetSize(width, height int) {
	s.Base.SetSize(width, height)
	if s.split() {
		s.master.fit(splitLeft, height)
		width -= splitLeft + 1
	}
	if s.fitted.fit(s.Grid, width) {
		s.fill()
	}
	s.Grid.SetSize(width, height)
}

// split reports whether the subscribers stand at the left.
func (s *Subscriptions) split() bool { return s.master != nil && s.Width >= splitFrom }

// View implements ui.Screen.
func (s *Subscriptions) View() string {
	if !s.split() {
		return s.Grid.View()
	}
	return s.Theme.SideBySide(s.Theme.Dimmed(s.master.Grid.View()), s.Grid.View())
}

// Click implements ui.Clicker.
func (s *Subscriptions) Click(x, y int, again bool) tea.Cmd {
	if s.split() {
		if x -= splitLeft + 1; x < 0 {
			return s.Pop()
		}
	}
	return s.ClickRow(s, x, y, again)
}
