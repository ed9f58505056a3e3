package tui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// delayed is a change that nothing can bring back and that waits a moment
// therefore. Until then it is known here only.
type delayed struct {
	due  time.Time
	what string   // for people
	ids  []string // what it is about; empty where only the service knows
	run  func() tea.Cmd
}

// undo is the changes that can be taken back still.
type undo struct {
	*app
	delayed []delayed
}

// Delay makes a change in a moment.
func (u *undo) Delay(what string, ids []string, run func() tea.Cmd) tea.Cmd {
	u.delayed = append(u.delayed, delayed{u.Now.Add(ui.UndoTime), what, ids, run})
	return u.Front().Shown()
}

// takeBack takes the last change back that still waits.
func (u *undo) takeBack() tea.Cmd {
	last := len(u.delayed) - 1
	if last < 0 {
		u.Tell(ui.Warning, "there is nothing to take back: only deletes of messages wait, for "+ui.Age(ui.UndoTime))
		return nil
	}
	what := u.delayed[last].what
	u.delayed = u.delayed[:last]
	u.Tell(ui.Info, what+": taken back, nothing was sent")
	return u.Front().Shown()
}

// makeDue makes the changes whose time has come.
func (u *undo) makeDue() tea.Cmd {
	var cmds []tea.Cmd
	u.delayed = slices.DeleteFunc(u.delayed, func(d delayed) bool {
		due := !u.Now.Before(d.due)
		if due {
			cmds = append(cmds, d.run())
		}
		return due
	})
	return tea.Batch(cmds...)
}

// Delayed reports whether a change of this waits.
func (u *undo) Delayed(id string) bool {
	return slices.ContainsFunc(u.delayed, func(d delayed) bool { return slices.Contains(d.ids, id) })
}

// undoSpans tell what waits and how to take it back.
func (u *undo) undoSpans() []theme.Span {
	if len(u.delayed) == 0 {
		return nil
	}
	last := u.delayed[len(u.delayed)-1]
	left := (last.due.Sub(u.Now) + time.Second - 1).Truncate(time.Second)
	return []theme.Span{{Text: last.what + " in " + ui.Age(left) + "  ", Ink: u.Theme.Waiting}, {Text: keymap.KeyFor(keymap.Everywhere, keymap.TakeBack), Ink: u.Theme.Key}, {Text: " undo ", Ink: u.Theme.Dim}}
}
