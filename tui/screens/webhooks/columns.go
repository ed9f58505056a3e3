package webhooks

import (
	"cmp"
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
	minWidth int    // minimum width of the list in cells
	meaning  string // for the help; empty if the title is clear
}

var subscriptionColumns = []responsiveColumn{
	{Column: grid.Column{Name: "Event", Min: 14, Max: 120, Flex: true, TruncateMiddle: true}},
	{Column: grid.Column{Name: "URL", Min: 12, Max: 120, Flex: true, TruncateMiddle: true}},
	{Column: grid.Column{Name: "State", Min: 8}},
	{
		Column:   grid.Column{Name: "Delivered", Title: "OK", Right: true},
		minWidth: 70,
		meaning:  "messages delivered in the last hour",
	},
	{
		Column:  grid.Column{Name: "Failures", Title: "Failed", Right: true},
		meaning: "failed attempts of the last hour, retried or not",
	},
	{
		Column:  grid.Column{Name: "Queued", Right: true},
		meaning: "messages that wait for an attempt",
	},
	{Column: grid.Column{Name: "Order"}, minWidth: 100},
	{Column: grid.Column{Name: "Headers", Min: 8, Flex: true}, minWidth: 100},
}

var subscriberColumns = []responsiveColumn{
	{Column: grid.Column{Name: "Name", Min: 16, Max: 80, Flex: true}},
	{
		Column:  grid.Column{Name: "State", Min: 8},
		meaning: "the worst state of its endpoints",
	},
	{
		Column:  grid.Column{Name: "Subs", Right: true, Min: 4},
		meaning: "number of subscriptions",
	},
	{
		Column:  grid.Column{Name: "Queued", Right: true},
		meaning: "messages that wait for an attempt",
	},
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

// explanations returns the meaning of the columns, and of the signs in their cells.
func (f *responsiveColumns) explanations(t *theme.Theme) []ui.Explanation {
	var list []ui.Explanation
	for _, c := range f.all {
		if c.meaning != "" {
			list = append(list, ui.Explanation{Title: cmp.Or(c.Title, c.Name), Meaning: c.meaning})
		}
	}
	return append(list,
		ui.Explanation{Title: t.Zero, Meaning: "zero"},
		ui.Explanation{Title: t.Null, Meaning: "not known"})
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

// endpointState is whether the messages of a subscription are sent, or why they are not. The states are
// ordered by how bad they are for a subscriber, the worst last.
type endpointState int

const (
	stateWorks endpointState = iota
	stateRateLimited
	stateWaits // the endpoint has requested that by Retry-After
	stateFails
	stateNotSending         // although it is enabled, such as for the rights of its owner
	stateSubscriberDisabled // although the subscription is enabled
	stateDisabled
	statePaused // the circuit breaker is open: only probe messages are sent
)

// stateCells has the states in a list of subscriptions.
var stateCells = [...]grid.Cell{
	stateWorks:              {Text: "enabled"},
	stateRateLimited:        {Text: "rate limit"},
	stateWaits:              {Text: "waiting (Retry-After)", Role: theme.Warning},
	stateFails:              {Text: "failing", Role: theme.Warning},
	stateNotSending:         {Text: "not sending", Role: theme.Warning},
	stateSubscriberDisabled: {Text: "enabled", Role: theme.Warning}, // as the subscription itself is
	stateDisabled:           {Text: "disabled", Role: theme.Failure},
	statePaused:             {Text: "paused", Role: theme.Failure},
}

// worstStateCells has the states in the list of subscribers, as the worst one of their endpoints.
var worstStateCells = [...]grid.Cell{
	stateWorks:              {Text: "enabled"},
	stateRateLimited:        {Text: "enabled"},
	stateWaits:              {Text: "waiting", Role: theme.Warning},
	stateFails:              {Text: "failing", Role: theme.Warning},
	stateNotSending:         {Text: "stopped", Role: theme.Warning},
	stateSubscriberDisabled: {Text: "stopped", Role: theme.Warning},
	stateDisabled:           {Text: "stopped", Role: theme.Warning},
	statePaused:             {Text: "paused", Role: theme.Failure},
}

// stateOf returns the state of a subscription.
func stateOf(subscription wire.Subscription, s *ui.Session) endpointState {
	if !subscription.IsEnabled {
		return stateDisabled
	}
	if subscription.DisabledReason != "" {
		return stateNotSending
	}
	queue, isKnown := s.Queues.Known[subscription.RecID]
	if !isKnown {
		return stateWorks
	}
	if !queue.IsEnabled {
		return stateSubscriberDisabled
	}
	return queueState(queue)
}

// queueState returns the state of the subscription of a queue. A disabled one sends nothing, even if its
// endpoint has requested a wait before.
func queueState(q wire.Queue) endpointState {
	switch {
	case !q.IsEnabled:
		return stateDisabled
	case q.Breaker == wire.BreakerOpen:
		return statePaused
	case !time.Time(q.WaitUntilDateTime).IsZero():
		return stateWaits
	case !time.Time(q.FailingSince).IsZero():
		return stateFails
	case !time.Time(q.RateUntilDateTime).IsZero():
		return stateRateLimited
	}
	return stateWorks
}

// stateCell returns the state of a subscription.
func stateCell(subscription wire.Subscription, s *ui.Session) grid.Cell {
	return stateCells[stateOf(subscription, s)]
}

// subscriberCell returns the state of a subscriber: the worst one of its endpoints if it is enabled.
// Subscriptions that are disabled count only while messages wait.
func subscriberCell(subscriber wire.Subscriber, s *ui.Session) grid.Cell {
	if !subscriber.IsEnabled {
		return enabledCell(false, "")
	}
	worst := stateWorks
	for _, queue := range s.Queues.Known {
		state := queueState(queue)
		isIdle := state == stateDisabled && queue.Pending == 0
		if queue.SubscriberID == subscriber.RecID && !isIdle {
			worst = max(worst, state)
		}
	}
	return worstStateCells[worst]
}

// problemText returns the reason why messages of a subscription are not delivered,
// empty if there is no problem.
func problemText(subscription wire.Subscription, s *ui.Session) string {
	queue := s.Queues.Known[subscription.RecID]
	reason := subscription.DisabledReason
	switch stateOf(subscription, s) {
	case stateDisabled:
		if reason == "" {
			return "disabled manually: messages stay queued"
		}
		return "disabled: " + reason
	case stateNotSending:
		return "not sending: " + reason
	case stateSubscriberDisabled:
		return "the subscriber is disabled: messages stay queued"
	case statePaused:
		return ui.PausedText(lastFailure(queue), s.TimeUntil(time.Time(queue.NextProbeDateTime)))
	case stateWaits:
		return "waiting (Retry-After)" + afterComma(lastFailure(queue)) + "; " +
			ui.Next("next attempt", s.TimeUntil(time.Time(queue.WaitUntilDateTime)))
	case stateFails:
		failingFor := ui.Age(s.Since(time.Time(queue.FailingSince)))
		return "failing for " + failingFor + afterComma(lastFailure(queue))
	case stateRateLimited:
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
	return ui.FailureText(*queue.LastFailure)
}
