package tui

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// subscribers lists who gets events.
type subscribers struct {
	table
	list   []wire.Subscriber
	total  int
	loaded bool
	busy   bool
	search string
	has    map[string]int // subscriptions, by the id of the subscriber; nil where that is not known
	sought string         // the id of one to select once it is here
	detail *subscriptions // of the selected one, where there is room
	fitted fitted
}

func newSubscribers(a *app) screen {
	s := &subscribers{table: newTable(a, true), fitted: fitted{all: subscriberColumns}}
	s.fitted.fit(s.grid, leastWidth)
	return s
}

func (s *subscribers) start() tea.Cmd { return nil }
func (s *subscribers) shown() tea.Cmd {
	if s.detail != nil && s.detail.search != "" {
		s.detail.search = "" // which is not seen beside it
		s.detail.fill()
	}
	return s.poll()
}
func (s *subscribers) title() string { return "Subscribers" }
func (s *subscribers) scopes() []keymap.Scope {
	return []keymap.Scope{keymap.InSubscribers, keymap.InLists}
}
func (s *subscribers) twin() string  { return "whctl subscribers list" }
func (s *subscribers) waiting() bool { return s.busy }

func (s *subscribers) chips() []string {
	if s.search == "" {
		return nil
	}
	return []string{s.search}
}

func (s *subscribers) poll() tea.Cmd {
	s.busy = true
	return tea.Batch(fetchSubscribers(s.context, s.app.client, s), s.app.figuresNow(s))
}

// tick lets the figures go on.
func (s *subscribers) tick() tea.Cmd { return s.app.figures(s) }

func (s *subscribers) status() string {
	switch {
	case s.loaded && len(s.list) == 0:
		return "no subscribers yet: n adds one"
	case s.total > len(s.list):
		return s.grid.Place() + fmt.Sprintf("   the first %s of %s", theme.Thousands(len(s.list)), theme.Thousands(s.total))
	}
	return s.grid.Place()
}

func (s *subscribers) update(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case subscribersMsg:
		s.busy = false
		if m.err != nil {
			s.app.unfetched("fetching subscribers", m.err)
			return nil
		}
		s.list, s.total, s.has, s.loaded = m.list, m.total, m.subscriptions, true
		s.fill()
		if s.sought != "" && s.grid.Select(s.sought) {
			s.sought = ""
		}
		return s.look(true)
	case lanesMsg:
		s.app.explained(m)
		s.fill()
		if s.detail != nil {
			s.detail.fill()
		}
	case doneMsg:
		s.app.done(m)
		return s.poll()
	case stakeMsg:
		s.app.askRemove(m)
	case changedMsg:
		return s.edited(m)
	}
	return nil
}

func (s *subscribers) fill() {
	var rows []*grid.Row
	for _, one := range s.list {
		state := s.app.enabledCell(one.IsEnabled, "")
		if !holdsWords(s.search, one.Name, state.Text) {
			continue
		}
		waiting, known := s.app.lanes.pendingOf(one.RecID)
		rows = append(rows, &grid.Row{ID: one.RecID, Cells: s.fitted.cells(
			grid.Cell{Text: one.Name}, grid.Cell{Text: ui.ShortID(one.RecID), Ink: s.app.theme.Dim}, state, s.app.figure(int64(s.has[one.RecID]), s.has != nil), s.app.figure(waiting, known),
		)})
	}
	s.grid.SetRows(grid.NewList(rows))
}

// done tells how a change went.
func (a *app) done(m doneMsg) {
	if m.err != nil {
		a.fail(m.what, m.err)
		return
	}
	a.tell(ui.Info, m.what+": done")
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

func (s *subscribers) do(b keymap.Binding) tea.Cmd {
	if s.move(b) {
		return s.look(false)
	}
	if b.Action == keymap.AddNew {
		s.app.over = s.newForm()
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
		return s.app.pushIn(messagesTab, newMessages(s.app, messageFilter{subscriber: one.RecID, label: one.Name}))
	case keymap.CopyCell:
		s.app.clip(one.RecID)
	case keymap.Edit:
		s.app.over = s.changeForm(one)
	case keymap.ToggleEnabled:
		s.app.ask(verbOf(!one.IsEnabled)+" "+one.Name+"?", strings.ToLower(verbOf(!one.IsEnabled)), enableLines(one.IsEnabled), func() tea.Cmd {
			return s.app.enableSubscriber(s, one, !one.IsEnabled)
		})
	case keymap.Remove:
		return s.app.stake(s, one, nil)
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
	f.add("Name", "Name", one.Name, "its id, which is its key, stays as it is; "+keymap.KeyFor(keymap.InSubscribers, keymap.ToggleEnabled)+" enables and disables it")
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
		s.sought = m.subscriber.RecID // a new one is selected once it is here
		if i := slices.IndexFunc(s.list, func(one wire.Subscriber) bool { return one.RecID == s.sought }); i >= 0 {
			s.list[i].Name, s.sought = m.subscriber.Name, ""
		} else {
			s.search = ""
		}
		s.fill()
	}
	s.app.changed(m)
	return s.poll()
}

// renew puts what a subscriber is now into the list, unless it is not there any
// more.
func (s *subscribers) renew(one wire.Subscriber) {
	if i := slices.IndexFunc(s.list, func(old wire.Subscriber) bool { return old.RecID == one.RecID }); i >= 0 {
		s.list[i] = one
		s.fill()
	}
}

// find narrows the list while it is typed.
func (s *subscribers) find() *line {
	l := newLine(s.app, "subscribers", "/", s.search)
	l.help = "words of the name or the state; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " keeps it"
	l.check = func(text string) error {
		s.search = text
		s.fill()
		return nil
	}
	l.accept = func(string) tea.Cmd { return s.look(false) }
	return l
}

// fetchSubscribers fetches the subscribers with how many there are.
func fetchSubscribers(ctx context.Context, c *client.Client, to screen) tea.Cmd {
	return func() tea.Msg {
		m := subscribersMsg{reply: reply{to: to}}
		if m.list, m.total, m.err = subscribersOf(ctx, c); m.err != nil {
			return m
		}
		page, err := c.AllSubscriptions(ctx, url.Values{"Take": {strconv.Itoa(listMost)}, "Fields": {"SY_WebhookSubscriber_RecID"}})
		if err != nil || len(page.Results) == listMost {
			return m // the names do without the numbers
		}
		m.subscriptions = make(map[string]int)
		for _, one := range page.Results {
			m.subscriptions[one.SubscriberID]++
		}
		return m
	}
}

// subscribersOf lists the subscribers, by name.
func subscribersOf(ctx context.Context, c *client.Client) (list []wire.Subscriber, total int, err error) {
	kind, _ := record.System().Lookup("Subscriber")
	page, err := c.Page(ctx, client.Query{Kind: kind, OrderBy: []string{"Name"}, Take: new(int64(listMost)), Include: []string{"Total"}})
	if err != nil {
		return nil, 0, err
	}
	for _, row := range page.Rows {
		list = append(list, wire.Subscriber{RecID: row.Text("RecID"), Name: row.Text("Name"), IsEnabled: row.Text("IsEnabled") == "true"})
	}
	return list, int(page.Total), nil
}
