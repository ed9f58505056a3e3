package home

import (
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// narrow reports whether a width in cells needs shorter texts.
func narrow(width int) bool { return width < 74 }

// countedStatuses are the statuses of messages in the order of their numbers on the screen.
var countedStatuses = []int{ui.StatusNotSent, ui.StatusRetrying, ui.StatusFailed, ui.StatusDelivered}

// statusCounts draws the number of stored messages by status.
func (h *Screen) statusCounts() string {
	spans := []theme.Span{}
	for _, status := range countedStatuses {
		word, role := h.Session.Theme.StatusText(status)
		if h.counts[status] == 0 {
			role = theme.Dim
		}
		if narrow(h.Width) {
			word, _, _ = strings.Cut(word, " ")
		}
		next := ""
		if status == ui.StatusRetrying && !narrow(h.Width) {
			next = nextRetry(h.Stats.Queues, h.Session)
		}
		spans = append(spans,
			theme.Span{Text: "  "},
			theme.Span{Text: word + " ", Role: role},
			theme.Span{Text: display.Thousands(h.counts[status])},
			theme.Span{Text: next, Role: theme.Dim})
	}
	return h.Session.Theme.Compose(h.Width, spans, nil)
}

// nextRetry returns the time until the next retry of all queues, empty if none is scheduled.
func nextRetry(queues []wire.Queue, s *ui.Session) string {
	var first time.Time
	for _, queue := range queues {
		next := time.Time(queue.NextAttemptDateTime)
		if queue.RetryPending == 0 || next.IsZero() {
			continue
		}
		if first.IsZero() || next.Before(first) {
			first = next
		}
	}
	if first.IsZero() {
		return ""
	}
	return " " + ui.Until(s.TimeUntil(first))
}

// groupTable draws groups of failures.
type groupTable struct {
	session *ui.Session
	groups  []Group // all, of which the first ones are shown
	width   int     // of the screen, in cells
}

// groupColumns are the widths of the columns of failure groups in cells; the answer has the
// rest of the line.
type groupColumns struct {
	result   int
	endpoint int
	when     int // time of the newest failure
	state    int // 0 if it is not shown
}

// stateMinWidth is the minimum width of a screen that shows the state of endpoints, in cells.
const stateMinWidth = 98

// columns returns the widths that fit. The endpoint has at most a third of the screen.
func (gt groupTable) columns() groupColumns {
	c := groupColumns{result: 8, endpoint: len("endpoint"), when: len("newest")}
	if gt.session.Times != ui.Relative {
		c.when = len("01-02 15:04:05")
	}
	for _, g := range gt.groups {
		c.result = max(c.result, len(g.Result))
		c.endpoint = max(c.endpoint, len(gt.endpointName(g)))
		c.state = max(c.state, len(gt.state(g)))
	}
	c.result = min(c.result, gt.width/8)
	c.endpoint = min(c.endpoint, gt.width/3)
	if gt.width < stateMinWidth {
		c.endpoint = min(c.endpoint, gt.width*3/10)
		c.state = 0
	}
	return c
}

// line aligns the texts of a group to the columns.
func (c groupColumns) line(t *theme.Theme, endpoint, when, state, answer string) []theme.Span {
	spans := []theme.Span{
		{Text: "  " + t.Fit(t.TruncateMiddle(endpoint, c.endpoint), c.endpoint, false) + "  "},
		{Text: t.Fit(when, c.when, true) + "  ", Role: theme.Dim},
	}
	if c.state > 0 {
		spans = append(spans, theme.Span{Text: t.Fit(state, c.state, false) + "  ", Role: theme.Label})
	}
	return append(spans, theme.Span{Text: answer, Role: theme.Dim})
}

// groupLines draws the messages that were tried and not delivered, by endpoint and answer.
func (h *Screen) groupLines() []string {
	t := h.Session.Theme
	if len(h.Groups) == 0 {
		return []string{t.Paint(theme.Dim, t.Fit("  none", h.Width, false))}
	}
	table := groupTable{session: h.Session, groups: h.Groups, width: h.Width}
	return table.lines(h.shownGroups(), h.SelectedIndex)
}

// groupTitle returns the title of the groups.
func (h *Screen) groupTitle() string {
	undelivered := h.counts[ui.StatusRetrying] + h.counts[ui.StatusFailed]
	if undelivered > len(h.Failures) {
		return fmt.Sprintf("Newest %d undelivered", len(h.Failures))
	}
	return "Undelivered"
}

// lines draws the groups that are shown, below the titles of their columns. selected is the index
// of the selected group.
func (gt groupTable) lines(shown []Group, selected int) []string {
	c := gt.columns()
	lines := []string{gt.head(c, len(shown))}
	for i, g := range shown {
		lines = append(lines, gt.line(c, g, i == selected))
	}
	return lines
}

// head draws the titles of the columns. shown is the number of groups below it.
func (gt groupTable) head(c groupColumns, shown int) string {
	t := gt.session.Theme
	endpoint := "endpoint"
	if shown < len(gt.groups) {
		endpoint = fmt.Sprintf("endpoint, %d of %d", shown, len(gt.groups))
	}
	labels := c.line(t, endpoint, "newest", "state", "answer")
	for i := range labels {
		labels[i].Role = theme.Label
	}
	indent := []theme.Span{{Text: theme.Spaces(countCells + 2 + c.result)}}
	return t.Compose(gt.width, append(indent, labels...), nil)
}

// line draws a group.
func (gt groupTable) line(c groupColumns, g Group, selected bool) string {
	t := gt.session.Theme
	resultRole := theme.Failure
	if g.queued() {
		resultRole = theme.Pending
	}
	spans := []theme.Span{
		{Text: t.Fit(display.Thousands(g.Count), countCells-len("> "), true) + "  "},
		{Text: t.Fit(g.Result, c.result, false), Role: resultRole},
	}
	newest := gt.session.TimeText(g.At)
	spans = append(spans, c.line(t, gt.endpointName(g), newest, gt.state(g), g.Answer)...)
	return t.Row(gt.width, selected, spans, nil)
}

// countCells is the width of the number of messages and the pointer before it.
const countCells = 9

// endpointName returns the URL of a group, with the event if several queues have the same
// URL.
func (gt groupTable) endpointName(g Group) string {
	name := ui.ShortURL(g.URL)
	for _, group := range gt.groups {
		if group.SubscriptionID != g.SubscriptionID && ui.ShortURL(group.URL) == name {
			return gt.session.Queues.Known[g.SubscriptionID].EventName + " " + name
		}
	}
	return name
}

// state returns the state of the endpoint of a group: why it receives nothing, when it is
// tried again, or that it works again.
func (gt groupTable) state(g Group) string {
	queue := gt.session.Queues.Known[g.SubscriptionID]
	next := time.Time(queue.NextAttemptDateTime)
	switch {
	case queue.SubscriptionID == "":
		return "-"
	case !queue.IsEnabled:
		return "disabled"
	case queue.Breaker == wire.BreakerOpen:
		return "paused, next try " + ui.Soon(gt.session.TimeUntil(time.Time(queue.NextProbeDateTime)))
	case !time.Time(queue.WaitUntilDateTime).IsZero():
		return "waiting (Retry-After)"
	case time.Time(queue.FailingSince).IsZero() && queue.Delivered > 0:
		return "works again"
	case !next.IsZero():
		return ui.Until(gt.session.TimeUntil(next))
	}
	return "failing"
}

// recent draws the most recent failures that fit below other lines.
func (h *Screen) recent() []string {
	shown := h.shownFailures()
	if len(shown) == 0 {
		return nil
	}
	var lines []string
	table := recentTable{session: h.Session, width: h.Width}
	c := table.columns(shown)
	before := len(h.fixedEntries())
	for i, m := range shown {
		lines = append(lines, table.line(c, m, before+i == h.SelectedIndex))
	}
	return lines
}

// recentTable draws recent failures.
type recentTable struct {
	session *ui.Session
	width   int // of the screen, in cells
}

// recentColumns are the widths of the columns of recent failures in cells; the URL has the rest
// of the line.
type recentColumns struct {
	when   int
	result int
	event  int
}

// columns returns the widths that fit.
func (rt recentTable) columns(list []wire.Message) recentColumns {
	c := recentColumns{when: 4}
	if rt.session.Times != ui.Relative {
		c.when = len("01-02 15:04:05")
	}
	for _, m := range list {
		c.event = max(c.event, min(len(m.EventName), rt.width/4))
		c.result = max(c.result, min(len(ui.LastResult(m)), rt.width/8))
	}
	return c
}

const (
	statusCells     = 12 // width of the status of a recent failure
	subscriberCells = 12 // width of its subscriber
)

// line draws a recent failure.
func (rt recentTable) line(c recentColumns, m wire.Message, selected bool) string {
	t := rt.session.Theme
	status, statusRole := t.StatusText(m.Status)
	subscriber := ""
	if !narrow(rt.width) {
		name := rt.session.Queues.Known[m.SubscriptionID].SubscriberName
		subscriber = t.Fit(name, subscriberCells, false) + "  "
	}
	const margins = 9 // the pointer, three gaps, and a cell at the end
	room := rt.width - c.when - statusCells - c.result - c.event - len(subscriber) - margins
	return t.Row(rt.width, selected, []theme.Span{
		{Text: t.Fit(rt.session.TimeText(time.Time(m.LastSavedDateTime)), c.when, true) + "  ", Role: theme.Dim},
		{Text: t.Fit(status, statusCells, false) + t.Fit(ui.LastResult(m), c.result, false), Role: statusRole},
		{Text: "  " + t.Fit(m.EventName, c.event, false) + "  "},
		{Text: subscriber},
		{Text: t.TruncateMiddle(ui.ShortURL(m.URL), room)},
	}, nil)
}
