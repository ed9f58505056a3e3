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

// Events is the list of published events, with the number of subscriptions and
// the time of the last occurrence.
type Events struct {
	browse.SearchTable
	eventList
}

// eventList is the fetched content of the screen.
type eventList struct {
	list          []wire.Event
	subscriptions []wire.Subscription
	names         map[string]string    // names of subscribers by ID
	last          map[string]time.Time // last occurrence by event
	sampled       int                  // number of messages that last is based on
}

// hiddenText replaces values that the user may not see.
const hiddenText = "?"

// NewEvents returns the list of published events.
func NewEvents(h ui.Host) *Events {
	e := &Events{SearchTable: browse.NewSearchTable(h, "events", "part of a name or description")}
	e.Refill = e.fill
	e.Grid.Empty = func() string { return e.NoMatch("event", len(e.Session.Events)) }
	e.Grid.Columns.Set([]grid.Column{
		{Name: "Event", Min: 30},
		{Name: "Subscriptions", Right: true},
		{Name: "Last seen", Right: true, Min: 9},
		{Name: "Description", Min: 10, Max: 100, Flex: true},
	}, 0)
	return e
}

func (e *Events) Shown() tea.Cmd { return e.Poll() }

func (e *Events) Title() string { return "Events" }

func (e *Events) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InEvents, keymap.InLists} }

func (e *Events) Equivalent() string { return "whctl events list" }

func (e *Events) Commands() []string {
	if row := e.Grid.Row(); row != nil {
		return []string{"whctl subscriptions create SUBSCRIBER " + row.ID + " URL"}
	}
	return nil
}

func (e *Events) Poll() tea.Cmd {
	e.Busy = true
	eventsOnly := e.Session.NeedsAdmin() != ""
	return ui.Fetch(e.Ctx, e, func(ctx context.Context, c *client.Client) (eventList, error) {
		return fetchEvents(ctx, c, eventsOnly)
	}, e.onFetched)
}

// onFetched shows the fetched events.
func (e *Events) onFetched(fetched eventList, err error) tea.Cmd {
	e.Busy = false
	if err != nil {
		e.Host.ShowFetchError("fetching events", err)
	}
	if fetched.list != nil { // also after an error of a later request
		e.eventList = fetched
		e.fill()
	}
	return nil
}

// Follow updates the last occurrence of events.
func (e *Events) Follow(changes []wire.MessageChange, _ int) tea.Cmd {
	for _, c := range changes {
		isNew := c.Status == 0 && c.Retries == 0 && !c.Deleted
		addedAt := time.Time(c.At)
		if e.last != nil && isNew && addedAt.After(e.last[c.EventName]) {
			e.last[c.EventName] = addedAt
		}
	}
	e.fill()
	return nil
}

// Tick refreshes the times.
func (e *Events) Tick() tea.Cmd {
	e.fill()
	return nil
}

func (e *Events) Status() string {
	text := e.Grid.PositionText()
	if e.Session.NeedsAdmin() != "" {
		return ui.Parts(text, "subscriptions and times require the role admin")
	}
	if e.sampled >= eventSample {
		text = ui.Parts(text, fmt.Sprintf("last seen: newest %s messages", display.Thousands(eventSample)))
	}
	return text
}

func (e *Events) fill() {
	var rows []*grid.Row
	for _, event := range e.list {
		if !e.Contains(event.Name + " " + event.Description) {
			continue
		}
		count, last := e.countCells(event.Name)
		rows = append(rows, &grid.Row{
			ID:    event.Name,
			Cells: []grid.Cell{{Text: event.Name}, count, last, {Text: event.Description, Role: theme.Dim}},
		})
	}
	e.Grid.SetRows(grid.NewList(rows))
}

// countCells returns the number of subscriptions and the last occurrence of an
// event.
func (e *Events) countCells(name string) (count, last grid.Cell) {
	hidden := grid.Cell{Text: hiddenText, Role: theme.Dim}
	lastSeen := e.last[name] // known to other roles from live updates only
	last = grid.Cell{Text: e.Session.TimeText(lastSeen), Null: lastSeen.IsZero()}
	if e.Session.NeedsAdmin() != "" {
		if lastSeen.IsZero() {
			last = hidden
		}
		return hidden, last
	}
	return numberCell(int64(len(e.subscriptionsTo(name))), true), last
}

func (e *Events) Retime() string {
	e.Grid.Columns.Fit()
	e.fill()
	return ""
}

// subscriptionsTo returns the subscriptions that match an event by its name, its
// family or *.
func (e *Events) subscriptionsTo(name string) []wire.Subscription {
	return slices.DeleteFunc(slices.Clone(e.subscriptions), func(s wire.Subscription) bool {
		return !record.MatchesEvent(s.EventName, name)
	})
}

// subscriptionsBox returns a box with the subscriptions to an event.
func (e *Events) subscriptionsBox(name string) ui.Overlay {
	t := ui.NewText(e.Host, "Subscriptions to "+name)
	for _, s := range e.subscriptionsTo(name) {
		t.Lines = append(t.Lines,
			theme.Span{Text: e.names[s.SubscriberID] + ", by " + s.EventName, Role: theme.Breadcrumb},
			theme.Span{Text: "  " + ui.ShortURL(s.URL)},
			theme.Span{Text: "  " + enabledCell(s.IsEnabled, s.DisabledReason).Text, Role: theme.Dim},
			theme.Span{})
	}
	if len(t.Lines) == 0 {
		t.Lines = []theme.Span{{Text: "No subscribers. Press n to add one."}}
	}
	return t
}

func (e *Events) Do(b keymap.Binding) tea.Cmd {
	if e.Move(b) {
		return nil
	}
	row := e.Grid.Row()
	if row == nil {
		return nil
	}
	event := row.ID
	switch b.Action {
	case keymap.Open:
		condition := client.Filter{Field: "EventName", Operator: record.Equal, Values: []string{event}}
		filter := ui.MessageFilter{Conditions: []client.Filter{condition}}
		return e.Host.Open(ui.MessagesTarget{MessageFilter: filter})
	case keymap.CopyCell:
		e.Host.Copy(event)
	case keymap.ShowSubscriptions:
		e.Host.ShowOverlay(e.subscriptionsBox(event))
	case keymap.AddNew:
		e.Host.ShowOverlay(e.NewForm(event))
	}
	return nil
}

// fetchEvents fetches the events and, unless eventsOnly is set, the subscriptions, and the
// newest messages for the last occurrence. On an error it returns the parts fetched before.
func fetchEvents(ctx context.Context, c *client.Client, eventsOnly bool) (eventList, error) {
	events, err := c.Events(ctx)
	l := eventList{list: events, last: make(map[string]time.Time)}
	if err != nil || eventsOnly {
		return l, err
	}
	page, err := c.AllSubscriptions(ctx, url.Values{"Take": {strconv.Itoa(ui.MaxListed)}})
	if err != nil {
		return l, err
	}
	l.subscriptions = page.Results
	newest, err := c.AllMessages(ctx, url.Values{
		"Take":   {strconv.Itoa(eventSample)},
		"Fields": {"EventName,AddedDateTime"},
	})
	if err != nil {
		return l, err
	}
	l.sampled = len(newest.Results)
	for _, message := range newest.Results {
		addedAt := time.Time(message.AddedDateTime)
		if addedAt.After(l.last[message.EventName]) {
			l.last[message.EventName] = addedAt
		}
	}
	l.names, err = ui.SubscriberNames(ctx, c)
	return l, err
}

// eventSample is the number of newest messages searched for the last occurrence
// of events.
const eventSample = 1000

func (e *Events) Click(x, y int, double bool) tea.Cmd {
	return browse.ClickRow(e, e.Grid, x, y, double)
}

// NewForm returns the form for a new subscription to event, with a field for the
// subscriber.
func (e *Events) NewForm(event string) ui.Overlay {
	f := SubscriptionForm(e, "New subscription", event, func(values map[string]string) (string, error) {
		return e.FindSubscriber(values[SubscriberField])
	})
	subscriber := &ui.Field{
		Name:  SubscriberField,
		Label: "Subscriber",
		Help:  "name or ID of the subscriber",
		Input: ui.NewInput(""),
	}
	if len(e.names) == 1 {
		for _, name := range e.names {
			subscriber.Input.SetValue(name)
		}
	}
	subscriber.Suggest = e.pickNames
	f.Fields = append([]*ui.Field{subscriber}, f.Fields...)
	return f
}

// FindSubscriber returns the ID of the subscriber with a name, an ID or a short ID.
// An ambiguous name is an error.
func (e *Events) FindSubscriber(text string) (id string, err error) {
	if _, ok := e.names[text]; ok {
		return text, nil
	}
	var matches []string // IDs
	for _, id := range slices.Sorted(maps.Keys(e.names)) {
		if strings.EqualFold(e.names[id], text) || text == ui.ShortID(id) || text == e.displayName(id) {
			matches = append(matches, id)
		}
	}
	switch len(matches) {
	case 0:
		return "", errors.New("no such subscriber")
	case 1:
		return matches[0], nil
	}
	return "", fmt.Errorf("%d subscribers have this name; enter an ID or short ID: %s",
		len(matches), strings.Join(record.Texts(matches, ui.ShortID), " or "))
}

// displayName returns the name of a subscriber, with its short ID if the name is
// not unique.
func (e *Events) displayName(id string) string {
	name := e.names[id]
	for namedID, named := range e.names {
		if namedID != id && strings.EqualFold(named, name) {
			return name + " (" + ui.ShortID(id) + ")"
		}
	}
	return name
}

// pickNames suggests the subscribers with a name that contains text.
func (e *Events) pickNames(text string) []ui.Suggestion {
	var names []string
	for id, name := range e.names {
		if strings.EqualFold(name, text) {
			return nil
		}
		names = append(names, e.displayName(id))
	}
	slices.Sort(names)
	var list []ui.Suggestion
	for _, name := range names {
		if strings.EqualFold(name, text) {
			return nil
		}
		if strings.Contains(strings.ToLower(name), strings.ToLower(text)) {
			list = append(list, ui.Suggestion{Text: name, Name: name})
		}
	}
	return list
}
