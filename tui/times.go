package tui

import (
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Times that the service itself writes are UTC: they are shown as ages, in the
// local zone or in UTC, as t says. Those of the business have no zone, and may
// be of next year: they stay as the service has them.

// timed is a screen whose cells or lines have times in them. It makes them anew
// for another mode, and says what is not as one might expect, "" for nothing.
type timed interface{ retime() string }

// nextTimes shows times in the next of the modes, and says where that makes no
// difference.
func (a *app) nextTimes() tea.Cmd {
	a.times = (a.times + 1) % timeMode(len(timeModes))
	before, note := a.front().view(), ""
	if t, ok := a.front().(timed); ok {
		note = t.retime()
	}
	cmd := a.front().shown()
	if note == "" && a.front().view() == before {
		note = "nothing here changes by it but the clock"
	}
	if note != "" {
		note = "   " + note
	}
	a.tell(ui.Info, "times: "+timeModes[a.times]+note)
	return cmd
}

// here is a time in the zone in which times of day are shown.
func (a *app) here(at time.Time) time.Time {
	if a.times == utc {
		return at.UTC()
	}
	return at.In(a.options.Zone)
}

// zoned reports whether the times of a kind are the service's own.
func zoned(kind *record.Kind) bool { return kind.Database != record.InRecords }

// instant reads a time that the service wrote itself.
func instant(text string) (time.Time, bool) {
	at, err := time.Parse(wire.DateLayout, text)
	return at, err == nil
}

// instantText is a time of the service as lists show it.
func (a *app) instantText(text string) string {
	if at, ok := instant(text); ok {
		return a.moment(at)
	}
	return text
}

// wholeInstant is a time of the service where there is room for all of it.
func (a *app) wholeInstant(text string) string {
	at, ok := instant(text)
	switch {
	case !ok:
		return text
	case a.times == utc:
		return at.Format("2006-01-02 15:04:05.000") + " UTC"
	}
	shown := at.In(a.options.Zone).Format("2006-01-02 15:04:05.000 MST")
	if a.times == relative {
		shown = ui.Age(a.since(at)) + " ago   " + shown
	}
	return shown
}

// durationText is a TimeSpan in milliseconds; of short ones with a decimal.
func durationText(text string) string {
	ticks, err := wire.ParseTimeSpan(text)
	if err != nil {
		return text
	}
	const ticksPerMilli, short = 10_000, 10 * 10_000
	if ticks < short {
		return fmt.Sprintf("%.1f ms", float64(ticks)/ticksPerMilli)
	}
	return theme.Thousands(int(ticks/ticksPerMilli)) + " ms"
}

// retime makes the rows in sight anew. Columns that were wide for the mode
// before become as wide as they have to be.
func (s *messages) retime() string {
	s.fitColumns()
	s.repaint()
	return ""
}

func (s *messageScreen) retime() string {
	s.fill()
	return ""
}

// fitColumns makes columns as wide as what is in sight has to have, where
// nobody chose how wide they are.
func (t *table) fitColumns() { t.grid.SetColumns(t.grid.Columns(), t.grid.Frozen()) }
