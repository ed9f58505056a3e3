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

// Delay makes a change in a moment.
func (a *app) Delay(what string, ids []string, run func() tea.Cmd) tea.Cmd {
	a.delayed = append(a.delayed, delayed{a.Now.Add(ui.UndoTime), what, ids, run})
	return a.Front().Shown()
}

// undo takes the last change back that still waits.
func (a *app) undo() tea.Cmd {
	last := len(a.delayed) - 1
	if last < 0 {
		a.Tell(ui.Warning, "there is nothing to take back: only deletes of messages wait, for "+ui.Age(ui.UndoTime))
		return nil
	}
	what := a.delayed[last].what
	a.delayed = a.delayed[:last]
	a.Tell(ui.Info, what+": taken back, nothing was sent")
	return a.Front().Shown()
}

// makeDue makes the changes whose time has come.
func (a *app) makeDue() tea.Cmd {
	var cmds []tea.Cmd
	a.delayed = slices.DeleteFunc(a.delayed, func(d delayed) bool {
		due := !a.Now.Before(d.due)
		if due {
			cmds = append(cmds, d.run())
		}
		return due
	})
	return tea.Batch(cmds...)
}

// Delayed reports whether a change of this waits.
func (a *app) Delayed(id string) bool {
	return slices.ContainsFunc(a.delayed, func(d delayed) bool { return slices.Contains(d.ids, id) })
}

// undoSpans tell what waits and how to take it back.
func (a *app) undoSpans() []theme.Span {
	if len(a.delayed) == 0 {
		return nil
	}
	last := a.delayed[len(a.delayed)-1]
	left := (last.due.Sub(a.Now) + time.Second - 1).Truncate(time.Second)
	return []theme.Span{{Text: last.what + " in " + ui.Age(left) + "  ", Ink: a.Theme.Waiting}, {Text: keymap.KeyFor(keymap.Everywhere, keymap.TakeBack), Ink: a.Theme.Key}, {Text: " undo ", Ink: a.Theme.Dim}}
}
