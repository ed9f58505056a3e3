package messages

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// query is the filter and the order of a list.
type query struct {
	Filter ui.MessageFilter
	Order  grid.Sort              // by a column; newest first if empty
	Typed  browse.TypedConditions // the conditions as typed
	saved  string                 // name of the view; empty for none

	narrows bool // the list was opened with undelivered messages

	unfiltered int64 // number of messages without the filter if none matches; 0 if it is not known
}

// title returns the title of the list, with the name of the view.
func (q *query) title() string {
	if q.saved != "" {
		return "Messages (" + q.saved + ")"
	}
	return "Messages"
}

// cycleStatus switches from all messages to failed ones, the newest failure first, then to
// undelivered ones, then back to all. A list that was opened with undelivered ones goes the other
// way round: its failures come first, and delivered messages last.
func (q *query) cycleStatus() {
	f := &q.Filter
	isUndelivered, isProblems := f.Undelivered, f.Problems && !f.Undelivered
	isAll := !isUndelivered && !isProblems
	f.Problems = isAll
	f.Undelivered = isProblems
	if q.narrows {
		f.Problems = isUndelivered
		f.Undelivered = isAll
	}
	q.Order = grid.Sort{}
}

// newest reports whether the newest messages, or in a list of problems the newest failures,
// come first, so that the list can follow them.
func (q *query) newest() bool {
	return q.Order.Column == "" || q.Order == grid.Sort{Column: AgeColumn, Descending: true}
}

// orderBy returns the order as a parameter of the service and whctl, empty for the
// default. Problems are listed by their last attempt.
func (q *query) orderBy() string {
	if q.Order.Column == "" && q.Filter.Problems {
		return "-LastSavedDateTime"
	}
	c, _ := findColumn(q.Order.Column)
	if c.field == "" || !q.Order.Descending {
		return c.field
	}
	return "-" + c.field
}

// messageOrder parses a saved order. It returns no order if the column no longer
// exists.
func messageOrder(text string) grid.Sort {
	order := browse.ParseOrder(text)
	if c, _ := findColumn(order.Column); c.field == "" {
		return grid.Sort{}
	}
	return order
}

// members returns the request parameters of filter and order.
func (q *query) members() url.Values {
	members := q.Filter.Members()
	if order := q.orderBy(); order != "" {
		members.Set("OrderBy", order)
	}
	return members
}

// filterBy filters by the value of a message in a column. It returns the reason if there is no
// such filter, else an empty text.
func (q *query) filterBy(column string, m wire.Message, subscriber string) string {
	switch column {
	case "To":
		q.Filter.Subscription = m.SubscriptionID
		q.Filter.Label = subscriptionLabel(m.EventName, m.URL)
	case "Subscriber":
		q.Filter.Subscriber = m.SubscriberID
		q.Filter.Subscription = ""
		q.Filter.Label = subscriber
	case "Status":
		q.addCondition(equal("Status", strconv.Itoa(m.Status)))
	case "Event":
		q.addCondition(equal("EventName", m.EventName))
	case "Att.":
		q.addCondition(equal("Retries", strconv.Itoa(m.Retries)))
	case "HTTP":
		return q.filterByResult(m)
	default:
		return "each message has a different " + strings.ToLower(column) + "; " +
			keymap.KeyFor(keymap.InMessages, keymap.FilterColumn) + " filters by a range"
	}
	return ""
}

// filterByResult filters by the status code of a message, or by its error if there
// was no response. It returns the reason if there is neither.
func (q *query) filterByResult(m wire.Message) string {
	if m.LastMessageResponseHTTPCode != nil {
		q.addCondition(equal("LastMessageResponseHTTPCode", strconv.Itoa(*m.LastMessageResponseHTTPCode)))
		return ""
	}
	if m.LastMessageResponseMessage != "" {
		q.addCondition(equal("LastMessageResponseMessage", m.LastMessageResponseMessage))
		return ""
	}
	return "the message has no result yet; filter by Status=0 instead"
}

// equal returns the condition that a field has a value.
func equal(field, value string) client.Filter {
	return client.Filter{Field: field, Operator: record.Equal, Values: []string{value}}
}

// addCondition adds a condition. It replaces one on the same field and operator.
func (q *query) addCondition(condition client.Filter) {
	kept := slices.DeleteFunc(slices.Clone(q.Filter.Conditions), func(f client.Filter) bool {
		return f.Member() == condition.Member()
	})
	q.Filter.Conditions = append(kept, condition)
}

// badges returns the filter as texts for the header.
func (q *query) badges(queues *ui.Queues) []string {
	var badges []string
	if scope := q.scope(queues); scope != "" {
		badges = append(badges, scope)
	}
	if badge := q.Filter.StatusFilter().Badge; badge != "" {
		badges = append(badges, badge)
	}
	return append(badges, q.conditionTexts()...)
}

// emptyText returns why there are no messages.
func (q *query) emptyText(queues *ui.Queues) string {
	badges := q.badges(queues)
	if len(badges) == 0 {
		return "No message yet."
	}
	key := keymap.KeyFor(keymap.InMessages, keymap.ClearFilters)
	return ui.NoMatch("message", badges, key+" clears the filter", q.unfiltered)
}

// scope returns the label of the subscription or subscriber, empty for all.
func (q *query) scope(queues *ui.Queues) string {
	if queue, ok := queues.Known[q.Filter.Subscription]; ok {
		return subscriptionLabel(queue.EventName, queue.URL)
	}
	return q.Filter.Label
}

// subscriptionLabel names a subscription by event and URL.
func subscriptionLabel(event, address string) string { return event + " to " + ui.ShortURL(address) }

// blockedCount returns the number of messages without an attempt because their
// subscription is disabled or its circuit breaker is open. It returns 0 for a list
// with conditions, where only the service can count.
func (q *query) blockedCount(queues *ui.Queues) int64 {
	if !q.Filter.Problems || q.Filter.Undelivered || len(q.Filter.Conditions) > 0 {
		return 0
	}
	var n int64
	for _, queue := range queues.Known {
		isBlocked := !queue.IsEnabled || queue.Breaker == wire.BreakerOpen
		message := wire.MessageChange{SubscriberID: queue.SubscriberID, SubscriptionID: queue.SubscriptionID}
		if isBlocked && q.Filter.Matches(message) {
			n += queue.NotSent
		}
	}
	return n
}

// blockedText returns the status text for blockedCount.
func (q *query) blockedText(queues *ui.Queues) string {
	n := q.blockedCount(queues)
	if n == 0 {
		return ""
	}
	return "   " + display.Thousands(n) + " more queued: " +
		keymap.KeyFor(keymap.InMessages, keymap.ProblemsOnly) + " shows them"
}

// command returns the whctl command for the same messages.
func (q *query) command() string {
	return "whctl messages list" + q.conditionArguments() + " --order-by " + cmp.Or(q.orderBy(), "-AddedDateTime")
}

// conditionArguments returns the filter as arguments of whctl.
func (q *query) conditionArguments() string {
	text := ""
	if q.Filter.Subscriber != "" {
		// by its first and last characters, since the ID is a key
		first, last, _ := strings.Cut(ui.ShortID(q.Filter.Subscriber), "..")
		text += " --where " + ui.Quote("SubscriberID^="+first) + " --where " + ui.Quote("SubscriberID$="+last)
	}
	if q.Filter.Subscription != "" {
		text += ` --where "SubscriptionID=` + q.Filter.Subscription + `"`
	}
	if condition, ok := q.Filter.StatusFilter().Condition(); ok {
		text += " --where " + ui.Quote(filter.Text(condition))
	}
	return text + browse.WhereFlags(q.Typed.Texts(q.Filter.Conditions))
}

// filterText returns the conditions as a line.
func (q *query) filterText() string {
	return strings.Join(q.conditionTexts(), browse.ConditionSeparator)
}

// conditionTexts returns the conditions as texts.
func (q *query) conditionTexts() []string {
	return record.Texts(q.Filter.Conditions, filter.Reader{Kind: ui.MessageKind()}.Text)
}
