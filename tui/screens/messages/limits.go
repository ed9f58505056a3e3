package messages

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// Which messages are shown, and in which order.

// limits say which messages a list shows, and in which order.
type limits struct {
	*List
	Filter ui.MessageFilter
	Order  grid.Sort              // by a column; of none, the newest come first
	Typed  browse.TypedConditions // the conditions as they were typed
	saved  string                 // whose name this has been opened by or saved under
}

// nextStanding goes from all to those that failed, from there to all that are
// not delivered, and back.
func (s *limits) nextStanding() tea.Cmd {
	f := &s.Filter
	f.Problems, f.Undelivered = !f.Problems && !f.Undelivered, f.Problems && !f.Undelivered
	return s.Reload()
}

// newest reports whether the newest messages stand first, so that the list can
// follow them.
func (s *limits) newest() bool {
	return s.Order.Column == "" || s.Order == grid.Sort{Column: AgeColumn, Descending: true}
}

// orderBy is the order as the service and whctl take it, empty for its own.
func (s *limits) orderBy() string {
	c, _ := shownColumn(s.Order.Column)
	if c.field == "" || !s.Order.Descending {
		return c.field
	}
	return "-" + c.field
}

// MessageOrder is an order that was kept, none where no column has it any more.
func MessageOrder(text string) grid.Sort {
	order := browse.SortOf(text)
	if c, _ := shownColumn(order.Column); c.field == "" {
		return grid.Sort{}
	}
	return order
}

// members is the filter with the order.
func (s *limits) members() url.Values {
	q := s.Filter.Members()
	if by := s.orderBy(); by != "" {
		q.Set("OrderBy", by)
	}
	return q
}

// sort goes from up to down to the newest first on the selected column.
func (s *limits) sort() tea.Cmd {
	c := s.Column()
	if c.field == "" {
		s.Tell(ui.Warning, "the service cannot order by "+strings.ToLower(c.Name)+": it knows their ids only")
		return nil
	}
	s.Order = s.Order.Next(c.Name)
	return s.Reload()
}

// filterColumn begins a condition on the selected column.
func (s *limits) filterColumn() {
	c := s.Column()
	if c.field == "" {
		s.Tell(ui.Warning, "nothing can be typed about "+strings.ToLower(c.Name)+"s: "+keymap.KeyFor(keymap.InMessages, keymap.KeepValue)+" keeps the messages of this one")
		return
	}
	s.Type(s.filterLine(strings.TrimSpace(s.filterText() + browse.ConditionGap + c.field)))
}

// keep keeps the messages that have the same in the selected column.
func (s *limits) keep() tea.Cmd {
	one, ok := s.Selected()
	if !ok {
		return nil
	}
	switch c := s.Column(); c.Name {
	case "To":
		s.Filter.Subscription, s.Filter.Label = one.SubscriptionID, subscriptionLabel(one.EventName, one.URL)
	case "Subscriber":
		s.Filter.Subscriber, s.Filter.Label = one.SubscriberID, s.subscriberOf(one)
		s.Filter.Subscription = ""
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
	return s.Reload()
}

// keepAnswer keeps the messages that were answered like one, or not at all for
// the same reason.
func (s *limits) keepAnswer(one wire.Message) tea.Cmd {
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
func (s *limits) limit(one client.Filter) tea.Cmd {
	others := slices.DeleteFunc(slices.Clone(s.Filter.Conditions), func(f client.Filter) bool { return f.Member() == one.Member() })
	s.Filter.Conditions = append(others, one)
	return s.Reload()
}
