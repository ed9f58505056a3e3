package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// home answers whether anything is wrong, without a key.
type home struct {
	part
	stats    *wire.Stats
	counts   [4]int
	failures []wire.Message
	busy     bool
	due      bool // something has changed since they were asked for
	asked    time.Time
	wrong    error
	at       int               // the selected endpoint, or view behind them
	views    map[string]string // how many rows they have, by name
	counted  time.Time
}

func newHome(a *app) screen { return &home{part: newPart(a)} }

func (h *home) title() string   { return "Home" }
func (h *home) scopes() []scope { return []scope{inHome, inLists} }
func (h *home) waiting() bool   { return h.busy }
func (h *home) twin() string {
	return `whctl messages list --where "Status in 2,3" --order-by -LastSavedDateTime`
}

func (h *home) shown() tea.Cmd {
	if h.stats != nil && h.app.now.Sub(h.asked) < pollEvery {
		return nil
	}
	return h.poll()
}

func (h *home) poll() tea.Cmd {
	if h.busy {
		return nil
	}
	h.busy, h.due, h.asked = true, false, h.app.now
	return tea.Batch(h.app.stats(h.context, h), h.count())
}

// figuresLast is how long the figures of the last hour hold where nothing
// changes.
const figuresLast = time.Minute

// follow asks again for the figures, at most every two seconds.
func (h *home) follow(m liveMsg) tea.Cmd {
	h.due = h.due || len(m.changes) > 0
	return h.tick()
}

// tick asks for them where it was too early for that before.
func (h *home) tick() tea.Cmd {
	old := h.app.now.Sub(h.asked)
	if h.app.link.paused || h.app.front() != screen(h) || h.busy || old < pollEvery || !h.due && old < figuresLast {
		return nil
	}
	return h.poll()
}

func (h *home) update(m tea.Msg) tea.Cmd {
	if views, ok := m.(viewsMsg); ok {
		h.views = views.counts
		return nil
	}
	got, ok := m.(statsMsg)
	if !ok {
		return nil
	}
	h.busy = false
	if h.wrong = got.err; got.err == nil {
		h.stats, h.counts, h.failures = got.stats, got.counts, got.failures
		h.app.lanes.take(got.stats, h.app.now)
	}
	return nil
}

func (h *home) do(b binding) tea.Cmd {
	lanes := h.troubled()
	switch b.action {
	case goUp:
		h.at--
	case goDown:
		h.at++
	case problemsOnly:
		return h.app.pushIn(messagesTab, newMessages(h.app, messageFilter{problems: true}))
	case open:
		if h.at < len(lanes) {
			lane := lanes[h.at]
			return h.app.pushIn(messagesTab, newMessages(h.app, messageFilter{subscription: lane.SubscriptionID, label: lane.EventName, problems: true}))
		}
		if i := h.at - len(lanes); i < len(h.app.keeper.Views) {
			return h.app.openView(h.app.keeper.Views[i])
		}
	}
	h.at = max(0, min(h.at, len(lanes)+min(len(h.app.keeper.Views), viewsShown)-1))
	return nil
}

// troubled are the subscriptions with failures that are listed, the worst first.
func (h *home) troubled() []wire.Lane {
	if h.stats == nil {
		return nil
	}
	lanes := slices.DeleteFunc(slices.Clone(h.stats.Lanes), func(l wire.Lane) bool {
		return l.Failed == 0 && l.GivenUp == 0 && l.LastFailure == nil && l.Breaker != wire.BreakerOpen && l.IsEnabled
	})
	return lanes[:min(len(lanes), endpointsShown)]
}

func (h *home) status() string {
	if h.stats == nil {
		return ""
	}
	return fmt.Sprintf("%s, %d disabled   %d in flight   %s", plural(h.stats.Subscriptions, "subscription", "subscriptions"), h.stats.Disabled,
		h.stats.InHand.InFlight, plural(h.stats.Daemons, "daemon", "daemons"))
}

func (h *home) view() string {
	var lines []string
	switch {
	case h.stats != nil:
		lines = h.dashboard()
	case h.wrong != nil && client.Is(h.wrong, client.Unauthorized):
		lines = append(h.plain("  This user may not see deliveries, which takes the role admin.", "", "  2 shows records.", ""), h.viewLines(h.width, 0)...)
	case h.wrong != nil:
		lines = h.plain("  "+describe(h.wrong), "", "  R tries again, 2 shows records.")
	default:
		lines = h.plain("  Deliveries " + strings.Repeat(h.app.theme.Loading, 3))
	}
	for len(lines) < h.height {
		lines = append(lines, strings.Repeat(" ", h.width))
	}
	return strings.Join(lines[:h.height], "\n")
}

func (h *home) plain(texts ...string) []string {
	var lines []string
	for _, text := range texts {
		lines = append(lines, h.app.theme.Fit(text, h.width, false))
	}
	return lines
}

// dashboard is what is shown once the figures are here.
func (h *home) dashboard() []string {
	t, s := h.app.theme, h.stats
	rate := "-"
	if s.SuccessRate != nil {
		rate = fmt.Sprintf("%.1f%%", *s.SuccessRate*100)
	}
	lines := []string{h.app.compose(h.width, []span{{" Deliveries, last 60 min", t.crumb}}, []span{
		{"delivered ", t.label}, {grouped(fmt.Sprint(s.Totals.Delivered)), t.status[1]}, {"   failed ", t.label}, {grouped(fmt.Sprint(s.Totals.Failed + s.Totals.GivenUp)), t.status[3]},
		{"   success ", t.label}, {rate + " ", ""}})}
	lines = append(lines, h.chart(max(1, min(6, h.height-14)))...)
	lines = append(lines, strings.Repeat(" ", h.width))
	lines = append(lines, h.beside(h.queue(), h.endpoints())...)
	return append(lines, h.recent()...)
}

// chartLabel is how many cells stand before the bars.
const chartLabel = 8

func lastOf(values []int64, n int) []int64 { return values[max(0, len(values)-n):] }

// chart draws a bar a minute, what failed of it in its own ink below.
func (h *home) chart(rows int) []string {
	t := h.app.theme
	glyphs := []rune(t.bars)
	step := int64(len(glyphs) - 1)
	minutes := min(len(h.stats.Minutes.Delivered), h.width-chartLabel-1) // the last ones, where there is no room for all
	delivered, failed := lastOf(h.stats.Minutes.Delivered, minutes), slices.Clone(lastOf(h.stats.Minutes.Failed, minutes))
	for i, n := range lastOf(h.stats.Minutes.GivenUp, minutes) {
		failed[i] += n
	}
	most := int64(1)
	for i := range delivered {
		most = max(most, delivered[i]+failed[i])
	}
	var lines []string
	for row := rows - 1; row >= 0; row-- {
		label := strings.Repeat(" ", chartLabel)
		if row == rows-1 {
			label = t.Fit(fmt.Sprint(most), chartLabel-1, true) + " "
		} else if row == 0 && t.failedBar != "" {
			label = t.Fit(t.failedBar+" failed", chartLabel, false)
		}
		var b strings.Builder
		for i := range delivered {
			b.WriteString(h.bar(delivered[i], failed[i], most, int64(row), int64(rows), step, glyphs))
		}
		lines = append(lines, t.dim.Paint(label)+b.String()+strings.Repeat(" ", max(0, h.width-chartLabel-len(delivered))))
	}
	return lines
}

func (h *home) bar(delivered, failed, most, row, rows, step int64, glyphs []rune) string {
	units := rows * step
	full := (delivered + failed) * units / most
	if delivered+failed > 0 {
		full = max(full, 1)
	}
	bad := failed * units / most
	if failed > 0 {
		bad = max(bad, 1)
	}
	part := max(0, min(step, full-row*step))
	ink := h.app.theme.status[1]
	if bad > row*step {
		ink = h.app.theme.status[3]
	}
	switch {
	case part == 0:
		return " "
	case bad > row*step && h.app.theme.failedBar != "":
		return ink.Paint(h.app.theme.failedBar)
	}
	return ink.Paint(string(glyphs[part]))
}

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
	if h.width < 76 {
		return 22
	}
	return 34
}

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
	width := h.width - h.leftWidth()
	lines := []string{h.app.compose(width, []span{{"Problem endpoints", t.crumb}}, []span{{"failed  last ", t.label}})}
	lanes := h.troubled()
	if len(lanes) == 0 {
		lines = append(lines, t.dim.Paint(t.Fit("none", width, false)))
	}
	for i, lane := range lanes {
		pointer, ink := "  ", t.Selected
		if i == h.at {
			pointer = t.Pointer + " "
		} else {
			ink = ""
		}
		last := "-"
		switch {
		case lane.LastFailure != nil && lane.LastFailure.HTTPCode != 0:
			last = fmt.Sprint(lane.LastFailure.HTTPCode)
		case lane.LastFailure != nil:
			last = lane.LastFailure.Message
		}
		right := fmt.Sprintf("%6d  %s ", lane.Failed+lane.GivenUp, t.Fit(last, 9, false))
		lines = append(lines, h.app.compose(width, []span{{pointer + shortURL(lane.URL), ink}}, []span{{right, t.status[3]}}))
	}
	return append(lines, h.viewLines(width, len(lanes))...)
}

// recent are the messages that failed last.
func (h *home) recent() []string {
	t := h.app.theme
	lines := []string{strings.Repeat(" ", h.width), t.crumb.Paint(t.Fit(" Recent failures", h.width, false))}
	if len(h.failures) == 0 {
		return append(lines, t.dim.Paint(t.Fit("  none", h.width, false)))
	}
	for _, m := range h.failures {
		word, ink := t.statusText(m.Status)
		lines = append(lines, h.app.compose(h.width, []span{
			{"  " + t.Fit(h.app.moment(time.Time(m.LastSavedDateTime)), 15, false), t.dim}, {t.Fit(word, 8, false), ink}, {t.Fit(m.EventName, 26, false), ""}, {shortURL(m.URL), ""},
		}, []span{{" " + answerOf(m) + " ", ink}}))
	}
	return lines
}
