package session

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

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

// UndoHost is the part of the app that the delayed changes use.
type UndoHost interface {
	CurrentSession() *ui.Session
	Notify(l ui.Level, text string)
	Front() ui.Screen
}

// Undo holds the delayed changes.
type Undo struct {
	host    UndoHost
	delayed []delayed
}

// NewUndo returns an empty queue.
func NewUndo(h UndoHost) *Undo { return &Undo{host: h} }

// Delay queues a change for UndoDelay.
func (u *Undo) Delay(name string, ids []string, run func() tea.Cmd) tea.Cmd {
	due := u.host.CurrentSession().Now.Add(ui.UndoDelay)
	u.delayed = append(u.delayed, delayed{due: due, name: name, ids: ids, run: run})
	return u.host.Front().Shown()
}

// Last undoes the last delayed change.
func (u *Undo) Last() tea.Cmd {
	last := len(u.delayed) - 1
	if last < 0 {
		u.host.Notify(ui.Warning, ui.NothingToUndo())
		return nil
	}
	name := u.delayed[last].name
	u.delayed = u.delayed[:last]
	u.host.Notify(ui.Info, ui.Undone(name))
	return u.host.Front().Shown()
}

// SendDue sends the changes with an elapsed delay.
func (u *Undo) SendDue() tea.Cmd {
	now := u.host.CurrentSession().Now
	var cmds []tea.Cmd
	u.delayed = slices.DeleteFunc(u.delayed, func(d delayed) bool {
		due := !now.Before(d.due)
		if due {
			cmds = append(cmds, d.run())
		}
		return due
	})
	return tea.Batch(cmds...)
}

// Drop drops all delayed changes, and returns their names.
func (u *Undo) Drop() []string {
	var names []string
	for _, d := range u.delayed {
		names = append(names, d.name)
	}
	u.delayed = nil
	return names
}

// Affects reports whether a delayed change affects an object.
func (u *Undo) Affects(id string) bool {
	return slices.ContainsFunc(u.delayed, func(d delayed) bool { return slices.Contains(d.ids, id) })
}

// Count returns the number of delayed changes.
func (u *Undo) Count() int { return len(u.delayed) }

// Next returns the name of the change that Last would undo, and when it is sent. There is
// none if Count is 0.
func (u *Undo) Next() (name string, due time.Time) {
	if len(u.delayed) == 0 {
		return "", time.Time{}
	}
	last := u.delayed[len(u.delayed)-1]
	return last.name, last.due
}
