package home

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// chart draws the deliveries of the last hour.
type chart struct {
	*ui.Session
	stats         *wire.Stats
	width, height int // of the screen
}

// chartLabel is the width of the labels before the bars.
const chartLabel = 8

// title returns the period of the statistics. A daemon counts from its start.
func (c chart) title() string {
	from := "last 60 min"
	since, now := time.Time(c.stats.SinceDateTime), time.Time(c.stats.ServerDateTime)
	if !since.IsZero() && now.Sub(since) < time.Hour {
		from = "since " + c.TimeOfDay(since)[:len("15:04")]
	}
	if narrow(c.width) {
		return " " + strings.ToUpper(from[:1]) + from[1:]
	}
	return " Deliveries, " + from
}

// rows returns the height of the chart. It takes a third of the lines of a large
// screen.
func (c chart) rows() int { return max(1, min(6+max(0, c.height-34)/3, c.height-14)) }

// barWidth returns the width of a minute in cells.
func (c chart) barWidth() int { return max(1, min(3, (c.width-chartLabel-1)/60)) }

// minutesShown returns the number of minutes that fit.
func (c chart) minutesShown() int {
	return min(len(c.stats.Minutes.Delivered), (c.width-chartLabel-1)/c.barWidth())
}

// hours returns the time axis below the bars.
func (c chart) hours() string {
	const interval = 20 // minutes
	minutes, wide := c.minutesShown(), c.barWidth()
	line := []byte(strings.Repeat(" ", c.width))
	for ago := minutes - 1; ago >= interval/2; ago -= interval {
		at := time.Time(c.stats.Minutes.From).Add(time.Duration(len(c.stats.Minutes.Delivered)-1-ago) * time.Minute)
		copy(line[chartLabel+(minutes-1-ago)*wide:], c.TimeOfDay(at)[:len("15:04")])
	}
	if minutes >= interval {
		copy(line[chartLabel+minutes*wide-len("now"):], "now")
	}
	return c.Theme.Paint(theme.Dim, string(line))
}

// padSeries pads all series with leading zeros to the length of the longest one.
func padSeries(m *wire.Minutes) {
	highest := max(len(m.Delivered), len(m.Failed), len(m.GivenUp))
	for _, series := range []*[]int64{&m.Delivered, &m.Failed, &m.GivenUp} {
		*series = append(make([]int64, highest-len(*series)), *series...)
	}
}

func lastOf(values []int64, n int) []int64 { return values[max(0, len(values)-n):] }

// bars draws a bar per minute, with the failed attempts at the bottom.
func (c chart) bars() []string {
	t := c.Theme
	glyphs := []rune(t.Bars)
	step := int64(len(glyphs) - 1)
	minutes, wide := c.minutesShown(), c.barWidth() // the last minutes if not all fit
	delivered, failed := lastOf(c.stats.Minutes.Delivered, minutes), slices.Clone(lastOf(c.stats.Minutes.Failed, minutes))
	for i, n := range lastOf(c.stats.Minutes.GivenUp, minutes) {
		failed[i] += n
	}
	highest := int64(1)
	for i := range delivered {
		highest = max(highest, delivered[i]+failed[i])
	}
	var lines []string
	rows := c.rows()
	for row := rows - 1; row >= 0; row-- {
		label := strings.Repeat(" ", chartLabel)
		if row == rows-1 {
			label = t.Fit(fmt.Sprint(highest), chartLabel-1, true) + " "
		} else if row == 0 && t.FailedBar != "" {
			label = t.Fit(t.FailedBar+" failed", chartLabel, false)
		}
		var b strings.Builder
		for i := range delivered {
			b.WriteString(strings.Repeat(c.bar(delivered[i], failed[i], highest, int64(row), int64(rows), step, glyphs), wide))
		}
		lines = append(lines, t.Paint(theme.Dim, label)+b.String()+strings.Repeat(" ", max(0, c.width-chartLabel-len(delivered)*wide)))
	}
	return lines
}

func (c chart) bar(delivered, failed, highest, row, rows, step int64, glyphs []rune) string {
	units := rows * step
	full := (delivered + failed) * units / highest
	if delivered+failed > 0 {
		full = max(full, 1)
	}
	bad := failed * units / highest
	if failed > 0 {
		bad = max(bad, 1)
	}
	part := max(0, min(step, full-row*step))
	role := theme.Success
	if bad > row*step {
		role = theme.Failure
	}
	switch {
	case part == 0:
		return " "
	case bad > row*step && c.Theme.FailedBar != "":
		return c.Theme.Paint(role, c.Theme.FailedBar)
	}
	return c.Theme.Paint(role, string(glyphs[part]))
}
