package tui

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/tui/browse"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// Which messages are shown, and in which order.

// nextStanding goes from all to those that failed, from there to all that are
// not delivered, and back.
func (s *messages) nextStanding() tea.Cmd {
	f := &s.filter
	f.Problems, f.Undelivered = !f.Problems && !f.Undelivered, f.Problems && !f.Undelivered
	return s.reload()
}

// newest reports whether the newest messages stand first, so that the list can
// follow them.
func (s *messages) newest() bool {
	return s.order.Column == "" || s.order == grid.Sort{Column: ageColumn, Descending: true}
}

// orderBy is the order as the service and whctl take it, empty for its own.
func (s *messages) orderBy() string {
	c, _ := shownColumn(s.order.Column)
	if c.field == "" || !s.order.Descending {
		return c.field
	}
	return "-" + c.field
}

// messageOrder is an order that was kept, none where no column has it any more.
func messageOrder(text string) grid.Sort {
	order := browse.SortOf(text)
	if c, _ := shownColumn(order.Column); c.field == "" {
		return grid.Sort{}
	}
	return order
}

// members is the filter with the order.
func (s *messages) members() url.Values {
	q := s.filter.Members()
	if by := s.orderBy(); by != "" {
		q.Set("OrderBy", by)
	}
	return q
}

// sort goes from up to down to the newest first on the selected column.
func (s *messages) sort() tea.Cmd {
	c := s.column()
	if c.field == "" {
		s.Tell(ui.Warning, "the service cannot order by "+strings.ToLower(c.Name)+": it knows their ids only")
		return nil
	}
	s.order = s.order.Next(c.Name)
	return s.reload()
}

// filterColumn begins a condition on the selected column.
func (s *messages) filterColumn() {
	c := s.column()
	if c.field == "" {
		s.Tell(ui.Warning, "nothing can be typed about "+strings.ToLower(c.Name)+"s: "+keymap.KeyFor(keymap.InMessages, keymap.KeepValue)+" keeps the messages of this one")
		return
	}
	s.Type(s.filterLine(strings.TrimSpace(s.filterText() + browse.ConditionGap + c.field)))
}

// keep keeps the messages that have the same in the selected column.
func (s *messages) keep() tea.Cmd {
	one, ok := s.selected()
	if !ok {
		return nil
	}
	switch c := s.column(); c.Name {
	case "To":
		s.filter.Subscription, s.filter.Label = one.SubscriptionID, subscriptionLabel(one.EventName, one.URL)
	case "Subscriber":
		s.filter.Subscriber, s.filter.Label = one.SubscriberID, s.subscriberOf(one)
		s.filter.Subscription = ""
	case "Status":
		return s.limit(equal("Status", strconv.Itoa(one.Status)))
	case "Event":
		return s.limit(equal("EventName", one.EventName))
	case "Try":
		return s.limit(equal("Retries", strconv.Itoa(one.Retries)))
	case "HTTP":
		return s.keepAnswer(one)
	default:
		s.Tell(ui.Warning, "no two messages have the same "+strings.ToLower(c.Name)+": "+keymap.KeyFor(keymap.InMessages, keymap.FilterColumn)+" filters by it")
		return nil
	}
	return s.reload()
}

// keepAnswer keeps the messages that were answered like one, or not at all for
// the same reason.
func (s *messages) keepAnswer(one wire.Message) tea.Cmd {
	switch {
	case one.LastMessageResponseHTTPCode != nil:
		return s.limit(equal("LastMessageResponseHTTPCode", strconv.Itoa(*one.LastMessageResponseHTTPCode)))
	case one.LastMessageResponseMessage != "":
		return s.limit(equal("LastMessageResponseMessage", one.LastMessageResponseMessage))
	}
	s.Tell(ui.Warning, "there was no attempt yet, which no filter finds: Status=0 finds those that wait")
	return nil
}

func equal(field, value string) client.Filter {
	return client.Filter{Field: field, Operator: record.Equal, Values: []string{value}}
}

// limit adds a condition, in place of one of the same kind.
func (s *messages) limit(one client.Filter) tea.Cmd {
	others := slices.DeleteFunc(slices.Clone(s.filter.Conditions), func(f client.Filter) bool { return f.Member() == one.Member() })
	s.filter.Conditions = append(others, one)
	return s.reload()
}
