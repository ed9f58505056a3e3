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

// What stands below the chart of the first screen: how many messages there are,
// and what can be opened.

// beside puts two columns of lines next to each other.
func (h *Screen) beside(left, right []string) []string {
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

// leftWidth is what the counts of messages take.
func (h *Screen) leftWidth() int {
	if narrow(h.Width) {
		return 22
	}
	return 28
}

// narrow reports whether there is no room for all words.
func narrow(width int) bool { return width < 76 }

// queue is how many messages have each status.
func (h *Screen) queue() []string {
	t := h.Theme
	lines := []string{t.Paint(theme.Breadcrumb, t.Fit(" Messages", h.leftWidth(), false))}
	for _, status := range []int{0, 2, 3, 1} {
		word, role := t.StatusText(status)
		lines = append(lines, h.Theme.Compose(h.leftWidth(), []theme.Span{
			{Text: "  "}, {Text: t.Fit(word, 7, false), Role: role}, {Text: t.Fit(display.Thousands(h.counts[status]), 9, true)}, {Text: "  " + h.comes(status), Role: theme.Dim},
		}, nil))
	}
	return lines
}

// comes is when the next of the retries is due.
func (h *Screen) comes(status int) string {
	if status != 2 || narrow(h.Width) {
		return ""
	}
	var first time.Time
	for _, lane := range h.Stats.Lanes {
		at := time.Time(lane.NextAttemptDateTime)
		if lane.RetryPending > 0 && !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if first.IsZero() {
		return ""
	}
	return ui.Until(h.TimeUntil(first))
}

// endpointColumns are how wide what is told of endpoints is.
type endpointColumns struct{ failed, waits, answer int }

// endpointColumns are as wide as there is room for.
func (h *Screen) endpointColumns() endpointColumns {
	if narrow(h.Width) {
		return endpointColumns{6, 6, 4}
	}
	return endpointColumns{6, 7, 9}
}

// line puts three texts below each other.
func (f endpointColumns) line(t *theme.Theme, failed, waits, answer string) string {
	return t.Fit(failed, f.failed, true) + t.Fit(waits, f.waits, true) + "  " + t.Fit(answer, f.answer, false) + " "
}

// endpoints are where deliveries fail, or have failed within the last hour.
func (h *Screen) endpoints() []string {
	t := h.Theme
	width, f := h.Width-h.leftWidth(), h.endpointColumns()
	lines := []string{h.Theme.Compose(width, []theme.Span{{Text: "Problem endpoints", Role: theme.Breadcrumb}}, []theme.Span{{Text: f.line(t, "failed", "waits", "last"), Role: theme.Label}})}
	lanes := h.troubled()
	if len(lanes) == 0 {
		lines = append(lines, t.Paint(theme.Dim, t.Fit("none", width, false)))
	}
	for i, lane := range lanes {
		pointer, role := h.Theme.RowPrefix(i == h.At)
		answer, state := h.lastAnswer(lane)
		right := []theme.Span{{Text: f.line(t, display.Thousands(lane.Failed+lane.GivenUp), display.Thousands(lane.Pending), answer), Role: state}}
		room := width - f.failed - f.waits - f.answer - 6 // the pointer, and blanks
		if width >= roomForShares {
			right = append(h.Share(lane), right...)
			room -= shareCells
		}
		lines = append(lines, h.Theme.Compose(width, []theme.Span{{Text: pointer + t.TruncateMiddle(endpointName(lane, lanes), room), Role: role}}, right))
	}
	return append(lines, h.viewLines(width, len(lanes))...)
}

// endpointName is where a lane goes, with what goes there where several do.
func endpointName(lane wire.Queue, all []wire.Queue) string {
	name := ui.ShortURL(lane.URL)
	for _, other := range all {
		if other.SubscriptionID != lane.SubscriptionID && ui.ShortURL(other.URL) == name {
			return lane.EventName + " " + name
		}
	}
	return name
}

// How wide the bars beside the endpoints are, and from which width on there is
// room for them.
const (
	shareCells    = 12
	roomForShares = 66
)

// Share is a bar of what an endpoint took and what failed there.
func (h *Screen) Share(lane wire.Queue) []theme.Span {
	t := h.Theme
	failed := lane.Failed + lane.GivenUp
	all := lane.Delivered + failed
	if all == 0 {
		return []theme.Span{{Text: strings.Repeat(" ", shareCells)}}
	}
	bad := int(failed * shareCells / all)
	if failed > 0 {
		bad = max(bad, 1) // one of a thousand is seen
	}
	glyphs := []rune(t.Bars)
	block := string(glyphs[len(glyphs)-1])
	return []theme.Span{{Text: strings.Repeat(block, shareCells-bad), Role: theme.Success}, {Text: strings.Repeat(cmp.Or(t.FailedBar, block), bad), Role: theme.Failure}}
}

// lastAnswer is what an endpoint said when it failed last, or that it works again.
func (h *Screen) lastAnswer(lane wire.Queue) (string, theme.Role) {
	t := h.Theme
	failure := lane.LastFailure
	switch {
	case !lane.IsEnabled:
		return "off", theme.Failure
	case lane.Breaker != wire.BreakerOpen && time.Time(lane.FailingSince).IsZero() && lane.Delivered > 0:
		return t.OK + " ok", theme.Success
	case failure == nil:
		return "-", theme.Failure
	case failure.HTTPCode != 0:
		return fmt.Sprint(failure.HTTPCode), theme.Failure
	}
	return failure.Message, theme.Failure
}

// recent are the messages that failed last.
func (h *Screen) recent() []string {
	t := h.Theme
	lines := []string{strings.Repeat(" ", h.Width), t.Paint(theme.Breadcrumb, t.Fit(" Recent failures", h.Width, false))}
	if len(h.Failures) == 0 {
		return append(lines, t.Paint(theme.Dim, t.Fit("  none", h.Width, false)))
	}
	before, when := len(h.troubled())+len(h.viewsListed()), 5
	if h.Times != ui.Relative {
		when = 15
	}
	for i, m := range h.failuresListed() {
		word, role := t.StatusText(m.Status)
		pointer, chosen := h.Theme.RowPrefix(before+i == h.At)
		lines = append(lines, h.Theme.Compose(h.Width, []theme.Span{
			{Text: pointer, Role: chosen}, {Text: t.Fit(h.TimeText(time.Time(m.LastSavedDateTime)), when, false), Role: theme.Dim}, {Text: t.Fit(word, 8, false), Role: role},
			{Text: t.Fit(m.EventName, 22, false) + " "}, {Text: t.Fit(h.Queues.Known[m.SubscriptionID].SubscriberName, 12, false) + " "}, {Text: t.TruncateMiddle(ui.ShortURL(m.URL), h.Width-when-49-len(ui.LastResult(m)))},
		}, []theme.Span{{Text: " " + ui.LastResult(m) + " ", Role: role}}))
	}
	return lines
}
