package home

import (
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// chart draws the deliveries and failures of the last hour, a column per minute.
type chart struct {
	session *ui.Session
	stats   *wire.Stats
	width   int // in cells
	rows    int // height of the bars of delivered messages
	short   bool
}

// Widths of the labels before the bars, with the axis. A short chart has the unit next to the number.
const (
	labelCells      = len(" /min ") + 1
	shortLabelCells = len(" 312/min ") + 1
	longLabelCells  = len(" 4.5k a minute ") + 1 // on a short chart with some room
)

// labelWidth returns the width of the labels. Those of a short chart take the rest of the line, so that
// the bars end at the frame of a screen with 80 columns.
func (c chart) labelWidth() int {
	if !c.short {
		return labelCells
	}
	const margin = 1
	return max(shortLabelCells, min(c.width-60*c.barWidth()-margin, longLabelCells+1))
}

// barWidth returns the width of a minute in cells.
func (c chart) barWidth() int {
	label := labelCells
	if c.short {
		label = shortLabelCells
	}
	return max(1, min(3, (c.width-label-1)/60))
}

// minutesShown returns the number of minutes that fit.
func (c chart) minutesShown() int {
	return min(len(c.stats.Minutes.Delivered), (c.width-c.labelWidth()-1)/c.barWidth())
}

// totals draws the numbers of the hour.
func (c chart) totals() string {
	t, totals := c.session.Theme, c.stats.Totals
	if c.stats.SuccessRate == nil {
		return t.Compose(c.width, []theme.Span{{Text: " nothing was sent", Role: theme.Dim}}, nil)
	}
	delivered, failed := " delivered", " failed"
	if c.short {
		delivered, failed = "", ""
	}
	failedRole := theme.Failure
	if totals.GivenUp == 0 {
		failedRole = theme.Dim
	}
	spans := []theme.Span{
		{Text: " " + t.OK + " " + display.Thousands(totals.Delivered), Role: theme.Success},
		{Text: delivered + "   "},
		{Text: t.Fail + " " + display.Thousands(totals.GivenUp), Role: failedRole},
		{Text: failed + "   "},
	}
	sent := deliveries{delivered: totals.Delivered, retried: totals.Failed, givenUp: totals.GivenUp}
	if share := sent.share(); share != "" {
		spans = append(spans, theme.Span{Text: share + "   "})
	}
	if c.stats.Latency.P50 > 0 {
		spans = append(spans,
			theme.Span{Text: "p50 ", Role: theme.Dim},
			theme.Span{Text: ui.Took(time.Duration(c.stats.Latency.P50)) + "   "},
			theme.Span{Text: "p95 ", Role: theme.Dim},
			theme.Span{Text: ui.Took(time.Duration(c.stats.Latency.P95))})
	}
	return t.Compose(c.width, spans, nil)
}

// padSeries pads the series of minutes with leading zeros to the length of the longest one.
func padSeries(m *wire.Minutes) {
	longest := max(len(m.Delivered), len(m.Failed), len(m.GivenUp))
	for _, series := range []*[]int64{&m.Delivered, &m.Failed, &m.GivenUp} {
		*series = append(make([]int64, longest-len(*series)), *series...)
	}
}

// shown returns the last minutes of a series, if not all fit.
func (c chart) shown(series []int64) []int64 {
	return series[max(0, len(series)-c.minutesShown()):]
}

// lines draws the bars, and those of failures below.
func (c chart) lines() []string {
	delivered := c.shown(c.stats.Minutes.Delivered)
	highest := slices.Max(append([]int64{1}, delivered...))
	lines := make([]string, c.rows)
	for i := range lines {
		above := c.rows - 1 - i // the number of lines below this one
		bars := c.barLine(delivered, highest, above)
		lines[i] = c.session.Theme.Compose(c.width, append(c.label(i, highest), bars...), nil)
	}
	return append(lines, c.failed())
}

// label returns the label of a line of bars, with the axis: the highest value, the unit and zero.
func (c chart) label(line int, highest int64) []theme.Span {
	t := c.session.Theme
	text, axis := "", t.Separator
	switch {
	case line == 0:
		text, axis = display.Short(highest), t.Tick
		if c.labelWidth() >= longLabelCells {
			text += " a minute"
		} else if c.short {
			text += "/min"
		}
	case line == c.rows-1:
		text, axis = "0", t.Cross
	case line == c.rows-2 && !c.short:
		text = "/min"
	}
	return c.labelled(text, axis, theme.Dim)
}

// labelled returns a label and the axis.
func (c chart) labelled(text, axis string, role theme.Role) []theme.Span {
	return []theme.Span{
		{Text: c.session.Theme.Fit(text, c.labelWidth()-2, true) + " ", Role: role},
		{Text: axis, Role: theme.Rule},
	}
}

// barLine draws the part of the bars that is on one line; rowsBelow lines are below it. Values
// above zero are visible, and zeros are dots on the lowest line.
func (c chart) barLine(values []int64, highest int64, rowsBelow int) []theme.Span {
	t := c.session.Theme
	glyphs := []rune(t.Bars)
	unitsPerRow := int64(len(glyphs) - 1)
	return c.columns(values, func(n int64) theme.Span {
		if n == 0 && rowsBelow == 0 {
			return theme.Span{Text: t.Zero, Role: theme.Dim}
		}
		units := int64(0)
		if n > 0 {
			units = max(1, n*int64(c.rows)*unitsPerRow/highest)
		}
		units -= int64(rowsBelow) * unitsPerRow
		return theme.Span{Text: string(glyphs[max(0, min(unitsPerRow, units))]), Role: theme.Success}
	})
}

// uncounted returns the number of shown minutes before counting began.
func (c chart) uncounted() int {
	since, first := time.Time(c.stats.SinceDateTime), time.Time(c.stats.Minutes.From)
	if since.IsZero() {
		return 0
	}
	hidden := len(c.stats.Minutes.Delivered) - c.minutesShown()
	return int(since.Sub(first)/time.Minute) - hidden
}

// columns draws a cell for each value, as wide as a minute: a blank before counting began. Cells with
// the same role are one span.
func (c chart) columns(values []int64, cell func(n int64) theme.Span) []theme.Span {
	var spans []theme.Span
	uncounted := c.uncounted()
	for i, n := range values {
		span := cell(n)
		if n == 0 && i < uncounted {
			span.Text = " "
		}
		if n > 0 && i == len(values)-1 {
			span.Role = theme.Dim // the minute is not over
		}
		span.Text = strings.Repeat(span.Text, c.barWidth())
		last := len(spans) - 1
		if last >= 0 && spans[last].Role == span.Role {
			spans[last].Text += span.Text
			continue
		}
		spans = append(spans, span)
	}
	return spans
}

// failed draws the attempts that failed, on a scale of their own: some of them are visible below
// thousands of deliveries.
func (c chart) failed() string {
	t := c.session.Theme
	retried, givenUp := c.shown(c.stats.Minutes.Failed), c.shown(c.stats.Minutes.GivenUp)
	attempts := make([]int64, len(retried))
	for i := range attempts {
		attempts[i] = retried[i] + givenUp[i]
	}
	highest := slices.Max(append([]int64{1}, attempts...))
	minute := 0
	bars := c.columns(attempts, func(n int64) theme.Span {
		span := barOf(t, n, highest)
		if n > 0 && givenUp[minute] > 0 {
			span.Role = theme.Failure
		} else if n > 0 {
			span.Role = theme.Warning
		}
		minute++
		return span
	})
	label := t.Fail
	if c.labelWidth() >= longLabelCells {
		label += " failed"
	}
	return t.Compose(c.width, append(c.labelled(label, t.Cross, theme.Failure), bars...), nil)
}

// barOf returns a bar of one cell, and a dot for zero.
func barOf(t *theme.Theme, n, highest int64) theme.Span {
	if n <= 0 {
		return theme.Span{Text: t.Zero, Role: theme.Dim}
	}
	return barOfGlyphs(n, highest, []rune(t.Bars)[1:])
}

// barOfGlyphs returns a bar of one cell, which is not empty.
func barOfGlyphs(n, highest int64, glyphs []rune) theme.Span {
	last := int64(len(glyphs) - 1)
	return theme.Span{Text: string(glyphs[min(last, n*last/max(1, highest))])}
}

// hours returns the time axis below the bars.
func (c chart) hours() string {
	const interval = 20 // minutes
	shown, width := c.minutesShown(), c.barWidth()
	total := len(c.stats.Minutes.Delivered)
	line := []byte(strings.Repeat(" ", c.width))
	start := c.labelWidth()
	for ago := shown - 1; ago >= interval/2; ago -= interval {
		minute := time.Time(c.stats.Minutes.From).Add(time.Duration(total-1-ago) * time.Minute)
		copy(line[start+(shown-1-ago)*width:], c.session.TimeOfDay(minute)[:len("15:04")])
	}
	if shown >= interval {
		copy(line[start+shown*width-len("now"):], "now")
	}
	return c.session.Theme.Paint(theme.Dim, string(line))
}

// sparkCells is the width of a sparkline.
const sparkCells = 10

// minSparkGlyphs is the number of bars from which a sparkline leaves out the full one, so that those
// of lines below each other have a gap.
const minSparkGlyphs = 5

// sparkline draws the attempts of an endpoint, by six minutes. The first steps are uncounted.
func sparkline(t *theme.Theme, attempts []int64, uncounted int, role theme.Role) []theme.Span {
	attempts = attempts[max(0, len(attempts)-sparkCells):]
	values := append(make([]int64, sparkCells-len(attempts)), attempts...)
	highest := slices.Max(values)
	glyphs := []rune(t.Bars)[1:]
	if len(glyphs) > minSparkGlyphs {
		glyphs = glyphs[:len(glyphs)-1]
	}
	var spans []theme.Span
	for i, n := range values {
		span := theme.Span{Text: t.Zero, Role: theme.Dim}
		if i < uncounted {
			span.Text = " "
		}
		if n > 0 {
			span = barOfGlyphs(n, highest, glyphs)
			span.Role = role
		}
		spans = append(spans, span)
	}
	return spans
}
