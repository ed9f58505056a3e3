package tui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// delayed is an irreversible change that is sent after a delay, during which it can be
// undone.
type delayed struct {
	due  time.Time
	name string   // shown to the user
	ids  []string // affected objects; empty if only the service knows them
	run  func() tea.Cmd
}

// undo holds the delayed changes.
type undo struct {
	*App
	delayed []delayed
}

// Delay queues a change for UndoDelay.
func (u *undo) Delay(name string, ids []string, run func() tea.Cmd) tea.Cmd {
	u.delayed = append(u.delayed, delayed{u.Now.Add(ui.UndoDelay), name, ids, run})
	return u.Front().Shown()
}

// undoLast undoes the last delayed change.
func (u *undo) undoLast() tea.Cmd {
	last := len(u.delayed) - 1
	if last < 0 {
		u.Notify(ui.Warning, "nothing to undo: only deletes of messages can be undone, for "+ui.Age(ui.UndoDelay))
		return nil
	}
	name := u.delayed[last].name
	u.delayed = u.delayed[:last]
	u.Notify(ui.Info, name+": undone, nothing was sent")
	return u.Front().Shown()
}

// sendDue sends the changes with an elapsed delay.
func (u *undo) sendDue() tea.Cmd {
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

// Delayed reports whether a delayed change affects an object.
func (u *undo) Delayed(id string) bool {
	return slices.ContainsFunc(u.delayed, func(d delayed) bool { return slices.Contains(d.ids, id) })
}

// undoSpans returns the last delayed change and the key that undoes it.
func (u *undo) undoSpans() []theme.Span {
	if len(u.delayed) == 0 {
		return nil
	}
	last := u.delayed[len(u.delayed)-1]
	left := (last.due.Sub(u.Now) + time.Second - 1).Truncate(time.Second)
	return []theme.Span{{Text: last.name + " in " + ui.Age(left) + "  ", Role: theme.Waiting}, {Text: keymap.KeyFor(keymap.Everywhere, keymap.Undo), Role: theme.Key}, {Text: " undo ", Role: theme.Dim}}
}
