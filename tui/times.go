package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/ui"
)

// timed is a screen whose cells or lines have times in them. It makes them anew
// for another mode, and says what is not as one might expect, "" for nothing.
type timed interface{ retime() string }

// nextTimes shows times in the next of the modes, and says where that makes no
// difference.
func (a *app) nextTimes() tea.Cmd {
	a.Times = (a.Times + 1) % timeMode(len(timeModes))
	before, note := a.Front().view(), ""
	if t, ok := a.Front().(timed); ok {
		note = t.retime()
	}
	cmd := a.Front().shown()
	if note == "" && a.Front().view() == before {
		note = "nothing here changes by it but the clock"
	}
	if note != "" {
		note = "   " + note
	}
	a.Tell(ui.Info, "times: "+timeModes[a.Times]+note)
	return cmd
}
