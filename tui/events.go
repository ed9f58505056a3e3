package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
)

// events lists the published events and how many subscriptions get them.
type events struct {
	table
	list          []wire.Event
	subscriptions []wire.Subscription
	busy          bool
	search        string
}

func newEvents(a *app) screen {
	e := &events{table: newTable(a, true)}
	e.grid.SetColumns([]grid.Column{{Name: "Event", Min: 30}, {Name: "Subscriptions", Right: true}, {Name: "Description", Min: 10, Max: 100, Flex: true}}, 0)
	return e
}

func (e *events) shown() tea.Cmd  { return e.poll() }
func (e *events) title() string   { return "Events" }
func (e *events) scopes() []scope { return []scope{inEvents, inLists} }
func (e *events) waiting() bool   { return e.busy }
func (e *events) twin() string    { return "whctl events list" }

func (e *events) chips() []string {
	if e.search == "" {
		return nil
	}
	return []string{e.search}
}

func (e *events) poll() tea.Cmd {
	e.busy = true
	return e.app.events(e.context, e)
}

func (e *events) update(m tea.Msg) tea.Cmd {
	got, ok := m.(eventsMsg)
	if !ok {
		return nil
	}
	e.busy = false
	e.app.fail("fetching events", got.err)
	if got.list != nil {
		e.list, e.subscriptions = got.list, got.subscriptions
		e.fill()
	}
	return nil
}

func (e *events) fill() {
	var rows []*grid.Row
	for _, one := range e.list {
		if !strings.Contains(strings.ToLower(one.Name+" "+one.Description), strings.ToLower(e.search)) {
			continue
		}
		count := grid.Cell{Text: fmt.Sprint(e.count(one.Name))}
		if count.Text == "0" {
			count.Ink = e.app.theme.dim
		}
		rows = append(rows, &grid.Row{ID: one.Name, Cells: []grid.Cell{{Text: one.Name}, count, {Text: one.Description, Ink: e.app.theme.dim}}})
	}
	e.grid.SetRows(grid.NewList(rows))
}

// count is how many subscriptions get an event, by its name, its family or *.
func (e *events) count(name string) int {
	family, _, _ := strings.Cut(name, ".")
	n := 0
	for _, s := range e.subscriptions {
		if s.EventName == name || s.EventName == "*" || s.EventName == family+".*" {
			n++
		}
	}
	return n
}

func (e *events) do(b binding) tea.Cmd {
	row := e.grid.Row()
	switch {
	case e.move(b) || row == nil:
	case b.action == open:
		only := client.Filter{Field: "EventName", Operator: record.Equal, Values: []string{row.ID}}
		return e.app.pushIn(messagesTab, newMessages(e.app, messageFilter{conditions: []client.Filter{only}}))
	case b.action == copyCell:
		e.app.clip(row.ID)
	}
	return nil
}

// find narrows the list while it is typed.
func (e *events) find() *line {
	l := newLine(e.app, "events", "/", e.search)
	l.help = "part of a name or a description; enter keeps it"
	l.check = func(text string) error {
		e.search = text
		e.fill()
		return nil
	}
	l.accept = func(string) tea.Cmd { return nil }
	return l
}
