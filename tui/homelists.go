package tui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
)

// What stands below the chart of the first screen: how many messages there are,
// and what can be opened.

// beside puts two columns of lines next to each other.
func (h *home) beside(left, right []string) []string {
	width := h.leftWidth()
	var lines []string
	for i := range max(len(left), len(right)) {
		l, r := strings.Repeat(" ", width), strings.Repeat(" ", h.width-width)
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
func (h *home) leftWidth() int {
	if h.narrow() {
		return 22
	}
	return 28
}

// narrow reports whether there is no room for all words.
func (h *home) narrow() bool { return h.width < 76 }

// queue is how many messages have each status.
func (h *home) queue() []string {
	t := h.app.theme
	lines := []string{t.crumb.Paint(t.Fit(" Messages", h.leftWidth(), false))}
	for _, status := range []int{0, 2, 3, 1} {
		word, ink := t.statusText(status)
		lines = append(lines, h.app.compose(h.leftWidth(), []span{
			{"  ", ""}, {t.Fit(word, 7, false), ink}, {t.Fit(grouped(fmt.Sprint(h.counts[status])), 9, true), ""}, {"  " + h.comes(status), t.dim},
		}, nil))
	}
	return lines
}

// comes is when the next of the retries is due.
func (h *home) comes(status int) string {
	if status != 2 || h.narrow() {
		return ""
	}
	var first time.Time
	for _, lane := range h.stats.Lanes {
		at := time.Time(lane.NextAttemptDateTime)
		if lane.RetryPending > 0 && !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if first.IsZero() {
		return ""
	}
	return until(h.app.left(first))
}

// endpointColumns are how wide what is told of endpoints is.
type endpointColumns struct{ failed, waits, answer int }

// endpointColumns are as wide as there is room for.
func (h *home) endpointColumns() endpointColumns {
	if h.narrow() {
		return endpointColumns{6, 6, 4}
	}
	return endpointColumns{6, 7, 9}
}

// line puts three texts below each other.
func (f endpointColumns) line(t *theme, failed, waits, answer string) string {
	return t.Fit(failed, f.failed, true) + t.Fit(waits, f.waits, true) + "  " + t.Fit(answer, f.answer, false) + " "
}

// endpoints are where deliveries fail, or have failed within the last hour.
func (h *home) endpoints() []string {
	t := h.app.theme
	width, f := h.width-h.leftWidth(), h.endpointColumns()
	lines := []string{h.app.compose(width, []span{{"Problem endpoints", t.crumb}}, []span{{f.line(t, "failed", "waits", "last"), t.label}})}
	lanes := h.troubled()
	if len(lanes) == 0 {
		lines = append(lines, t.dim.Paint(t.Fit("none", width, false)))
	}
	for i, lane := range lanes {
		pointer, ink := h.pointer(i)
		answer, state := h.lastAnswer(lane)
		right := []span{{f.line(t, grouped(fmt.Sprint(lane.Failed+lane.GivenUp)), grouped(fmt.Sprint(lane.Pending)), answer), state}}
		room := width - f.failed - f.waits - f.answer - 6 // the pointer, and blanks
		if width >= roomForShares {
			right = append(h.share(lane), right...)
			room -= shareCells
		}
		lines = append(lines, h.app.compose(width, []span{{pointer + t.Middle(endpointName(lane, lanes), room), ink}}, right))
	}
	return append(lines, h.viewLines(width, len(lanes))...)
}

// endpointName is where a lane goes, with what goes there where several do.
func endpointName(lane wire.Lane, all []wire.Lane) string {
	name := shortURL(lane.URL)
	for _, other := range all {
		if other.SubscriptionID != lane.SubscriptionID && shortURL(other.URL) == name {
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

// share is a bar of what an endpoint took and what failed there.
func (h *home) share(lane wire.Lane) []span {
	t := h.app.theme
	failed := lane.Failed + lane.GivenUp
	all := lane.Delivered + failed
	if all == 0 {
		return []span{{strings.Repeat(" ", shareCells), ""}}
	}
	bad := int(failed * shareCells / all)
	if failed > 0 {
		bad = max(bad, 1) // one of a thousand is seen
	}
	glyphs := []rune(t.bars)
	block := string(glyphs[len(glyphs)-1])
	return []span{{strings.Repeat(block, shareCells-bad), t.status[1]}, {strings.Repeat(cmp.Or(t.failedBar, block), bad), t.status[3]}}
}

// lastAnswer is what an endpoint said when it failed last, or that it works again.
func (h *home) lastAnswer(lane wire.Lane) (string, grid.Ink) {
	t := h.app.theme
	failure := lane.LastFailure
	switch {
	case !lane.IsEnabled:
		return "off", t.status[3]
	case lane.Breaker != wire.BreakerOpen && time.Time(lane.FailingSince).IsZero() && lane.Delivered > 0:
		return t.good + " ok", t.status[1]
	case failure == nil:
		return "-", t.status[3]
	case failure.HTTPCode != 0:
		return fmt.Sprint(failure.HTTPCode), t.status[3]
	}
	return failure.Message, t.status[3]
}

// recent are the messages that failed last.
func (h *home) recent() []string {
	t := h.app.theme
	lines := []string{strings.Repeat(" ", h.width), t.crumb.Paint(t.Fit(" Recent failures", h.width, false))}
	if len(h.failures) == 0 {
		return append(lines, t.dim.Paint(t.Fit("  none", h.width, false)))
	}
	before, when := len(h.troubled())+len(h.viewsListed()), 5
	if h.app.times != relative {
		when = 15
	}
	for i, m := range h.failuresListed() {
		word, ink := t.statusText(m.Status)
		pointer, chosen := h.pointer(before + i)
		lines = append(lines, h.app.compose(h.width, []span{
			{pointer, chosen}, {t.Fit(h.app.moment(time.Time(m.LastSavedDateTime)), when, false), t.dim}, {t.Fit(word, 8, false), ink},
			{t.Fit(m.EventName, 22, false) + " ", ""}, {t.Fit(h.app.lanes.known[m.SubscriptionID].SubscriberName, 12, false) + " ", ""}, {t.Middle(shortURL(m.URL), h.width-when-49-len(answerOf(m))), ""},
		}, []span{{" " + answerOf(m) + " ", ink}}))
	}
	return lines
}
