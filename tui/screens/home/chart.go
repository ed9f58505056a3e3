package home

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// The deliveries of the last hour on the first screen.

// chartLabel is how many cells stand before the bars.
const chartLabel = 8

// chartTitle says of which time the figures are: a daemon counts nothing of
// before its start.
func (h *Screen) chartTitle() string {
	from := "last 60 min"
	since, now := time.Time(h.Stats.SinceDateTime), time.Time(h.Stats.ServerDateTime)
	if !since.IsZero() && now.Sub(since) < time.Hour {
		from = "since " + h.TimeOfDay(since)[:len("15:04")]
	}
	if h.narrow() {
		return " " + strings.ToUpper(from[:1]) + from[1:]
	}
	return " Deliveries, " + from
}

// chartRows is how high the chart is: a third of what a large screen has.
func (h *Screen) chartRows() int { return max(1, min(6+max(0, h.Height-34)/3, h.Height-14)) }

// barWidth is how many cells a minute takes.
func (h *Screen) barWidth() int { return max(1, min(3, (h.Width-chartLabel-1)/60)) }

// minutesShown is how many minutes there is room for.
func (h *Screen) minutesShown() int {
	return min(len(h.Stats.Minutes.Delivered), (h.Width-chartLabel-1)/h.barWidth())
}

// hours is the time below the bars, each where its minute's bar is.
func (h *Screen) hours() string {
	const apart = 20 // minutes
	minutes, wide := h.minutesShown(), h.barWidth()
	line := []byte(strings.Repeat(" ", h.Width))
	for ago := minutes - 1; ago >= apart/2; ago -= apart {
		at := time.Time(h.Stats.Minutes.From).Add(time.Duration(len(h.Stats.Minutes.Delivered)-1-ago) * time.Minute)
		copy(line[chartLabel+(minutes-1-ago)*wide:], h.TimeOfDay(at)[:len("15:04")])
	}
	if minutes >= apart {
		copy(line[chartLabel+minutes*wide-len("now"):], "now")
	}
	return h.Theme.Dim.Paint(string(line))
}

// even gives all series of the chart the length of the longest one.
func even(m *wire.Minutes) {
	most := max(len(m.Delivered), len(m.Failed), len(m.GivenUp))
	for _, series := range []*[]int64{&m.Delivered, &m.Failed, &m.GivenUp} {
		*series = append(make([]int64, most-len(*series)), *series...)
	}
}

func lastOf(values []int64, n int) []int64 { return values[max(0, len(values)-n):] }

// chart draws a bar a minute, what failed of it in its own ink below.
func (h *Screen) chart(rows int) []string {
	t := h.Theme
	glyphs := []rune(t.Bars)
	step := int64(len(glyphs) - 1)
	minutes, wide := h.minutesShown(), h.barWidth() // the last ones, where there is no room for all
	delivered, failed := lastOf(h.Stats.Minutes.Delivered, minutes), slices.Clone(lastOf(h.Stats.Minutes.Failed, minutes))
	for i, n := range lastOf(h.Stats.Minutes.GivenUp, minutes) {
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
		} else if row == 0 && t.FailedBar != "" {
			label = t.Fit(t.FailedBar+" failed", chartLabel, false)
		}
		var b strings.Builder
		for i := range delivered {
			b.WriteString(strings.Repeat(h.bar(delivered[i], failed[i], most, int64(row), int64(rows), step, glyphs), wide))
		}
		lines = append(lines, t.Dim.Paint(label)+b.String()+strings.Repeat(" ", max(0, h.Width-chartLabel-len(delivered)*wide)))
	}
	return lines
}

func (h *Screen) bar(delivered, failed, most, row, rows, step int64, glyphs []rune) string {
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
	ink := h.Theme.Status[1]
	if bad > row*step {
		ink = h.Theme.Status[3]
	}
	switch {
	case part == 0:
		return " "
	case bad > row*step && h.Theme.FailedBar != "":
		return ink.Paint(h.Theme.FailedBar)
	}
	return ink.Paint(string(glyphs[part]))
}
