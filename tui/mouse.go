package tui

import (
	"time"

	"github.com/bizhook/whd/tui/browse"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// click is where and when something was clicked.
type click struct {
	x, y int
	at   time.Time
}

// doubleClick is how soon a second click must follow.
const doubleClick = 500 * time.Millisecond

// wheelRows is how far one step of the wheel goes.
const wheelRows = 3

// takeMouse has the terminal tell of clicks, where they are wanted here: at the
// start, and when the shell has had it meanwhile.
func (a *app) takeMouse() tea.Cmd {
	if !a.mouse {
		return nil
	}
	return tea.EnableMouseCellMotion
}

// turnMouse takes the mouse, or gives it back to the terminal, which selects
// text with it.
func (a *app) turnMouse() tea.Cmd {
	a.mouse = !a.mouse
	if a.mouse {
		a.Tell(ui.Info, "the mouse clicks here now; with shift it selects text, "+keymap.KeyFor(keymap.Everywhere, keymap.SwitchMouse)+" gives it back")
		return tea.EnableMouseCellMotion
	}
	a.Tell(ui.Info, "the mouse selects text now; "+keymap.KeyFor(keymap.Everywhere, keymap.SwitchMouse)+" takes it again")
	return tea.DisableMouse
}

// point routes what the mouse does. It moves and opens, and never answers a
// question.
func (a *app) point(m tea.MouseMsg) tea.Cmd {
	if a.tooSmall() || a.Front() == nil || a.line != nil {
		return nil
	}
	switch {
	case m.Button == tea.MouseButtonWheelUp:
		return a.wheel(keymap.GoUp)
	case m.Button == tea.MouseButtonWheelDown:
		return a.wheel(keymap.GoDown)
	case m.Button != tea.MouseButtonLeft || m.Action != tea.MouseActionPress || a.over != nil:
		return nil
	}
	again := m.X == a.clicked.x && m.Y == a.clicked.y && a.Now.Sub(a.clicked.at) < doubleClick
	a.clicked = click{m.X, m.Y, a.Now}
	if m.Y == ui.TabRow {
		return a.clickTab(m.X)
	}
	if c, ok := a.Front().(ui.Clicker); ok && m.Y >= ui.LinesAbove && m.Y < a.height-2 {
		return c.Click(m.X, m.Y-ui.LinesAbove, again)
	}
	return nil
}

// wheel moves what is in front.
func (a *app) wheel(way keymap.Action) tea.Cmd {
	var cmds []tea.Cmd
	for range wheelRows {
		switch over := a.over.(type) {
		case nil:
			cmds = append(cmds, a.Front().Do(keymap.Binding{Action: way}))
		case *ui.Text, *ui.Secret, *ui.Picker, *menu, *browse.Chooser, *ui.Confirm, *ui.TypedConfirm:
			cmds = append(cmds, over.Do(keymap.Binding{Action: way}))
		}
	}
	return tea.Batch(cmds...)
}

// clickTab opens the tab at a cell of line 2.
func (a *app) clickTab(x int) tea.Cmd {
	at := 0
	left, right := a.tabSpans()
	for i, s := range left {
		_, width := a.Theme.Inert(s.Text, a.width)
		if x >= at && x < at+width && i%2 == 1 {
			return a.openTab(i / 2)
		}
		at += width
	}
	if _, width := a.Theme.Inert(right[0].Text, a.width); x >= a.width-width {
		a.over = newHelp(a)
	}
	return nil
}
