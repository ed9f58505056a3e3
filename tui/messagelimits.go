package tui

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/where"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
)

// Which messages are shown, and in which order.

// standing says by what has become of them which messages are shown.
type standing struct {
	chip     string
	statuses []string // nil for all
}

// statuses are what ! goes through beside all of them.
func (f messageFilter) standing() standing {
	switch {
	case f.undelivered:
		return standing{"not delivered", []string{"0", "2", "3"}}
	case f.problems:
		return standing{"problems", []string{"2", "3"}}
	}
	return standing{}
}

// condition is the condition that this is; false for none.
func (s standing) condition() (client.Filter, bool) {
	return client.Filter{Field: "Status", Operator: record.In, Values: s.statuses}, s.statuses != nil
}

// means reports whether a message with this status is shown. What has just come
// is no problem before it has failed.
func (s standing) means(status int) bool {
	return s.statuses == nil || slices.Contains(s.statuses, strconv.Itoa(status))
}

// nextStanding goes from all to those that failed, from there to all that are
// not delivered, and back.
func (s *messages) nextStanding() tea.Cmd {
	f := &s.filter
	f.problems, f.undelivered = !f.problems && !f.undelivered, f.problems && !f.undelivered
	return s.reload()
}

// held counts the messages that nobody has tried to send, since their endpoint
// fails or is off. Of a list with conditions the service alone knows.
func (s *messages) held() int64 {
	if !s.filter.problems || s.filter.undelivered || len(s.filter.all()) > 0 {
		return 0
	}
	var n int64
	for _, lane := range s.app.lanes.known {
		stuck := !lane.IsEnabled || lane.Breaker == wire.BreakerOpen
		if stuck && s.filter.of(wire.MessageChange{SubscriberID: lane.SubscriberID, SubscriptionID: lane.SubscriptionID}) {
			n += lane.NotSent
		}
	}
	return n
}

// heldText tells of them.
func (s *messages) heldText() string {
	n := s.held()
	if n == 0 {
		return ""
	}
	return "   " + grid.Thousands(int(n)) + " more wait: " + s.app.keyFor(inMessages, problemsOnly) + " shows them"
}

// whose is whose messages are shown, empty for everybody's.
func (s *messages) whose() string {
	if lane, known := s.app.lanes.known[s.filter.subscription]; known {
		return subscriptionLabel(lane.EventName, lane.URL)
	}
	return s.filter.label
}

// subscriptionLabel is what is sent, and where to.
func subscriptionLabel(event, address string) string { return event + " to " + shortURL(address) }

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
	order := sortOf(text)
	if c, _ := shownColumn(order.Column); c.field == "" {
		return grid.Sort{}
	}
	return order
}

// members is the filter with the order.
func (s *messages) members() url.Values {
	q := s.filter.members()
	if by := s.orderBy(); by != "" {
		q.Set("OrderBy", by)
	}
	return q
}

// sort goes from up to down to the newest first on the selected column.
func (s *messages) sort() tea.Cmd {
	c := s.column()
	switch {
	case c.field == "":
		s.app.tell(warning, "the service cannot order by "+strings.ToLower(c.Name)+": it knows their ids only")
		return nil
	case s.order.Column != c.Name:
		s.order = grid.Sort{Column: c.Name}
	case !s.order.Descending:
		s.order.Descending = true
	default:
		s.order = grid.Sort{}
	}
	return s.reload()
}

// filterColumn begins a condition on the selected column.
func (s *messages) filterColumn() {
	c := s.column()
	if c.field == "" {
		s.app.tell(warning, "nothing can be typed about "+strings.ToLower(c.Name)+"s: "+s.app.keyFor(inMessages, keepValue)+" keeps the messages of this one")
		return
	}
	s.app.line = s.filterLine(strings.TrimSpace(s.filterText() + conditionGap + c.field))
}

// keep keeps the messages that have the same in the selected column.
func (s *messages) keep() tea.Cmd {
	one, ok := s.selected()
	if !ok {
		return nil
	}
	switch c := s.column(); c.Name {
	case "To":
		s.filter.subscription, s.filter.label = one.SubscriptionID, subscriptionLabel(one.EventName, one.URL)
	case "Subscriber":
		s.filter.subscriber, s.filter.label = one.SubscriberID, s.subscriberOf(one)
		s.filter.subscription = ""
	case "Status":
		return s.limit(equal("Status", strconv.Itoa(one.Status)))
	case "Event":
		return s.limit(equal("EventName", one.EventName))
	case "Try":
		return s.limit(equal("Retries", strconv.Itoa(one.Retries)))
	case "HTTP":
		return s.keepAnswer(one)
	default:
		s.app.tell(warning, "no two messages have the same "+strings.ToLower(c.Name)+": "+s.app.keyFor(inMessages, filterColumn)+" filters by it")
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
	s.app.tell(warning, "there was no attempt yet, which no filter finds: Status=0 finds those that wait")
	return nil
}

func equal(field, value string) client.Filter {
	return client.Filter{Field: field, Operator: record.Equal, Values: []string{value}}
}

// limit adds a condition, in place of one of the same kind.
func (s *messages) limit(one client.Filter) tea.Cmd {
	others := slices.DeleteFunc(slices.Clone(s.filter.conditions), func(f client.Filter) bool { return f.Member() == one.Member() })
	s.filter.conditions = append(others, one)
	return s.reload()
}

func (s *messages) filterText() string {
	var texts []string
	for _, f := range s.filter.conditions {
		texts = append(texts, where.Text(f))
	}
	return strings.Join(texts, conditionGap)
}

// find is the line of filters.
func (s *messages) find() *line { return s.filterLine(s.filterText()) }

func (s *messages) filterLine(text string) *line {
	kind := messageKind()
	l := newLine(s.app, "filter Message", "/", text)
	l.help = "such as Status=3  EventName^=debtor; " + s.app.keyFor(inLine, submit) + " filters at the service   " + s.app.keyFor(inLine, complete) + " completes"
	l.suggest = func(text string) []suggestion { return suggestFields(kind, text) }
	l.check = func(text string) error {
		filters, err := s.app.readFilters(kind, text)
		if err == nil && !s.filter.at.IsZero() {
			_, err = where.Append(filters, asOf(s.filter.at))
		}
		return err
	}
	l.accept = func(text string) tea.Cmd {
		s.filter.conditions, _ = s.app.readFilters(kind, text) // it was checked just now
		s.typed = s.app.note(kind, text)
		return s.reload()
	}
	return l
}

// marked tells how many messages are marked.
func (s *messages) marked() string {
	switch n := s.grid.Marks(); {
	case s.allMarks:
		return "   " + grid.Thousands(max(0, s.pages.Total())) + " marked: all that match"
	case n > 0:
		return fmt.Sprintf("   %s marked", grid.Thousands(n))
	}
	return ""
}
