package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/ui"
)

// nextTimes shows times in the next of the modes, and says where that makes no
// difference.
func (a *app) nextTimes() tea.Cmd {
	a.Times = (a.Times + 1) % ui.TimeMode(len(ui.TimeModes))
	before, note := a.Front().View(), ""
	if t, ok := a.Front().(ui.Timed); ok {
		note = t.Retime()
	}
	cmd := a.Front().Shown()
	if note == "" && a.Front().View() == before {
		note = "nothing here changes by it but the clock"
	}
	if note != "" {
		note = "   " + note
	}
	a.Tell(ui.Info, "times: "+ui.TimeModes[a.Times]+note)
	return cmd
}
