package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

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
	{grid.Column{Name: "URL", Min: 12, Max: 80, Flex: true, Both: true}, 0},
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
func (a *app) subscriptionCells(one wire.Subscription, state grid.Cell) []grid.Cell {
	order := ""
	if one.Ordered {
		order = "ordered"
	}
	lane, known := a.lanes.of(one.RecID)
	failed := a.figure(lane.Failed+lane.GivenUp, known)
	if lane.Failed+lane.GivenUp > 0 {
		failed.Ink = a.theme.Status[3]
	}
	return []grid.Cell{
		{Text: one.EventName}, {Text: ui.ShortURL(one.URL)}, state,
		a.figure(lane.Delivered, known), failed, a.figure(lane.Pending, known), {Text: order}, {Text: headerNames(one)},
	}
}

// figure is a number that may not be known.
func (a *app) figure(n int64, known bool) grid.Cell {
	switch {
	case !known:
		return grid.Cell{Text: "-", Ink: a.theme.Dim}
	case n == 0:
		return grid.Cell{Text: "0", Ink: a.theme.Dim}
	}
	return grid.Cell{Text: theme.Thousands(int(n))}
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
func (a *app) enabledCell(on bool, reason string) grid.Cell {
	if on {
		return grid.Cell{Text: "enabled"}
	}
	if reason != "" {
		reason = ": " + reason
	}
	return grid.Cell{Text: "disabled" + reason, Ink: a.theme.Status[2]}
}

// stateCell is how a subscription stands, in a word: "held" where one message at
// a time is tried, since its endpoint fails.
func (a *app) stateCell(one wire.Subscription) grid.Cell {
	lane, _ := a.lanes.of(one.RecID)
	switch {
	case !one.IsEnabled:
		return grid.Cell{Text: "disabled", Ink: a.theme.Status[3]}
	case a.breaks(one.RecID):
		return grid.Cell{Text: "held", Ink: a.theme.Status[3]}
	case !time.Time(lane.FailingSince).IsZero():
		return grid.Cell{Text: "failing", Ink: a.theme.Status[2]}
	}
	return grid.Cell{Text: "enabled"}
}

// trouble says why messages of a subscription do not go out, empty where they
// do.
func (a *app) trouble(one wire.Subscription) string {
	lane, known := a.lanes.known[one.RecID]
	since := time.Time(lane.FailingSince)
	switch {
	case !one.IsEnabled && one.DisabledReason != "":
		return "disabled: " + one.DisabledReason
	case !one.IsEnabled:
		return "disabled by somebody: its messages wait"
	case known && !lane.IsEnabled:
		return "the subscriber is disabled: its messages wait"
	case lane.Breaker == wire.BreakerOpen:
		return "held: the endpoint fails" + lastFailure(lane) + "; tried again " + soon(a.left(time.Time(lane.NextProbeDateTime)))
	case !since.IsZero():
		return "failing for " + ui.Age(a.since(since)) + lastFailure(lane)
	}
	return ""
}

// lastFailure is what came of the attempt that failed last, behind a comma.
func lastFailure(lane wire.Lane) string {
	if lane.LastFailure == nil {
		return ""
	}
	return ", " + failureText(*lane.LastFailure)
}

// failureText is what came of an attempt that failed.
func failureText(f wire.Failed) string {
	if f.HTTPCode == 0 {
		return f.Message
	}
	return strings.TrimSpace(fmt.Sprint(f.HTTPCode, " ", f.Message))
}

// pendingOf is how many messages of a subscriber wait, false where that is not
// known.
func (l *lanes) pendingOf(subscriber string) (n int64, known bool) {
	for _, lane := range l.known {
		if lane.SubscriberID == subscriber {
			n += lane.Pending
		}
	}
	return n, l.whole
}

// holdsWords reports whether all words of a search are in one of the texts.
func holdsWords(search string, texts ...string) bool {
	text := strings.ToLower(strings.Join(texts, "\n"))
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(search)), func(word string) bool { return !strings.Contains(text, word) })
}
