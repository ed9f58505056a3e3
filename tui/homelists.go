package tui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
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
	return 34
}

// narrow reports whether there is no room for all words.
func (h *home) narrow() bool { return h.width < 76 }

// queue is how many messages have each status.
func (h *home) queue() []string {
	t := h.app.theme
	lines := []string{t.crumb.Paint(t.Fit(" Messages", h.leftWidth(), false))}
	for _, status := range []int{0, 2, 3, 1} {
		word, ink := t.statusText(status)
		lines = append(lines, h.app.compose(h.leftWidth(), []span{{"  ", ""}, {t.Fit(word, 9, false), ink}, {t.Fit(grouped(fmt.Sprint(h.counts[status])), 10, true), ""}}, nil))
	}
	return lines
}

// endpoints are where deliveries fail.
func (h *home) endpoints() []string {
	t := h.app.theme
	width, answer := h.width-h.leftWidth(), 9
	if h.narrow() {
		answer = 4
	}
	lines := []string{h.app.compose(width, []span{{"Problem endpoints", t.crumb}}, []span{{"failed  " + t.Fit("last", answer, false) + " ", t.label}})}
	lanes := h.troubled()
	if len(lanes) == 0 {
		lines = append(lines, t.dim.Paint(t.Fit("none", width, false)))
	}
	for i, lane := range lanes {
		pointer, ink := h.pointer(i)
		right := []span{{fmt.Sprintf("%6d  %s ", lane.Failed+lane.GivenUp, t.Fit(lastAnswer(lane), answer, false)), t.status[3]}}
		if width >= roomForShares {
			right = append(h.share(lane), right...)
		}
		lines = append(lines, h.app.compose(width, []span{{pointer + shortURL(lane.URL), ink}}, right))
	}
	return append(lines, h.viewLines(width, len(lanes))...)
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

// lastAnswer is what an endpoint said when it failed last.
func lastAnswer(lane wire.Lane) string {
	switch failure := lane.LastFailure; {
	case failure == nil:
		return "-"
	case failure.HTTPCode != 0:
		return fmt.Sprint(failure.HTTPCode)
	default:
		return failure.Message
	}
}

// recent are the messages that failed last.
func (h *home) recent() []string {
	t := h.app.theme
	lines := []string{strings.Repeat(" ", h.width), t.crumb.Paint(t.Fit(" Recent failures", h.width, false))}
	if len(h.failures) == 0 {
		return append(lines, t.dim.Paint(t.Fit("  none", h.width, false)))
	}
	before := len(h.troubled()) + len(h.viewsListed())
	for i, m := range h.failuresListed() {
		word, ink := t.statusText(m.Status)
		pointer, chosen := h.pointer(before + i)
		lines = append(lines, h.app.compose(h.width, []span{
			{pointer, chosen}, {t.Fit(h.app.moment(time.Time(m.LastSavedDateTime)), 15, false), t.dim}, {t.Fit(word, 8, false), ink}, {t.Fit(m.EventName, 26, false), ""}, {shortURL(m.URL), ""},
		}, []span{{" " + answerOf(m) + " ", ink}}))
	}
	return lines
}
