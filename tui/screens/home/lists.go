package home

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// sideBySide joins two columns of lines.
func (h *Screen) sideBySide(left, right []string) []string {
	width := h.leftWidth()
	var lines []string
	for i := range max(len(left), len(right)) {
		l, r := strings.Repeat(" ", width), strings.Repeat(" ", h.Width-width)
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		lines = append(lines, l+r)
	}
	return lines
}

// leftWidth returns the width of the message counts.
func (h *Screen) leftWidth() int {
	if narrow(h.Width) {
		return 22
	}
	return 30
}

// narrow reports whether a width needs shorter texts.
func narrow(width int) bool { return width < 76 }

// statusCounts draws the number of messages by status.
func (h *Screen) statusCounts() []string {
	t := h.Theme
	lines := []string{t.Paint(theme.Breadcrumb, t.Fit(" Messages", h.leftWidth(), false))}
	for _, status := range []int{0, 2, 3, 1} {
		word, role := t.StatusText(status)
		lines = append(lines, h.Theme.Compose(h.leftWidth(), []theme.Span{
			{Text: "  "}, {Text: t.Fit(word, 11, false), Role: role}, {Text: t.Fit(display.Thousands(h.counts[status]), 9, true)}, {Text: "  " + h.nextRetry(status), Role: theme.Dim},
		}, nil))
	}
	return lines
}

// nextRetry returns the time until the next retry, for the status RETRYING only.
func (h *Screen) nextRetry(status int) string {
	if status != 2 || narrow(h.Width) {
		return ""
	}
	var first time.Time
	for _, queue := range h.Stats.Queues {
		at := time.Time(queue.NextAttemptDateTime)
		if queue.RetryPending > 0 && !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if first.IsZero() {
		return ""
	}
	return ui.Until(h.TimeUntil(first))
}

// endpointColumns are the widths of the endpoint columns in cells.
type endpointColumns struct{ failed, queued, result int }

// endpointColumns returns the widths that fit.
func (h *Screen) endpointColumns() endpointColumns {
	if narrow(h.Width) {
		return endpointColumns{8, 7, 6}
	}
	return endpointColumns{8, 8, 9}
}

// line aligns three texts to the columns.
func (f endpointColumns) line(t *theme.Theme, failed, queued, result string) string {
	return t.Fit(failed, f.failed, true) + t.Fit(queued, f.queued, true) + "  " + t.Fit(result, f.result, false) + " "
}

// endpoints draws the endpoints with failures in the last hour.
func (h *Screen) endpoints() []string {
	t := h.Theme
	width, f := h.Width-h.leftWidth(), h.endpointColumns()
	lines := []string{h.Theme.Compose(width, []theme.Span{{Text: "Problem endpoints", Role: theme.Breadcrumb}}, []theme.Span{{Text: f.line(t, "failures", "queued", "result"), Role: theme.Label}})}
	queues := h.problemQueues()
	if len(queues) == 0 {
		lines = append(lines, t.Paint(theme.Dim, t.Fit("none", width, false)))
	}
	for i, queue := range queues {
		pointer, role := h.Theme.RowPrefix(i == h.SelectedIndex)
		result, state := h.lastResult(queue)
		right := []theme.Span{{Text: f.line(t, display.Thousands(queue.Failed+queue.GivenUp), display.Thousands(queue.Pending), result), Role: state}}
		room := width - f.failed - f.queued - f.result - 6 // pointer and spaces
		if width >= shareMinWidth {
			right = append(h.Share(queue), right...)
			room -= shareCells
		}
		lines = append(lines, h.Theme.Compose(width, []theme.Span{{Text: pointer + t.TruncateMiddle(endpointName(queue, queues), room), Role: role}}, right))
	}
	return append(lines, h.viewLines(width, len(queues))...)
}

// endpointName returns the URL of a queue, with the event if several queues have
// the same URL.
func endpointName(queue wire.Queue, all []wire.Queue) string {
	name := ui.ShortURL(queue.URL)
	for _, other := range all {
		if other.SubscriptionID != queue.SubscriptionID && ui.ShortURL(other.URL) == name {
			return queue.EventName + " " + name
		}
	}
	return name
}

// Width of the bars next to the endpoints, and the minimum width that shows them.
const (
	shareCells    = 12
	shareMinWidth = 66
)

// Share returns a bar of delivered and failed attempts of an endpoint.
func (h *Screen) Share(queue wire.Queue) []theme.Span {
	t := h.Theme
	failed := queue.Failed + queue.GivenUp
	all := queue.Delivered + failed
	if all == 0 {
		return []theme.Span{{Text: strings.Repeat(" ", shareCells)}}
	}
	bad := int(failed * shareCells / all)
	if failed > 0 {
		bad = max(bad, 1) // a small share stays visible
	}
	glyphs := []rune(t.Bars)
	block := string(glyphs[len(glyphs)-1])
	return []theme.Span{{Text: strings.Repeat(block, shareCells-bad), Role: theme.Success}, {Text: strings.Repeat(cmp.Or(t.FailedBar, block), bad), Role: theme.Failure}}
}

// lastResult returns the last failure of an endpoint, or ok if it works again.
func (h *Screen) lastResult(queue wire.Queue) (string, theme.Role) {
	t := h.Theme
	failure := queue.LastFailure
	switch {
	case !queue.IsEnabled:
		return "off", theme.Failure
	case queue.Breaker != wire.BreakerOpen && time.Time(queue.FailingSince).IsZero() && queue.Delivered > 0:
		return t.OK + " ok", theme.Success
	case failure == nil:
		return "-", theme.Failure
	case failure.HTTPCode != 0:
		return fmt.Sprint(failure.HTTPCode), theme.Failure
	}
	return failure.Message, theme.Failure
}

// recent draws the most recent failures.
func (h *Screen) recent() []string {
	t := h.Theme
	lines := []string{strings.Repeat(" ", h.Width), t.Paint(theme.Breadcrumb, t.Fit(" Recent failures", h.Width, false))}
	if len(h.Failures) == 0 {
		return append(lines, t.Paint(theme.Dim, t.Fit("  none", h.Width, false)))
	}
	before, when := len(h.problemQueues())+len(h.visibleViews()), 5
	if h.Times != ui.Relative {
		when = 15
	}
	for i, m := range h.shownFailures() {
		word, role := t.StatusText(m.Status)
		pointer, chosen := h.Theme.RowPrefix(before+i == h.SelectedIndex)
		lines = append(lines, h.Theme.Compose(h.Width, []theme.Span{
			{Text: pointer, Role: chosen}, {Text: t.Fit(h.TimeText(time.Time(m.LastSavedDateTime)), when, false), Role: theme.Dim}, {Text: t.Fit(word, 11, false), Role: role},
			{Text: t.Fit(m.EventName, 22, false) + " "}, {Text: t.Fit(h.Queues.Known[m.SubscriptionID].SubscriberName, 12, false) + " "}, {Text: t.TruncateMiddle(ui.ShortURL(m.URL), h.Width-when-52-len(ui.LastResult(m)))},
		}, []theme.Span{{Text: " " + ui.LastResult(m) + " ", Role: role}}))
	}
	return lines
}
