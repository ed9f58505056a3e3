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
func narrow(width int) bool { return width < 76 }

// countedStatuses are the statuses of messages in the order of their numbers on the screen.
var countedStatuses = []int{ui.StatusNotSent, ui.StatusRetrying, ui.StatusFailed, ui.StatusDelivered}

// statusCounts draws the number of stored messages by status.
func (h *Screen) statusCounts() string {
	spans := []theme.Span{{Text: " Messages ", Role: theme.Breadcrumb}}
	for _, status := range countedStatuses {
		word, role := h.Session.Theme.StatusText(status)
		if h.counts[status] == 0 {
			role = theme.Dim
		}
		if narrow(h.Width) {
			word, _, _ = strings.Cut(word, " ")
		}
		spans = append(spans,
			theme.Span{Text: "  "},
			theme.Span{Text: word + " ", Role: role},
			theme.Span{Text: display.Thousands(h.counts[status])},
			theme.Span{Text: h.nextRetry(status), Role: theme.Dim})
	}
	return h.Session.Theme.Compose(h.Width, spans, nil)
}

// nextRetry returns the time until the next retry, for the status RETRYING only.
func (h *Screen) nextRetry(status int) string {
	if status != ui.StatusRetrying || narrow(h.Width) {
		return ""
	}
	var first time.Time
	for _, queue := range h.Stats.Queues {
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
	return " " + ui.Until(h.Session.TimeUntil(first))
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
const stateMinWidth = 100

// groupColumns returns the widths that fit. The endpoint has at most a third of the screen.
func (h *Screen) groupColumns() groupColumns {
	c := groupColumns{result: 8, endpoint: len("endpoint"), when: len("newest")}
	if h.Session.Times != ui.Relative {
		c.when = len("01-02 15:04:05")
	}
	for _, g := range h.Groups {
		c.result = max(c.result, len(g.Result))
		c.endpoint = max(c.endpoint, len(h.endpointName(g)))
		c.state = max(c.state, len(h.state(g)))
	}
	c.result = min(c.result, h.Width/8)
	c.endpoint = min(c.endpoint, h.Width/3)
	if h.Width < stateMinWidth {
		c.endpoint = min(c.endpoint, h.Width*3/10)
		c.state = 0
	}
	return c
}

// line aligns the texts of a group to the columns.
func (c groupColumns) line(t *theme.Theme, endpoint, when, state, answer string, role theme.Role) []theme.Span {
	spans := []theme.Span{
		{Text: "  " + t.Fit(t.TruncateMiddle(endpoint, c.endpoint), c.endpoint, false) + "  ", Role: role},
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
	title := " Undelivered"
	undelivered := h.counts[ui.StatusRetrying] + h.counts[ui.StatusFailed]
	if undelivered > len(h.Failures) {
		title = fmt.Sprintf(" Newest %d undelivered", len(h.Failures))
	}
	if len(h.Groups) == 0 {
		return []string{
			t.Paint(theme.Breadcrumb, t.Fit(title, h.Width, false)),
			t.Paint(theme.Dim, t.Fit("   none", h.Width, false)),
		}
	}
	c := h.groupColumns()
	lines := []string{h.groupHead(c, title)}
	for i, g := range h.shownGroups() {
		lines = append(lines, h.groupLine(c, g, i == h.SelectedIndex))
	}
	return lines
}

// groupHead draws the title of the groups with the labels of the columns.
func (h *Screen) groupHead(c groupColumns, title string) string {
	t := h.Session.Theme
	endpoint := "endpoint"
	if n := len(h.shownGroups()); n < len(h.Groups) {
		endpoint = fmt.Sprintf("endpoint, %d of %d", n, len(h.Groups))
	}
	labels := c.line(t, endpoint, "newest", "state", "answer", theme.Label)
	for i := range labels {
		labels[i].Role = theme.Label
	}
	left := []theme.Span{{Text: t.Fit(title, countCells+2+c.result, false), Role: theme.Breadcrumb}}
	return t.Compose(h.Width, append(left, labels...), nil)
}

// groupLine draws a group of failures.
func (h *Screen) groupLine(c groupColumns, g Group, selected bool) string {
	t := h.Session.Theme
	pointer, role := t.RowPrefix(selected)
	resultRole := theme.Failure
	if g.queued() {
		resultRole = theme.Pending
	}
	spans := []theme.Span{
		{Text: " " + pointer, Role: role},
		{Text: t.Fit(display.Thousands(g.Count), countCells-len(" > "), true) + "  ", Role: role},
		{Text: t.Fit(g.Result, c.result, false), Role: resultRole},
	}
	newest := h.Session.TimeText(g.At)
	spans = append(spans, c.line(t, h.endpointName(g), newest, h.state(g), g.Answer, role)...)
	return t.Compose(h.Width, spans, nil)
}

// countCells is the width of the number of messages and the pointer before it.
const countCells = 9

// endpointName returns the URL of a group, with the event if several queues have the same
// URL.
func (h *Screen) endpointName(g Group) string {
	name := ui.ShortURL(g.URL)
	for _, group := range h.Groups {
		if group.SubscriptionID != g.SubscriptionID && ui.ShortURL(group.URL) == name {
			return h.Session.Queues.Known[g.SubscriptionID].EventName + " " + name
		}
	}
	return name
}

// state returns the state of the endpoint of a group: why it receives nothing, when it is
// tried again, or that it works again.
func (h *Screen) state(g Group) string {
	queue := h.Session.Queues.Known[g.SubscriptionID]
	next := time.Time(queue.NextAttemptDateTime)
	switch {
	case queue.SubscriptionID == "":
		return "-"
	case !queue.IsEnabled:
		return "disabled"
	case queue.Breaker == wire.BreakerOpen:
		return "breaker open"
	case !time.Time(queue.WaitUntilDateTime).IsZero():
		return "waiting (Retry-After)"
	case time.Time(queue.FailingSince).IsZero() && queue.Delivered > 0:
		return "works again"
	case !next.IsZero():
		return ui.Until(h.Session.TimeUntil(next))
	}
	return "failing"
}

// recent draws the most recent failures that fit below other lines.
func (h *Screen) recent() []string {
	t := h.Session.Theme
	shown := h.shownFailures()
	if len(shown) == 0 {
		return nil
	}
	lines := []string{
		theme.Spaces(h.Width),
		t.Paint(theme.Breadcrumb, t.Fit(" Recent failures", h.Width, false)),
	}
	c := h.recentColumns(shown)
	before := len(h.fixedEntries())
	for i, m := range shown {
		lines = append(lines, h.recentLine(c, m, before+i == h.SelectedIndex))
	}
	return lines
}

// recentColumns are the widths of the columns of recent failures in cells; the URL has the rest
// of the line.
type recentColumns struct {
	when   int
	result int
	event  int
}

// recentColumns returns the widths that fit.
func (h *Screen) recentColumns(list []wire.Message) recentColumns {
	c := recentColumns{when: 4}
	if h.Session.Times != ui.Relative {
		c.when = len("01-02 15:04:05")
	}
	for _, m := range list {
		c.event = max(c.event, min(len(m.EventName), h.Width/4))
		c.result = max(c.result, min(len(ui.LastResult(m)), h.Width/8))
	}
	return c
}

const (
	statusCells     = 12 // width of the status of a recent failure
	subscriberCells = 12 // width of its subscriber
)

// recentLine draws a recent failure.
func (h *Screen) recentLine(c recentColumns, m wire.Message, selected bool) string {
	t := h.Session.Theme
	pointer, pointerRole := t.RowPrefix(selected)
	status, statusRole := t.StatusText(m.Status)
	subscriber := ""
	if !narrow(h.Width) {
		name := h.Session.Queues.Known[m.SubscriptionID].SubscriberName
		subscriber = t.Fit(name, subscriberCells, false) + "  "
	}
	const margins = 10 // the pointer, three gaps, and a cell at the end
	room := h.Width - c.when - statusCells - c.result - c.event - len(subscriber) - margins
	return t.Compose(h.Width, []theme.Span{
		{Text: " " + pointer, Role: pointerRole},
		{Text: t.Fit(h.Session.TimeText(time.Time(m.LastSavedDateTime)), c.when, true) + "  ", Role: theme.Dim},
		{Text: t.Fit(status, statusCells, false) + t.Fit(ui.LastResult(m), c.result, false), Role: statusRole},
		{Text: "  " + t.Fit(m.EventName, c.event, false) + "  "},
		{Text: subscriber},
		{Text: t.TruncateMiddle(ui.ShortURL(m.URL), room)},
	}, nil)
}
