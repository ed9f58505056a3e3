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
	order := browse.ParseOrder(text)
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
		s.Notify(ui.Warning, "the service cannot order by "+strings.ToLower(c.Name)+": it knows their ids only")
		return nil
	}
	s.Order = s.Order.Next(c.Name)
	return s.Reload()
}

// filterColumn begins a condition on the selected column.
func (s *limits) filterColumn() {
	c := s.Column()
	if c.field == "" {
		s.Notify(ui.Warning, "nothing can be typed about "+strings.ToLower(c.Name)+"s: "+keymap.KeyFor(keymap.InMessages, keymap.FilterByValue)+" keeps the messages of this one")
		return
	}
	s.ShowInput(s.filterLine(strings.TrimSpace(s.filterText() + browse.ConditionSeparator + c.field)))
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
		s.Notify(ui.Warning, "no two messages have the same "+strings.ToLower(c.Name)+": "+keymap.KeyFor(keymap.InMessages, keymap.FilterColumn)+" filters by it")
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
	s.Notify(ui.Warning, "there was no attempt yet, which no filter finds: Status=0 finds those that wait")
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

// What is told around the list of messages: what limits it, and how it stands.

func (s *limits) Badges() []string {
	var badges []string
	if whose := s.whose(); whose != "" {
		badges = append(badges, whose)
	}
	if badge := s.Filter.StatusFilter().Badge; badge != "" {
		badges = append(badges, badge)
	}
	for _, f := range s.Filter.Conditions {
		badges = append(badges, filter.Text(f))
	}
	return badges
}

// newer tells of messages that are not shown. Whether they match conditions the
// service alone knows.
func (s *limits) newer() string {
	switch n := len(s.news); {
	case s.Grid.Following():
		return "   following"
	case n == 0:
		return ""
	case len(s.Filter.Conditions) > 0 || !s.newest():
		return "   there are new ones: " + keymap.KeyFor(keymap.InLists, keymap.GoTop) + " shows those that match"
	default:
		return fmt.Sprintf("   new %s: %s shows them", display.Thousands(n), keymap.KeyFor(keymap.InLists, keymap.GoTop))
	}
}

// whose is whose messages are shown, empty for everybody's.
func (s *limits) whose() string {
	if queue, known := s.Queues.Known[s.Filter.Subscription]; known {
		return subscriptionLabel(queue.EventName, queue.URL)
	}
	return s.Filter.Label
}

func (s *limits) Equivalent() string {
	return "whctl messages list" + s.conditionArguments() + " --order-by " + cmp.Or(s.orderBy(), "-AddedDateTime")
}

// conditionArguments are the conditions of the rows, as whctl takes them.
func (s *limits) conditionArguments() string {
	text := ""
	if s.Filter.Subscriber != "" {
		// by its ends, since the id is a key
		first, last, _ := strings.Cut(ui.ShortID(s.Filter.Subscriber), "..")
		text += " --where " + ui.Quote("SubscriberID^="+first) + " --where " + ui.Quote("SubscriberID$="+last)
	}
	if s.Filter.Subscription != "" {
		text += ` --where "SubscriptionID=` + s.Filter.Subscription + `"`
	}
	if c, limits := s.Filter.StatusFilter().Condition(); limits {
		text += " --where " + ui.Quote(filter.Text(c))
	}
	return text + browse.WhereFlags(s.Typed.Texts(s.Now, ui.MessageKind(), s.Filter.Conditions))
}

func (s *limits) filterText() string {
	var texts []string
	for _, f := range s.Filter.Conditions {
		texts = append(texts, filter.Text(f))
	}
	return strings.Join(texts, browse.ConditionSeparator)
}

// Find is the line of filters.
func (s *limits) Find() *ui.InputLine { return s.filterLine(s.filterText()) }

func (s *limits) filterLine(text string) *ui.InputLine {
	kind := ui.MessageKind()
	l := ui.NewInputLine(s.Host, "filter Message", "/", text)
	l.Help = "such as Status=3  EventName^=debtor; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " filters at the service   " + keymap.KeyFor(keymap.InLine, keymap.Complete) + " completes"
	l.Suggest = func(text string) []ui.Suggestion { return browse.SuggestFields(kind, text) }
	l.Check = func(text string) error {
		_, err := browse.ParseFilters(s.Now, kind, text)
		return err
	}
	l.Accept = func(text string) tea.Cmd {
		s.Filter.Conditions, _ = browse.ParseFilters(s.Now, kind, text) // it was checked just now
		s.Typed = browse.ParseTyped(s.Now, kind, text)
		return s.Reload()
	}
	return l
}

// Exportable is what can be exported of messages, with their bodies.
func (s *limits) Exportable() browse.Exportable {
	kind, _ := record.System().Lookup("Message")
	e := browse.Exportable{
		Name: "Messages", Query: client.Query{Kind: kind, Where: s.Filter.Filters()}, Key: "MessageID", Total: s.Pages.Total(), Marked: s.Grid.MarkedIDs(), All: s.AllMarks,
		Rows: func(map[string]struct{}) ([]client.Row, bool) { return nil, false },
	}
	if by := s.orderBy(); by != "" {
		e.Query.OrderBy = []string{by}
	}
	for _, f := range kind.Fields {
		e.Columns = append(e.Columns, export.Column{Name: f.Name, Type: f.Type})
	}
	for _, row := range s.Pages.Loaded() {
		e.Loaded = append(e.Loaded, row.ID)
	}
	return e
}
