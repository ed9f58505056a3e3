package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
)

// subscribers lists who gets events.
type subscribers struct {
	table
	list   []wire.Subscriber
	total  int
	loaded bool
	busy   bool
	search string
	detail *subscriptions // of the selected one, where there is room
}

func newSubscribers(a *app) screen {
	s := &subscribers{table: newTable(a, true)}
	s.grid.SetColumns([]grid.Column{{Name: "Name", Min: 16, Max: 80, Flex: true}, {Name: "SubscriberID", Min: 12}, {Name: "State", Min: 9}}, 0)
	return s
}

func (s *subscribers) start() tea.Cmd  { return nil }
func (s *subscribers) shown() tea.Cmd  { return s.poll() }
func (s *subscribers) title() string   { return "Subscribers" }
func (s *subscribers) scopes() []scope { return []scope{inSubscribers, inLists} }
func (s *subscribers) twin() string    { return "whctl subscribers list" }
func (s *subscribers) waiting() bool   { return s.busy }

func (s *subscribers) chips() []string {
	if s.search == "" {
		return nil
	}
	return []string{s.search}
}

func (s *subscribers) poll() tea.Cmd {
	s.busy = true
	return s.app.subscribers(s.context, s)
}

func (s *subscribers) status() string {
	switch {
	case s.loaded && len(s.list) == 0:
		return "no subscribers yet: n adds one"
	case s.total > len(s.list):
		return s.grid.Place() + fmt.Sprintf("   the first %s of %s", grid.Thousands(len(s.list)), grid.Thousands(s.total))
	}
	return s.grid.Place()
}

func (s *subscribers) update(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case subscribersMsg:
		s.busy = false
		if m.err != nil {
			s.app.fail("fetching subscribers", m.err)
			return nil
		}
		s.list, s.total, s.loaded = m.list, m.total, true
		s.fill()
		return s.look(true)
	case doneMsg:
		s.app.done(m)
		return s.poll()
	case changedMsg:
		return s.edited(m)
	}
	return nil
}

func (s *subscribers) fill() {
	var rows []*grid.Row
	for _, one := range s.list {
		if !strings.Contains(strings.ToLower(one.Name), strings.ToLower(s.search)) {
			continue
		}
		row := &grid.Row{ID: one.RecID, Cells: []grid.Cell{{Text: one.Name}, {Text: shortID(one.RecID), Ink: s.app.theme.dim}, s.app.enabledCell(one.IsEnabled, "")}}
		rows = append(rows, row)
	}
	s.grid.SetRows(grid.NewList(rows))
}

// enabledCell says whether something is on, and if not, why.
func (a *app) enabledCell(on bool, reason string) grid.Cell {
	if on {
		return grid.Cell{Text: "enabled"}
	}
	if reason != "" {
		reason = ": " + reason
	}
	return grid.Cell{Text: "disabled" + reason, Ink: a.theme.status[2]}
}

// done tells how a change went.
func (a *app) done(m doneMsg) {
	if m.err != nil {
		a.fail(m.what, m.err)
		return
	}
	a.tell(info, m.what+": done")
}

func (s *subscribers) selected() (wire.Subscriber, bool) {
	row := s.grid.Row()
	if row == nil {
		return wire.Subscriber{}, false
	}
	i := slices.IndexFunc(s.list, func(one wire.Subscriber) bool { return one.RecID == row.ID })
	if i < 0 {
		return wire.Subscriber{}, false
	}
	return s.list[i], true
}

func (s *subscribers) do(b binding) tea.Cmd {
	if s.move(b) {
		return s.look(false)
	}
	if b.action == addNew {
		s.app.over = s.newForm()
		return nil
	}
	one, ok := s.selected()
	if !ok {
		return nil
	}
	switch b.action {
	case open:
		return s.enter()
	case copyCell:
		s.app.clip(one.RecID)
	case edit:
		s.app.over = s.changeForm(one)
	case toggleEnabled:
		s.app.ask(verbOf(!one.IsEnabled)+" "+one.Name+"?", strings.ToLower(verbOf(!one.IsEnabled)), enableLines(one.IsEnabled), func() tea.Cmd {
			return s.app.enableSubscriber(s, one, !one.IsEnabled)
		})
	case remove:
		s.app.ask("Delete "+one.Name+"?", "delete it", []string{
			"Its subscriptions, their messages and responses go with it, and what is pending is not sent. This cannot be undone.",
		}, func() tea.Cmd { return s.app.removeSubscriber(s, one) })
	}
	return nil
}

func verbOf(on bool) string {
	if on {
		return "Enable"
	}
	return "Disable"
}

// enableLines say what becomes of messages.
func enableLines(was bool) []string {
	if was {
		return []string{"Events still make messages. They wait, and go out when it is enabled again."}
	}
	return []string{"What has waited goes out now."}
}

func (s *subscribers) newForm() overlay {
	f := &form{app: s.app, title: "New subscriber", verb: "create"}
	f.add("Name", "Name", "", "whose program gets the events; enter creates it")
	f.send = func(values map[string]string, _ bool) tea.Cmd {
		return s.app.addSubscriber(s, f, values["Name"])
	}
	return f
}

// changeForm asks what a subscriber is to be called.
func (s *subscribers) changeForm(one wire.Subscriber) overlay {
	f := &form{app: s.app, title: "Change " + one.Name, verb: "change"}
	f.add("Name", "Name", one.Name, "its id, which is its key, stays as it is; "+s.app.keyFor(inSubscribers, toggleEnabled)+" enables and disables it")
	f.send = func(values map[string]string, _ bool) tea.Cmd {
		name := values["Name"]
		switch name {
		case "":
			f.fields[0].wrong = "a subscriber has a name"
			return nil
		case one.Name:
			f.unchanged()
			return nil
		}
		return s.app.changeSubscriber(s, f, one, name)
	}
	return f
}

// edited puts what a subscriber is called now into the list.
func (s *subscribers) edited(m changedMsg) tea.Cmd {
	if m.subscriber != nil {
		for i := range s.list {
			if s.list[i].RecID == m.subscriber.RecID {
				s.list[i].Name = m.subscriber.Name
			}
		}
		s.fill()
	}
	s.app.changed(m)
	return s.poll()
}

// find narrows the list while it is typed.
func (s *subscribers) find() *line {
	l := newLine(s.app, "subscribers", "/", s.search)
	l.help = "part of a name; " + s.app.keyFor(inLine, submit) + " keeps it"
	l.check = func(text string) error {
		s.search = text
		s.fill()
		return nil
	}
	l.accept = func(string) tea.Cmd { return s.look(false) }
	return l
}
