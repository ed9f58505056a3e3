package webhooks

import (
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// What lists of subscribers and subscriptions tell of deliveries: in as many
// columns as there is room for.

// fittedColumn is a column that is only there from a width on.
type fittedColumn struct {
	grid.Column
	from int // cells of the whole list
}

var subscriptionColumns = []fittedColumn{
	{grid.Column{Name: "Event", Min: 14, Flex: true}, 0},
	{grid.Column{Name: "URL", Min: 12, Max: 80, Flex: true, TruncateMiddle: true}, 0},
	{grid.Column{Name: "State", Min: 8}, 0},
	{grid.Column{Name: "OK", Right: true, Min: 5}, 70},
	{grid.Column{Name: "Fail", Right: true, Min: 4}, 0},
	{grid.Column{Name: "Wait", Right: true, Min: 4}, 0},
	{grid.Column{Name: "Order"}, 100},
	{grid.Column{Name: "Headers", Min: 8, Flex: true}, 100},
}

var subscriberColumns = []fittedColumn{
	{grid.Column{Name: "Name", Min: 16, Max: 80, Flex: true}, 0},
	{grid.Column{Name: "SubscriberID", Min: 12}, 56},
	{grid.Column{Name: "State", Min: 8}, 0},
	{grid.Column{Name: "Subs", Right: true, Min: 4}, 0},
	{grid.Column{Name: "Wait", Right: true, Min: 4}, 0},
}

// fitted are the columns of a list for which there is room.
type fitted struct {
	all   []fittedColumn
	width int
	count int
}

// fit gives a list its columns. It is false where they are what they were.
func (f *fitted) fit(g *grid.Grid, width int) bool {
	f.width = width
	var columns []grid.Column
	for _, c := range f.all {
		if width >= c.from {
			columns = append(columns, c.Column)
		}
	}
	if len(columns) == f.count {
		return false
	}
	f.count = len(columns)
	g.SetColumns(columns, 0)
	return true
}

// cells are those of the columns that are there, of one for each column.
func (f *fitted) cells(all ...grid.Cell) []grid.Cell {
	var cells []grid.Cell
	for i, c := range f.all {
		if f.width >= c.from {
			cells = append(cells, all[i])
		}
	}
	return cells
}

// subscriptionCells are what is told of a subscription, in the order of its
// columns.
func subscriptionCells(one wire.Subscription, state grid.Cell, s *ui.Session) []grid.Cell {
	order := ""
	if one.Ordered {
		order = "ordered"
	}
	queue, known := s.Queues.Get(one.RecID)
	failed := figure(queue.Failed+queue.GivenUp, known)
	if queue.Failed+queue.GivenUp > 0 {
		failed.Role = theme.Failure
	}
	return []grid.Cell{
		{Text: one.EventName}, {Text: ui.ShortURL(one.URL)}, state,
		figure(queue.Delivered, known), failed, figure(queue.Pending, known), {Text: order}, {Text: headerNames(one)},
	}
}

// figure is a number that may not be known.
func figure(n int64, known bool) grid.Cell {
	switch {
	case !known:
		return grid.Cell{Text: "-", Role: theme.Dim}
	case n == 0:
		return grid.Cell{Text: "0", Role: theme.Dim}
	}
	return grid.Cell{Text: display.Thousands(n)}
}

// headerNames are the names of the headers of a subscription.
func headerNames(one wire.Subscription) string {
	var names []string
	for _, h := range one.Headers {
		names = append(names, h.Name)
	}
	return strings.Join(names, ", ")
}

// enabledCell says whether something is on, and if not, why.
func enabledCell(on bool, reason string) grid.Cell {
	if on {
		return grid.Cell{Text: "enabled"}
	}
	if reason != "" {
		reason = ": " + reason
	}
	return grid.Cell{Text: "disabled" + reason, Role: theme.Warning}
}

// stateCell is how a subscription stands, in a word: "held" where one message at
// a time is tried, since its endpoint fails.
func stateCell(one wire.Subscription, s *ui.Session) grid.Cell {
	queue, _ := s.Queues.Get(one.RecID)
	switch {
	case !one.IsEnabled:
		return grid.Cell{Text: "disabled", Role: theme.Failure}
	case s.Queues.BreakerOpen(one.RecID):
		return grid.Cell{Text: "held", Role: theme.Failure}
	case !time.Time(queue.FailingSince).IsZero():
		return grid.Cell{Text: "failing", Role: theme.Warning}
	}
	return grid.Cell{Text: "enabled"}
}

// trouble says why messages of a subscription do not go out, empty where they
// do.
func trouble(one wire.Subscription, s *ui.Session) string {
	queue, known := s.Queues.Known[one.RecID]
	since := time.Time(queue.FailingSince)
	switch {
	case !one.IsEnabled && one.DisabledReason != "":
		return "disabled: " + one.DisabledReason
	case !one.IsEnabled:
		return "disabled by somebody: its messages wait"
	case known && !queue.IsEnabled:
		return "the subscriber is disabled: its messages wait"
	case queue.Breaker == wire.BreakerOpen:
		return "held: the endpoint fails" + lastFailure(queue) + "; tried again " + ui.Soon(s.TimeUntil(time.Time(queue.NextProbeDateTime)))
	case !since.IsZero():
		return "failing for " + ui.Age(s.Since(since)) + lastFailure(queue)
	}
	return ""
}

// lastFailure is what came of the attempt that failed last, behind a comma.
func lastFailure(queue wire.Queue) string {
	if queue.LastFailure == nil {
		return ""
	}
	return ", " + failureText(*queue.LastFailure)
}

// failureText is what came of an attempt that failed.
func failureText(f wire.Failed) string {
	if f.HTTPCode == 0 {
		return f.Message
	}
	return strings.TrimSpace(fmt.Sprint(f.HTTPCode, " ", f.Message))
}
