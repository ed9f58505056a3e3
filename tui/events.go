package tui

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// events lists the published events, how many subscriptions get them, and when
// they were raised last.
type events struct {
	table
	list          []wire.Event
	subscriptions []wire.Subscription
	names         map[string]string    // of the subscribers, by id
	last          map[string]time.Time // when an event was raised last
	looked        int                  // how many of the newest messages tell that
	busy          bool
	search        string
	hidden        bool // who gets events, and when they were raised: this user may not see that
}

// notTold stands where nobody tells.
const notTold = "?"

func newEvents(a *app) screen {
	e := &events{table: newTable(a, true)}
	e.grid.SetColumns([]grid.Column{{Name: "Event", Min: 30}, {Name: "Subscriptions", Right: true}, {Name: "Last seen", Right: true, Min: 9}, {Name: "Description", Min: 10, Max: 100, Flex: true}}, 0)
	return e
}

func (e *events) shown() tea.Cmd         { return e.poll() }
func (e *events) title() string          { return "Events" }
func (e *events) scopes() []keymap.Scope { return []keymap.Scope{keymap.InEvents, keymap.InLists} }
func (e *events) waiting() bool          { return e.busy }
func (e *events) twin() string           { return "whctl events list" }

func (e *events) chips() []string {
	if e.search == "" {
		return nil
	}
	return []string{e.search}
}

func (e *events) poll() tea.Cmd {
	e.busy = true
	return fetchEvents(e.context, e.app.client, e)
}

func (e *events) update(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case eventsMsg:
		e.busy, e.hidden = false, false
		if client.Is(m.err, client.Unauthorized) && !unauthorized(m.err) {
			e.hidden = true
		} else {
			e.app.unfetched("fetching events", m.err)
		}
		if m.list != nil {
			e.list, e.subscriptions, e.names, e.last, e.looked = m.list, m.subscriptions, m.names, m.last, m.looked
			e.fill()
		}
	case subscriptionMsg:
		e.app.subscribed(m)
		return e.poll()
	}
	return nil
}

// follow takes note of events that are raised.
func (e *events) follow(m liveMsg) tea.Cmd {
	for _, c := range m.changes {
		if at := time.Time(c.At); e.last != nil && c.Status == 0 && c.Retries == 0 && !c.Deleted && at.After(e.last[c.EventName]) {
			e.last[c.EventName] = at
		}
	}
	e.fill()
	return nil
}

// tick lets times go on.
func (e *events) tick() tea.Cmd {
	e.fill()
	return nil
}

func (e *events) status() string {
	text := e.grid.Place()
	if e.hidden {
		return text + "   who gets them and when takes the role admin"
	}
	if e.looked >= eventsLooked {
		text += fmt.Sprintf("   last seen: of the newest %s messages", theme.Thousands(eventsLooked))
	}
	return text
}

func (e *events) fill() {
	var rows []*grid.Row
	for _, one := range e.list {
		if !strings.Contains(strings.ToLower(one.Name+" "+one.Description), strings.ToLower(e.search)) {
			continue
		}
		count, last := e.figures(one.Name)
		rows = append(rows, &grid.Row{ID: one.Name, Cells: []grid.Cell{{Text: one.Name}, count, last, {Text: one.Description, Ink: e.app.theme.Dim}}})
	}
	e.grid.SetRows(grid.NewList(rows))
}

// figures are how many subscriptions get an event, and when it was raised last.
func (e *events) figures(name string) (count, last grid.Cell) {
	count = grid.Cell{Text: fmt.Sprint(len(e.taking(name)))}
	if count.Text == "0" {
		count.Ink = e.app.theme.Dim
	}
	last = grid.Cell{Text: e.app.moment(e.last[name])}
	if e.hidden {
		count = grid.Cell{Text: notTold, Ink: e.app.theme.Dim}
		if e.last[name].IsZero() {
			last = count
		}
	}
	return count, last
}

// retime shows when events were raised in another way.
func (e *events) retime() string {
	e.fitColumns()
	e.fill()
	return ""
}

// taking are the subscriptions that get an event, by its name, its family or *.
func (e *events) taking(name string) []wire.Subscription {
	var all []wire.Subscription
	for _, s := range e.subscriptions {
		if record.TakesEvent(s.EventName, name) {
			all = append(all, s)
		}
	}
	return all
}

// showTaking lists who gets an event.
func (e *events) showTaking(name string) overlay {
	t := &text{app: e.app, title: "Who gets " + name}
	for _, s := range e.taking(name) {
		t.lines = append(t.lines, theme.Span{Text: e.names[s.SubscriberID] + ", by " + s.EventName, Ink: e.app.theme.Crumb}, theme.Span{Text: "  " + ui.ShortURL(s.URL)}, theme.Span{Text: "  " + e.app.enabledCell(s.IsEnabled, s.DisabledReason).Text, Ink: e.app.theme.Dim}, theme.Span{})
	}
	if len(t.lines) == 0 {
		t.lines = []theme.Span{{Text: "Nobody. n subscribes somebody to it."}}
	}
	return t
}

func (e *events) do(b keymap.Binding) tea.Cmd {
	row := e.grid.Row()
	switch {
	case e.move(b):
	case b.Action == keymap.AskFilter:
		e.app.line = e.find()
	case row == nil:
	case e.hidden && (b.Action == keymap.ShowSubscribed || b.Action == keymap.AddNew):
		e.app.tell(ui.Warning, "subscriptions take the role admin")
	case b.Action == keymap.Open:
		only := client.Filter{Field: "EventName", Operator: record.Equal, Values: []string{row.ID}}
		return e.app.pushIn(messagesTab, newMessages(e.app, messageFilter{conditions: []client.Filter{only}}))
	case b.Action == keymap.CopyCell:
		e.app.clip(row.ID)
	case b.Action == keymap.ShowSubscribed:
		e.app.over = e.showTaking(row.ID)
	case b.Action == keymap.AddNew:
		e.app.over = e.newForm(row.ID)
	}
	return nil
}

// find narrows the list while it is typed.
func (e *events) find() *line {
	l := newLine(e.app, "events", "/", e.search)
	l.help = "part of a name or a description; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " keeps it"
	l.check = func(text string) error {
		e.search = text
		e.fill()
		return nil
	}
	l.accept = func(string) tea.Cmd { return nil }
	return l
}

// fetchEvents fetches the events, what is subscribed to, and when they were raised.
func fetchEvents(ctx context.Context, c *client.Client, to screen) tea.Cmd {
	return func() tea.Msg {
		m := eventsMsg{reply: reply{to: to}, names: make(map[string]string), last: make(map[string]time.Time)}
		if m.list, m.err = c.Events(ctx); m.err != nil {
			return m
		}
		page, err := c.AllSubscriptions(ctx, url.Values{"Take": {strconv.Itoa(listMost)}})
		if m.err = err; err != nil {
			return m
		}
		m.subscriptions = page.Results
		newest, err := c.AllMessages(ctx, url.Values{"Take": {strconv.Itoa(eventsLooked)}, "Fields": {"EventName,AddedDateTime"}})
		if m.err = err; err != nil {
			return m
		}
		m.looked = len(newest.Results)
		for _, one := range newest.Results {
			if at := time.Time(one.AddedDateTime); at.After(m.last[one.EventName]) {
				m.last[one.EventName] = at
			}
		}
		list, _, err := subscribersOf(ctx, c)
		m.err = err
		for _, one := range list {
			m.names[one.RecID] = one.Name
		}
		return m
	}
}

// eventsLooked is how many of the newest messages are looked at to find out when
// an event was raised last.
const eventsLooked = 1000
