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

// narrow reports whether a width needs shorter texts.
func narrow(width int) bool { return width < 76 }

// statusCounts draws the number of stored messages by status.
func (h *Screen) statusCounts() string {
	spans := []theme.Span{{Text: " Messages ", Role: theme.Breadcrumb}}
	for _, status := range []int{0, 2, 3, 1} {
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
	if status != 2 || narrow(h.Width) {
		return ""
	}
	var first time.Time
	for _, queue := range h.Stats.Queues {
		at := time.Time(queue.NextAttemptDateTime)
		isFirst := first.IsZero() || at.Before(first)
		if queue.RetryPending > 0 && !at.IsZero() && isFirst {
			first = at
		}
	}
	if first.IsZero() {
		return ""
	}
	return " " + ui.Until(h.Session.TimeUntil(first))
}

// groupColumns are the widths of the columns of failure groups in cells; the answer has the
// rest.
type groupColumns struct{ result, endpoint, when, state int }

// groupColumns returns the widths that fit. The endpoint has at most a third of the screen.
func (h *Screen) groupColumns() (c groupColumns) {
	c = groupColumns{result: 8, endpoint: len("endpoint"), when: len("newest")}
	if h.Session.Times != ui.Relative {
		c.when = len("01-02 15:04:05")
	}
	for _, g := range h.Groups {
		c.result, c.endpoint = max(c.result, len(g.Result)), max(c.endpoint, len(h.endpointName(g)))
		c.state = max(c.state, len(h.state(g)))
	}
	c.result, c.endpoint = min(c.result, h.Width/8), min(c.endpoint, h.Width/3)
	if h.Width < 100 {
		c.endpoint, c.state = min(c.endpoint, h.Width*3/10), 0
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
	t, c := h.Session.Theme, h.groupColumns()
	title := " Undelivered"
	if total := h.counts[2] + h.counts[3]; total > len(h.Failures) {
		title = fmt.Sprintf(" Newest %d undelivered", len(h.Failures))
	}
	if len(h.Groups) == 0 {
		return []string{
			t.Paint(theme.Breadcrumb, t.Fit(title, h.Width, false)),
			t.Paint(theme.Dim, t.Fit("   none", h.Width, false)),
		}
	}
	endpoint := "endpoint"
	if n := len(h.shownGroups()); n < len(h.Groups) {
		endpoint = fmt.Sprintf("endpoint, %d of %d", n, len(h.Groups))
	}
	labels := c.line(t, endpoint, "newest", "state", "answer", theme.Label)
	for i := range labels {
		labels[i].Role = theme.Label
	}
	head := []theme.Span{{Text: t.Fit(title, countCells+2+c.result, false), Role: theme.Breadcrumb}}
	lines := []string{t.Compose(h.Width, append(head, labels...), nil)}
	for i, g := range h.shownGroups() {
		pointer, role := t.RowPrefix(i == h.SelectedIndex)
		result := theme.Failure
		if g.queued() {
			result = theme.Pending
		}
		left := []theme.Span{
			{Text: " " + pointer, Role: role},
			{Text: t.Fit(display.Thousands(g.Count), countCells-len(" > "), true) + "  ", Role: role},
			{Text: t.Fit(g.Result, c.result, false), Role: result},
		}
		lines = append(lines,
			t.Compose(h.Width,
				append(left, c.line(t, h.endpointName(g), h.Session.TimeText(g.At), h.state(g),
					g.Answer, role)...), nil))
	}
	return lines
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
	switch at := time.Time(queue.NextAttemptDateTime); {
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
	case !at.IsZero():
		return ui.Until(h.Session.TimeUntil(at))
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
	lines := []string{theme.Spaces(h.Width), t.Paint(theme.Breadcrumb, t.Fit(" Recent failures", h.Width, false))}
	before, when := len(h.Entries())-len(shown), 5
	if h.Session.Times != ui.Relative {
		when = 15
	}
	event, result := 0, 0
	for _, m := range shown {
		event, result = max(event, min(len(m.EventName), h.Width/4)), max(result, min(len(ui.LastResult(m)), h.Width/8))
	}
	for i, m := range shown {
		word, role := t.StatusText(m.Status)
		pointer, chosen := t.RowPrefix(before+i == h.SelectedIndex)
		subscriber := t.Fit(h.Session.Queues.Known[m.SubscriptionID].SubscriberName, 12, false) + "  "
		if narrow(h.Width) {
			subscriber = ""
		}
		lines = append(lines, t.Compose(h.Width, []theme.Span{
			{Text: " " + pointer, Role: chosen},
			{Text: t.Fit(h.Session.TimeText(time.Time(m.LastSavedDateTime)), when-1, true) + "  ", Role: theme.Dim},
			{Text: t.Fit(word, 12, false) + t.Fit(ui.LastResult(m), result, false), Role: role},
			{Text: "  " + t.Fit(m.EventName, event, false) + "  "},
			{Text: subscriber},
			{Text: t.TruncateMiddle(ui.ShortURL(m.URL), h.Width-when-event-result-21-len(subscriber))},
		}, nil))
	}
	return lines
}
