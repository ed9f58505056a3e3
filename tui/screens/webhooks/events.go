package webhooks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Commands implements ui.Commander.
func (e *Events) Commands() []string {
	if row := e.Grid.Row(); row != nil {
		return []string{"whctl subscriptions create SUBSCRIBER " + row.ID + " URL"}
	}
	return nil
}

// Events lists the published events, how many subscriptions get them, and when
// they were raised last.
type Events struct {
	browse.SearchTable
	eventList
	busy   bool
	hidden bool // who gets events, and when they were raised: this user may not see that
}

// eventList is the events, what is subscribed to, and when they were raised.
type eventList struct {
	list          []wire.Event
	subscriptions []wire.Subscription
	names         map[string]string    // of the subscribers, by id
	last          map[string]time.Time // when an event was raised last
	looked        int                  // how many of the newest messages tell that
}

// notTold stands where nobody tells.
const notTold = "?"

// NewEvents lists the published events.
func NewEvents(h ui.Host) *Events {
	e := &Events{SearchTable: browse.NewSearchTable(h, "events", "part of a name or a description")}
	e.Refill = e.fill
	e.Grid.SetColumns([]grid.Column{{Name: "Event", Min: 30}, {Name: "Subscriptions", Right: true}, {Name: "Last seen", Right: true, Min: 9}, {Name: "Description", Min: 10, Max: 100, Flex: true}}, 0)
	return e
}

// Shown implements ui.Screen.
func (e *Events) Shown() tea.Cmd { return e.Poll() }

// Title implements ui.Screen.
func (e *Events) Title() string { return "Events" }

// Scopes implements ui.Screen.
func (e *Events) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InEvents, keymap.InLists} }

// Waiting implements ui.Waiter.
func (e *Events) Waiting() bool { return e.busy }

// Equivalent implements ui.Screen.
func (e *Events) Equivalent() string { return "whctl events list" }

// Poll implements ui.Poller.
func (e *Events) Poll() tea.Cmd {
	e.busy = true
	return ui.Fetch(e.Ctx, e, fetchEvents, e.took)
}

// took takes the events, as much of them as the user may see.
func (e *Events) took(got eventList, err error) tea.Cmd {
	e.busy, e.hidden = false, client.Is(err, client.Unauthorized) && !ui.SignedOut(err)
	if !e.hidden && err != nil {
		e.ShowFetchError("fetching events", err)
	}
	if got.list != nil {
		e.eventList = got
		e.fill()
	}
	return nil
}

// Follow takes note of events that are raised.
func (e *Events) Follow(changes []wire.MessageChange, _ int) tea.Cmd {
	for _, c := range changes {
		if at := time.Time(c.At); e.last != nil && c.Status == 0 && c.Retries == 0 && !c.Deleted && at.After(e.last[c.EventName]) {
			e.last[c.EventName] = at
		}
	}
	e.fill()
	return nil
}

// Tick lets times go on.
func (e *Events) Tick() tea.Cmd {
	e.fill()
	return nil
}

// Status implements ui.Screen.
func (e *Events) Status() string {
	text := e.Grid.PositionText()
	if e.hidden {
		return text + "   who gets them and when takes the role admin"
	}
	if e.looked >= eventsLooked {
		text += fmt.Sprintf("   last seen: of the newest %s messages", display.Thousands(eventsLooked))
	}
	return text
}

func (e *Events) fill() {
	var rows []*grid.Row
	for _, one := range e.list {
		if !e.Contains(one.Name + " " + one.Description) {
			continue
		}
		count, last := e.figures(one.Name)
		rows = append(rows, &grid.Row{ID: one.Name, Cells: []grid.Cell{{Text: one.Name}, count, last, {Text: one.Description, Role: theme.Dim}}})
	}
	e.Grid.SetRows(grid.NewList(rows))
}

// figures are how many subscriptions get an event, and when it was raised last.
func (e *Events) figures(name string) (count, last grid.Cell) {
	count = grid.Cell{Text: fmt.Sprint(len(e.taking(name)))}
	if count.Text == "0" {
		count.Role = theme.Dim
	}
	last = grid.Cell{Text: e.TimeText(e.last[name])}
	if e.hidden {
		count = grid.Cell{Text: notTold, Role: theme.Dim}
		if e.last[name].IsZero() {
			last = count
		}
	}
	return count, last
}

// Retime shows when events were raised in another way.
func (e *Events) Retime() string {
	e.FitColumns()
	e.fill()
	return ""
}

// taking are the subscriptions that get an event, by its name, its family or *.
func (e *Events) taking(name string) []wire.Subscription {
	var all []wire.Subscription
	for _, s := range e.subscriptions {
		if record.TakesEvent(s.EventName, name) {
			all = append(all, s)
		}
	}
	return all
}

// showTaking lists who gets an event.
func (e *Events) showTaking(name string) ui.Overlay {
	t := ui.NewText(e.Host, "Who gets "+name)
	for _, s := range e.taking(name) {
		t.Lines = append(t.Lines, theme.Span{Text: e.names[s.SubscriberID] + ", by " + s.EventName, Role: theme.Breadcrumb}, theme.Span{Text: "  " + ui.ShortURL(s.URL)}, theme.Span{Text: "  " + enabledCell(s.IsEnabled, s.DisabledReason).Text, Role: theme.Dim}, theme.Span{})
	}
	if len(t.Lines) == 0 {
		t.Lines = []theme.Span{{Text: "Nobody. n subscribes somebody to it."}}
	}
	return t
}

// Do implements ui.Screen.
func (e *Events) Do(b keymap.Binding) tea.Cmd {
	row := e.Grid.Row()
	switch {
	case e.Move(b):
	case b.Action == keymap.OpenFilter:
		e.ShowInput(e.Find())
	case row == nil:
	case e.hidden && (b.Action == keymap.ShowSubscriptions || b.Action == keymap.AddNew):
		e.Notify(ui.Warning, "subscriptions take the role admin")
	case b.Action == keymap.Open:
		only := client.Filter{Field: "EventName", Operator: record.Equal, Values: []string{row.ID}}
		return e.Open(ui.MessagesTarget{MessageFilter: ui.MessageFilter{Conditions: []client.Filter{only}}})
	case b.Action == keymap.CopyCell:
		e.Copy(row.ID)
	case b.Action == keymap.ShowSubscriptions:
		e.ShowOverlay(e.showTaking(row.ID))
	case b.Action == keymap.AddNew:
		e.ShowOverlay(e.NewForm(row.ID))
	}
	return nil
}

// fetchEvents fetches the events, what is subscribed to, and when they were raised.
func fetchEvents(ctx context.Context, c *client.Client) (l eventList, err error) {
	l.names, l.last = make(map[string]string), make(map[string]time.Time)
	if l.list, err = c.Events(ctx); err != nil {
		return l, err
	}
	page, err := c.AllSubscriptions(ctx, url.Values{"Take": {strconv.Itoa(ui.MaxListed)}})
	if err != nil {
		return l, err
	}
	l.subscriptions = page.Results
	newest, err := c.AllMessages(ctx, url.Values{"Take": {strconv.Itoa(eventsLooked)}, "Fields": {"EventName,AddedDateTime"}})
	if err != nil {
		return l, err
	}
	l.looked = len(newest.Results)
	for _, one := range newest.Results {
		if at := time.Time(one.AddedDateTime); at.After(l.last[one.EventName]) {
			l.last[one.EventName] = at
		}
	}
	list, _, err := ui.Subscribers(ctx, c)
	for _, one := range list {
		l.names[one.RecID] = one.Name
	}
	return l, err
}

// eventsLooked is how many of the newest messages are looked at to find out when
// an event was raised last.
const eventsLooked = 1000

// Click implements ui.Clicker.
func (e *Events) Click(x, y int, again bool) tea.Cmd { return e.ClickRow(e, x, y, again) }

// NewForm asks who is to get an event, and where.
func (e *Events) NewForm(event string) ui.Overlay {
	f := SubscriptionForm(e, "New subscription", event, func(values map[string]string) (string, error) {
		return e.Meant(values[SubscriberField])
	})
	who := &ui.Field{Name: SubscriberField, Label: "Subscriber", Help: "whose program gets it", Input: ui.NewInput("")}
	if len(e.names) == 1 {
		for _, name := range e.names {
			who.Input.SetValue(name)
		}
	}
	who.Suggest = e.pickNames
	f.Fields = append([]*ui.Field{who}, f.Fields...)
	return f
}

// Meant finds a subscriber by its name, its id or the ends of it. Names that
// several have are refused.
func (e *Events) Meant(text string) (id string, err error) {
	if _, known := e.names[text]; known {
		return text, nil
	}
	var found, ends []string
	for _, id := range slices.Sorted(maps.Keys(e.names)) {
		if strings.EqualFold(e.names[id], text) || text == ui.ShortID(id) || text == e.SetViewName(id) {
			found, ends = append(found, id), append(ends, ui.ShortID(id))
		}
	}
	switch len(found) {
	case 0:
		return "", errors.New("there is no such subscriber")
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%d subscribers are called so; type the id of the one that is meant, or its ends: %s", len(found), strings.Join(ends, " or "))
}

// SetViewName is the name of a subscriber, with the ends of its id where others are
// called so too.
func (e *Events) SetViewName(id string) string {
	for other, name := range e.names {
		if other != id && strings.EqualFold(name, e.names[id]) {
			return e.names[id] + " (" + ui.ShortID(id) + ")"
		}
	}
	return e.names[id]
}

// pickNames lists the subscribers whose name holds a text.
func (e *Events) pickNames(text string) []ui.Suggestion {
	var names []string
	for id, name := range e.names {
		if strings.EqualFold(name, text) {
			return nil
		}
		names = append(names, e.SetViewName(id))
	}
	slices.Sort(names)
	var list []ui.Suggestion
	for _, name := range names {
		if strings.EqualFold(name, text) {
			return nil
		}
		if strings.Contains(strings.ToLower(name), strings.ToLower(text)) {
			list = append(list, ui.Suggestion{Text: name, Name: name, Help: ""})
		}
	}
	return list
}
