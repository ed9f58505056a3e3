package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
)

// subscriptions lists what one subscriber gets.
type subscriptions struct {
	table
	subscriber wire.Subscriber
	master     *subscribers // at the left, where there is room; nil for none
	list       []wire.Subscription
	loaded     bool
	busy       bool
}

func newSubscriptions(a *app, subscriber wire.Subscriber) screen {
	s := &subscriptions{table: newTable(a, true), subscriber: subscriber}
	s.grid.SetColumns([]grid.Column{{Name: "Event", Min: 16, Flex: true}, {Name: "URL", Min: 20, Max: 80, Flex: true}, {Name: "State", Min: 9, Flex: true}, {Name: "Order"}, {Name: "Headers", Min: 8, Flex: true}}, 0)
	return s
}

func (s *subscriptions) shown() tea.Cmd  { return s.poll() }
func (s *subscriptions) title() string   { return s.subscriber.Name }
func (s *subscriptions) scopes() []scope { return []scope{inSubscriptions, inLists} }
func (s *subscriptions) waiting() bool   { return s.busy }
func (s *subscriptions) chips() []string {
	return []string{shortID(s.subscriber.RecID), onOff(s.subscriber.IsEnabled)}
}
func (s *subscriptions) twin() string {
	return "whctl subscriptions list --subscriber " + argument(s.subscriber.Name)
}

func (s *subscriptions) poll() tea.Cmd {
	s.busy = true
	return s.app.subscriptions(s.context, s, s.subscriber.RecID)
}

func (s *subscriptions) status() string {
	if s.loaded && len(s.list) == 0 {
		return "no subscriptions yet: n adds one"
	}
	return s.grid.Place()
}

func (s *subscriptions) update(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case subscriptionsMsg:
		s.busy = false
		if m.err != nil {
			s.app.fail("fetching subscriptions", m.err)
			return nil
		}
		s.list, s.loaded = m.list, true
		s.fill()
	case doneMsg:
		s.app.done(m)
		return s.poll()
	case subscriptionMsg:
		return s.added(m)
	case changedMsg:
		return s.edited(m)
	}
	return nil
}

func (s *subscriptions) fill() {
	var rows []*grid.Row
	for _, one := range s.list {
		order := ""
		if one.Ordered {
			order = "ordered"
		}
		var names []string
		for _, h := range one.Headers {
			names = append(names, h.Name)
		}
		rows = append(rows, &grid.Row{ID: one.RecID, Cells: []grid.Cell{
			{Text: one.EventName}, {Text: one.URL}, s.app.enabledCell(one.IsEnabled, one.DisabledReason), {Text: order}, {Text: strings.Join(names, ", ")},
		}})
	}
	s.grid.SetRows(grid.NewList(rows))
}

// added tells how a new subscription went.
func (s *subscriptions) added(m subscriptionMsg) tea.Cmd {
	s.app.subscribed(m)
	return s.poll()
}

// edited puts what a subscription is now into the list, which may have been older
// than the form.
func (s *subscriptions) edited(m changedMsg) tea.Cmd {
	if m.subscription != nil {
		if i := slices.IndexFunc(s.list, func(one wire.Subscription) bool { return one.RecID == m.subscription.RecID }); i >= 0 {
			s.list[i] = *m.subscription
			s.fill()
		}
	}
	s.app.changed(m)
	return s.poll()
}

func (s *subscriptions) selected() (wire.Subscription, bool) {
	row := s.grid.Row()
	if row == nil {
		return wire.Subscription{}, false
	}
	i := slices.IndexFunc(s.list, func(one wire.Subscription) bool { return one.RecID == row.ID })
	if i < 0 {
		return wire.Subscription{}, false
	}
	return s.list[i], true
}

func (s *subscriptions) do(b binding) tea.Cmd {
	if s.move(b) {
		return nil
	}
	if b.action == addNew {
		s.app.over = s.newForm("")
		return nil
	}
	one, ok := s.selected()
	if !ok {
		return nil
	}
	a := s.app
	switch b.action {
	case open:
		return a.push(newMessages(a, messageFilter{subscription: one.RecID, label: one.EventName}))
	case copyCell:
		a.clip(one.RecID)
	case edit:
		a.over = s.changeForm(one)
	case renewSecret:
		a.askSecret(one)
	case test:
		a.ask("Send a test message?", "send it", []string{one.EventName + " to", "  " + one.URL, "It is sent once and marked as a test."}, func() tea.Cmd { return a.testSubscription(s, one) })
	case toggleEnabled:
		a.ask(verbOf(!one.IsEnabled)+" "+one.EventName+"?", strings.ToLower(verbOf(!one.IsEnabled)), append([]string{"to " + one.URL}, enableLines(one.IsEnabled)...),
			func() tea.Cmd { return a.enableSubscription(s, one, !one.IsEnabled) })
	case remove:
		a.ask("Delete the subscription?", "delete it", []string{one.EventName + " to", "  " + one.URL,
			"Its messages and responses go with it, and what is pending is not sent.",
			":trash can make it anew, with another id and secret and without headers."},
			func() tea.Cmd {
				a.leaving[one.RecID] = discardable(one, s.subscriber)
				return a.removeSubscription(s, one)
			})
	}
	return nil
}

// newForm asks for a new subscription.
func (s *subscriptions) newForm(event string) overlay {
	return s.app.subscriptionForm("New subscription for "+s.subscriber.Name, event, s, func(map[string]string) (string, error) { return s.subscriber.RecID, nil })
}
