package messages

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// query is the filter and the order of a list.
type query struct {
	*List
	Filter ui.MessageFilter
	Order  grid.Sort              // by a column; newest first if empty
	Typed  browse.TypedConditions // the conditions as typed
	saved  string                 // name of the view; empty for none
}

// cycleStatus switches from all messages to failed ones, the newest failure first, then to
// undelivered ones, then back to all.
func (s *query) cycleStatus() tea.Cmd {
	f := &s.Filter
	f.Problems, f.Undelivered = !f.Problems && !f.Undelivered, f.Problems && !f.Undelivered
	s.Order = grid.Sort{}
	return s.Reload()
}

// newest reports whether the newest messages, or in a list of problems the newest failures,
// come first, so that the list can follow them.
func (s *query) newest() bool {
	return s.Order.Column == "" || s.Order == grid.Sort{Column: AgeColumn, Descending: true}
}

// orderBy returns the order as a parameter of the service and whctl, empty for the
// default. Problems are listed by their last attempt.
func (s *query) orderBy() string {
	if s.Order.Column == "" && s.Filter.Problems {
		return "-LastSavedDateTime"
	}
	c, _ := findColumn(s.Order.Column)
	if c.field == "" || !s.Order.Descending {
		return c.field
	}
	return "-" + c.field
}

// MessageOrder parses a saved order. It returns no order if the column no longer
// exists.
func MessageOrder(text string) grid.Sort {
	order := browse.ParseOrder(text)
	if c, _ := findColumn(order.Column); c.field == "" {
		return grid.Sort{}
	}
	return order
}

// members returns the request parameters of filter and order.
func (s *query) members() url.Values {
	q := s.Filter.Members()
	if by := s.orderBy(); by != "" {
		q.Set("OrderBy", by)
	}
	return q
}

// sort cycles the selected column through ascending, descending and no order.
func (s *query) sort() tea.Cmd {
	c := s.Column()
	if c.field == "" {
		s.Notify(ui.Warning, "cannot sort by "+strings.ToLower(c.Name)+": messages contain only the ID")
		return nil
	}
	s.Order = s.Order.Next(c.Name)
	return s.Reload()
}

// filterColumn opens the filter line with a condition on the selected column.
func (s *query) filterColumn() {
	c := s.Column()
	if c.field == "" {
		s.Notify(ui.Warning, "cannot filter by "+strings.ToLower(c.Name)+" name; "+keymap.KeyFor(keymap.InMessages, keymap.FilterByValue)+" filters by this one")
		return
	}
	s.ShowInput(s.filterLine(strings.TrimSpace(s.filterText() + browse.ConditionSeparator + c.field)))
}

// filterByValue filters by the value of the selected cell.
func (s *query) filterByValue() tea.Cmd {
	one, ok := s.Selected()
	if !ok {
		return nil
	}
	switch c := s.Column(); c.Name {
	case "To":
		s.Filter.Subscription, s.Filter.Label = one.SubscriptionID, subscriptionLabel(one.EventName, one.URL)
	case "Subscriber":
		s.Filter.Subscriber, s.Filter.Label = one.SubscriberID, s.Subscribers.cell(one).Text
		s.Filter.Subscription = ""
	case "Status":
		return s.addCondition(equal("Status", strconv.Itoa(one.Status)))
	case "Event":
		return s.addCondition(equal("EventName", one.EventName))
	case "Att.":
		return s.addCondition(equal("Retries", strconv.Itoa(one.Retries)))
	case "HTTP":
		return s.filterByResult(one)
	default:
		s.Notify(ui.Warning, "each message has a different "+strings.ToLower(c.Name)+"; "+keymap.KeyFor(keymap.InMessages, keymap.FilterColumn)+" filters by a range")
		return nil
	}
	return s.Reload()
}

// filterByResult filters by the status code of a message, or by its error if there
// was no response.
func (s *query) filterByResult(one wire.Message) tea.Cmd {
	switch {
	case one.LastMessageResponseHTTPCode != nil:
		return s.addCondition(equal("LastMessageResponseHTTPCode", strconv.Itoa(*one.LastMessageResponseHTTPCode)))
	case one.LastMessageResponseMessage != "":
		return s.addCondition(equal("LastMessageResponseMessage", one.LastMessageResponseMessage))
	}
	s.Notify(ui.Warning, "the message has no result yet; filter by Status=0 instead")
	return nil
}

func equal(field, value string) client.Filter {
	return client.Filter{Field: field, Operator: record.Equal, Values: []string{value}}
}

// addCondition adds a condition. It replaces one on the same field and operator.
func (s *query) addCondition(one client.Filter) tea.Cmd {
	others := slices.DeleteFunc(slices.Clone(s.Filter.Conditions), func(f client.Filter) bool { return f.Member() == one.Member() })
	s.Filter.Conditions = append(others, one)
	return s.Reload()
}

// Badges implements ui.Screen.
func (s *query) Badges() []string {
	var badges []string
	if scope := s.scope(); scope != "" {
		badges = append(badges, scope)
	}
	if badge := s.Filter.StatusFilter().Badge; badge != "" {
		badges = append(badges, badge)
	}
	return append(badges, record.Texts(s.Filter.Conditions, filter.Text)...)
}

// newer returns the status text for new messages that are not shown. With
// conditions, only the service can count them.
func (s *query) newer() string {
	switch n := len(s.unseenIDs); {
	case s.Grid.Following():
		return "   following"
	case n == 0:
		return ""
	case len(s.Filter.Conditions) > 0 || !s.newest():
		return "   new messages: " + keymap.KeyFor(keymap.InLists, keymap.GoTop) + " shows matches"
	default:
		return fmt.Sprintf("   new %s: %s shows them", display.Thousands(n), keymap.KeyFor(keymap.InLists, keymap.GoTop))
	}
}

// scope returns the label of the subscription or subscriber, empty for all.
func (s *query) scope() string {
	if queue, known := s.Queues.Known[s.Filter.Subscription]; known {
		return subscriptionLabel(queue.EventName, queue.URL)
	}
	return s.Filter.Label
}

// Equivalent implements ui.Screen.
func (s *query) Equivalent() string {
	return "whctl messages list" + s.conditionArguments() + " --order-by " + cmp.Or(s.orderBy(), "-AddedDateTime")
}

// conditionArguments returns the filter as arguments of whctl.
func (s *query) conditionArguments() string {
	text := ""
	if s.Filter.Subscriber != "" {
		// by its first and last characters, since the ID is a key
		first, last, _ := strings.Cut(ui.ShortID(s.Filter.Subscriber), "..")
		text += " --where " + ui.Quote("SubscriberID^="+first) + " --where " + ui.Quote("SubscriberID$="+last)
	}
	if s.Filter.Subscription != "" {
		text += ` --where "SubscriptionID=` + s.Filter.Subscription + `"`
	}
	if c, isLimited := s.Filter.StatusFilter().Condition(); isLimited {
		text += " --where " + ui.Quote(filter.Text(c))
	}
	return text + browse.WhereFlags(s.Typed.Texts(s.Filter.Conditions))
}

func (s *query) filterText() string {
	return strings.Join(record.Texts(s.Filter.Conditions, filter.Text), browse.ConditionSeparator)
}

// Find returns the filter line.
func (s *query) Find() *ui.InputLine { return s.filterLine(s.filterText()) }

func (s *query) filterLine(text string) *ui.InputLine {
	l := browse.NewFilterLine(s.HostSession, ui.MessageKind(), ui.MessageRecord, text, func(filters []client.Filter, typed browse.TypedConditions) tea.Cmd {
		s.Filter.Conditions, s.Typed = filters, typed
		return s.Reload()
	})
	l.Help = "such as Status=3  EventName^=debtor; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " filters at the service   " + keymap.KeyFor(keymap.InLine, keymap.Complete) + " completes"
	return l
}

// Exportable returns the export of the filtered messages, with their bodies.
func (s *query) Exportable() browse.Exportable {
	kind := ui.MessageKind()
	e := browse.Exportable{
		Name: "Messages", Query: client.Query{Kind: kind, Where: s.Filter.Filters()}, Key: "MessageID", Total: s.Pages.Total(), Marked: s.Grid.MarkedIDs(), All: s.AllMarks,
		Loaded: s.Pages.LoadedIDs(), Rows: func(map[string]struct{}) ([]client.Row, bool) { return nil, false },
	}
	if by := s.orderBy(); by != "" {
		e.Query.OrderBy = []string{by}
	}
	for _, f := range kind.Fields {
		e.Columns = append(e.Columns, export.Column{Name: f.Name, Type: f.Type})
	}
	return e
}
