package home

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// chart draws the deliveries and failures of the last hour.
type chart struct {
	session       *ui.Session
	stats         *wire.Stats
	failures      []wire.Message
	width, height int // size of the screen
}

// chartLabel is the width of the labels before the bars.
const chartLabel = 10

// rate returns the share of attempts that succeeded and its period, which is shorter in the first
// hour of a store.
func (c chart) rate() []theme.Span {
	if c.stats.SuccessRate == nil {
		return []theme.Span{{Text: "no attempts", Role: theme.Label}}
	}
	period := "in the last hour"
	since, now := time.Time(c.stats.SinceDateTime), time.Time(c.stats.ServerDateTime)
	if !since.IsZero() && now.Sub(since) < time.Hour {
		period = "since " + c.session.TimeOfDay(since)[:len("15:04")]
	}
	text := fmt.Sprintf("%.1f%% of attempts succeeded %s", *c.stats.SuccessRate*100, period)
	return []theme.Span{{Text: text, Role: theme.Label}}
}

// rows returns the height of the bars of delivered messages. They take a third of the lines that
// a screen has beyond 34, and leave 15 lines of a small one to the other parts.
func (c chart) rows() int {
	rows := 5 + max(0, c.height-34)/3
	return max(1, min(rows, c.height-15))
}

// failedRows returns the height of the bars of failed messages.
func (c chart) failedRows() int { return 1 + c.rows()/5 }

// barWidth returns the width of a minute in cells.
func (c chart) barWidth() int { return max(1, min(3, (c.width-chartLabel-1)/60)) }

// minutesShown returns the number of minutes that fit.
func (c chart) minutesShown() int {
	return min(len(c.stats.Minutes.Delivered), (c.width-chartLabel-1)/c.barWidth())
}

// hours returns the time axis below the bars.
func (c chart) hours() string {
	const interval = 20 // minutes
	shown, width := c.minutesShown(), c.barWidth()
	total := len(c.stats.Minutes.Delivered)
	line := []byte(strings.Repeat(" ", c.width))
	for ago := shown - 1; ago >= interval/2; ago -= interval {
		start := time.Time(c.stats.Minutes.From).Add(time.Duration(total-1-ago) * time.Minute)
		copy(line[chartLabel+(shown-1-ago)*width:], c.session.TimeOfDay(start)[:len("15:04")])
	}
	if shown >= interval {
		copy(line[chartLabel+shown*width-len("now"):], "now")
	}
	return c.session.Theme.Paint(theme.Dim, string(line))
}

// padSeries pads the series of delivered messages with leading zeros to the length of the
// longest series.
func padSeries(m *wire.Minutes) {
	longest := max(len(m.Delivered), len(m.Failed), len(m.GivenUp))
	m.Delivered = append(make([]int64, longest-len(m.Delivered)), m.Delivered...)
}

// failedMinutes returns the number of failed messages by the minute of their last attempt.
func (c chart) failedMinutes() []int64 {
	minutes := make([]int64, len(c.stats.Minutes.Delivered))
	from := time.Time(c.stats.Minutes.From)
	for _, m := range c.failures {
		offset := time.Time(m.LastSavedDateTime).Sub(from)
		if offset >= 0 && int(offset/time.Minute) < len(minutes) {
			minutes[offset/time.Minute]++
		}
	}
	return minutes
}

// bars draws delivered and failed messages by minute, each on a scale of their own: some
// failures are visible below thousands of deliveries.
func (c chart) bars() []string {
	delivered := c.series(c.stats.Minutes.Delivered, c.rows(), c.session.Theme.OK, theme.Success)
	failed := c.series(c.failedMinutes(), c.failedRows(), c.session.Theme.Fail, theme.Failure)
	return append(delivered, failed...)
}

// series draws a bar per minute. The label of the first line is the highest value.
func (c chart) series(values []int64, rows int, sign string, role theme.Role) []string {
	t := c.session.Theme
	values = values[max(0, len(values)-c.minutesShown()):] // the last minutes if not all fit
	highest := slices.Max(append([]int64{0}, values...))
	lines := make([]string, rows)
	for i := range lines {
		spans := []theme.Span{{Text: theme.Spaces(chartLabel)}}
		if i == 0 {
			spans = []theme.Span{
				{Text: " " + sign, Role: role},
				{Text: t.Fit(display.Thousands(highest), chartLabel-3, true) + " ", Role: theme.Label},
			}
		}
		rowsBelow := rows - 1 - i
		spans = append(spans, theme.Span{Text: c.barLine(values, highest, rows, rowsBelow), Role: role})
		lines[i] = t.Compose(c.width, spans, nil)
	}
	return lines
}

// barLine draws the part of the bars that is on one line; rowsBelow lines are below it. Values
// above zero are visible.
func (c chart) barLine(values []int64, highest int64, rows, rowsBelow int) string {
	glyphs := []rune(c.session.Theme.Bars)
	unitsPerRow := int64(len(glyphs) - 1)
	var line strings.Builder
	for _, n := range values {
		units := int64(0)
		if n > 0 {
			units = max(1, n*int64(rows)*unitsPerRow/highest)
		}
		units -= int64(rowsBelow) * unitsPerRow
		glyph := glyphs[max(0, min(unitsPerRow, units))]
		line.WriteString(strings.Repeat(string(glyph), c.barWidth()))
	}
	return line.String()
}
