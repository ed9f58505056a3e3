package webhooks

import (
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// responsiveColumn is a column that is hidden in a narrow list.
type responsiveColumn struct {
	grid.Column
	minWidth int // minimum width of the list in cells
}

var subscriptionColumns = []responsiveColumn{
	{Column: grid.Column{Name: "Event", Min: 14, Max: 120, Flex: true, TruncateMiddle: true}},
	{Column: grid.Column{Name: "URL", Min: 12, Max: 120, Flex: true, TruncateMiddle: true}},
	{Column: grid.Column{Name: "State", Min: 8}},
	{Column: grid.Column{Name: "Delivered", Title: "OK", Right: true}, minWidth: 70},
	{Column: grid.Column{Name: "Failures", Title: "Failed", Right: true}},
	{Column: grid.Column{Name: "Queued", Right: true}},
	{Column: grid.Column{Name: "Order"}, minWidth: 100},
	{Column: grid.Column{Name: "Headers", Min: 8, Flex: true}, minWidth: 100},
}

var subscriberColumns = []responsiveColumn{
	{Column: grid.Column{Name: "Name", Min: 16, Max: 80, Flex: true}},
	{Column: grid.Column{Name: "State", Min: 8}},
	{Column: grid.Column{Name: "Subs", Right: true, Min: 4}},
	{Column: grid.Column{Name: "Queued", Right: true}},
}

// responsiveColumns selects the columns of a list that fit its width.
type responsiveColumns struct {
	all   []responsiveColumn
	width int // width of the list in cells
	count int // number of shown columns
}

// fit sets the columns of a list of a width in cells. It reports whether they have changed.
func (f *responsiveColumns) fit(g *grid.Grid, width int) bool {
	f.width = width
	var columns []grid.Column
	for _, c := range f.all {
		if width >= c.minWidth {
			columns = append(columns, c.Column)
		}
	}
	if len(columns) == f.count {
		return false
	}
	f.count = len(columns)
	g.Columns.Set(columns, 0)
	return true
}

// cells returns the cells of the shown columns; all has one cell per column.
func (f *responsiveColumns) cells(all ...grid.Cell) []grid.Cell {
	var cells []grid.Cell
	for i, c := range f.all {
		if f.width >= c.minWidth {
			cells = append(cells, all[i])
		}
	}
	return cells
}

// subscriptionCells returns the cells of a subscription in the order of
// subscriptionColumns.
func subscriptionCells(subscription wire.Subscription, state grid.Cell, s *ui.Session) []grid.Cell {
	order := ""
	if subscription.Ordered {
		order = "ordered"
	} else if subscription.OrderedByKey {
		order = ByKey
	}
	queue, ok := s.Queues.Get(subscription.RecID)
	failures := queue.Failed + queue.GivenUp
	failed := numberCell(failures, ok)
	if failures > 0 {
		failed.Role = theme.Failure
	}
	return []grid.Cell{
		{Text: subscription.EventName},
		{Text: ui.ShortURL(subscription.URL)},
		state,
		numberCell(queue.Delivered, ok),
		failed,
		numberCell(queue.Pending, ok),
		{Text: order},
		{Text: headerNames(subscription)},
	}
}

// numberCell returns the cell of a number, that of null if it is unknown.
func numberCell(n int64, known bool) grid.Cell {
	if !known {
		return grid.Cell{Null: true}
	}
	return grid.Cell{Text: display.Thousands(n), Zero: n == 0}
}

// headerNames returns the names of a subscription's headers, separated by commas.
func headerNames(subscription wire.Subscription) string {
	names := record.Texts(subscription.Headers, func(h wire.Header) string { return h.Name })
	return strings.Join(names, ", ")
}

// enabledCell returns the enabled state, with the reason if disabled.
func enabledCell(on bool, reason string) grid.Cell {
	if on {
		return grid.Cell{Text: "enabled"}
	}
	if reason != "" {
		reason = ": " + reason
	}
	return grid.Cell{Text: "disabled" + reason, Role: theme.Warning}
}

// stateCell returns the state of a subscription. While its circuit breaker is open, only
// probe messages are sent.
func stateCell(subscription wire.Subscription, s *ui.Session) grid.Cell {
	queue, _ := s.Queues.Get(subscription.RecID)
	switch {
	case !subscription.IsEnabled:
		return grid.Cell{Text: "disabled", Role: theme.Failure}
	case subscription.DisabledReason != "": // such as the rights of its owner
		return grid.Cell{Text: "not sending", Role: theme.Warning}
	case s.Queues.BreakerOpen(subscription.RecID):
		return grid.Cell{Text: "paused", Role: theme.Failure}
	case !time.Time(queue.WaitUntilDateTime).IsZero():
		return grid.Cell{Text: "waiting (Retry-After)", Role: theme.Warning}
	case !time.Time(queue.FailingSince).IsZero():
		return grid.Cell{Text: "failing", Role: theme.Warning}
	case !time.Time(queue.RateUntilDateTime).IsZero():
		return grid.Cell{Text: "rate limit"}
	}
	return grid.Cell{Text: "enabled"}
}

// subscriberStates are the states of an endpoint by how bad they are, the worst last.
var subscriberStates = [...]grid.Cell{
	{Text: "enabled"},
	{Text: "waiting", Role: theme.Warning},
	{Text: "failing", Role: theme.Warning},
	{Text: "stopped", Role: theme.Warning},
	{Text: "paused", Role: theme.Failure},
}

// subscriberCell returns the state of a subscriber: the worst one of its endpoints if it is enabled.
func subscriberCell(subscriber wire.Subscriber, s *ui.Session) grid.Cell {
	if !subscriber.IsEnabled {
		return enabledCell(false, "")
	}
	worst := 0
	for _, queue := range s.Queues.Known {
		if queue.SubscriberID == subscriber.RecID {
			worst = max(worst, severity(queue))
		}
	}
	return subscriberStates[worst]
}

// severity returns the index of the state of an endpoint in subscriberStates.
func severity(q wire.Queue) int {
	switch {
	case q.IsEnabled && q.Breaker == wire.BreakerOpen:
		return 4
	case !q.IsEnabled && q.Pending > 0:
		return 3
	case q.IsEnabled && !time.Time(q.FailingSince).IsZero():
		return 2
	case !time.Time(q.WaitUntilDateTime).IsZero():
		return 1
	}
	return 0
}

// problemText returns the reason why messages of a subscription are not delivered,
// empty if there is no problem.
func problemText(subscription wire.Subscription, s *ui.Session) string {
	queue, ok := s.Queues.Known[subscription.RecID]
	since := time.Time(queue.FailingSince)
	waitUntil := time.Time(queue.WaitUntilDateTime)
	switch {
	case !subscription.IsEnabled && subscription.DisabledReason != "":
		return "disabled: " + subscription.DisabledReason
	case !subscription.IsEnabled:
		return "disabled manually: messages stay queued"
	case subscription.DisabledReason != "":
		return "not sending: " + subscription.DisabledReason
	case ok && !queue.IsEnabled:
		return "the subscriber is disabled: messages stay queued"
	case queue.Breaker == wire.BreakerOpen:
		return ui.PausedText(lastFailure(queue), s.TimeUntil(time.Time(queue.NextProbeDateTime)))
	case !waitUntil.IsZero():
		return "waiting (Retry-After)" + afterComma(lastFailure(queue)) + "; " +
			ui.Next("next attempt", s.TimeUntil(waitUntil))
	case !since.IsZero():
		return "failing for " + ui.Age(s.Since(since)) + afterComma(lastFailure(queue))
	case !time.Time(queue.RateUntilDateTime).IsZero():
		return ui.RateLimitText(s.TimeUntil(time.Time(queue.RateUntilDateTime)))
	}
	return ""
}

// afterComma returns text after a comma, unless it is empty.
func afterComma(text string) string {
	if text == "" {
		return ""
	}
	return ", " + text
}

// lastFailure returns the result of the last failed attempt, empty if there is none.
func lastFailure(queue wire.Queue) string {
	if queue.LastFailure == nil {
		return ""
	}
	return failureText(*queue.LastFailure)
}

// failureText returns the result of a failed attempt.
func failureText(f wire.Failed) string {
	if f.HTTPCode == 0 {
		return f.Message
	}
	return strings.TrimSpace(fmt.Sprint(f.HTTPCode, " ", f.Message))
}
