package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// clicker is a screen that can be clicked on, in cells from its own corner.
// Again says that the same place was clicked a moment ago.
type clicker interface {
	click(x, y int, again bool) tea.Cmd
}

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
		a.tell(ui.Info, "the mouse clicks here now; with shift it selects text, "+keymap.KeyFor(keymap.Everywhere, keymap.SwitchMouse)+" gives it back")
		return tea.EnableMouseCellMotion
	}
	a.tell(ui.Info, "the mouse selects text now; "+keymap.KeyFor(keymap.Everywhere, keymap.SwitchMouse)+" takes it again")
	return tea.DisableMouse
}

// point routes what the mouse does. It moves and opens, and never answers a
// question.
func (a *app) point(m tea.MouseMsg) tea.Cmd {
	if a.tooSmall() || a.front() == nil || a.line != nil {
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
	again := m.X == a.clicked.x && m.Y == a.clicked.y && a.now.Sub(a.clicked.at) < doubleClick
	a.clicked = click{m.X, m.Y, a.now}
	if m.Y == tabRow {
		return a.clickTab(m.X)
	}
	if c, ok := a.front().(clicker); ok && m.Y >= linesAbove && m.Y < a.height-2 {
		return c.click(m.X, m.Y-linesAbove, again)
	}
	return nil
}

// wheel moves what is in front.
func (a *app) wheel(way keymap.Action) tea.Cmd {
	var cmds []tea.Cmd
	for range wheelRows {
		switch over := a.over.(type) {
		case nil:
			cmds = append(cmds, a.front().do(keymap.Binding{Action: way}))
		case *text, *secretBox, *picker, *menu, *chooser, *messageChooser, *confirm, *typedConfirm:
			cmds = append(cmds, over.do(keymap.Binding{Action: way}))
		}
	}
	return tea.Batch(cmds...)
}

// clickTab opens the tab at a cell of line 2.
func (a *app) clickTab(x int) tea.Cmd {
	at := 0
	left, right := a.tabSpans()
	for i, s := range left {
		_, width := a.theme.Inert(s.Text, a.width)
		if x >= at && x < at+width && i%2 == 1 {
			return a.openTab(i / 2)
		}
		at += width
	}
	if _, width := a.theme.Inert(right[0].Text, a.width); x >= a.width-width {
		a.over = newHelp(a)
	}
	return nil
}

// press selects the cell that was clicked. Row is false for anything but a row.
func (t *table) press(x, y int) (row, title bool) {
	at, column, on := t.grid.Hit(x, y)
	switch {
	case !on:
		return false, false
	case column >= 0:
		t.grid.ToColumn(column)
	}
	if at >= 0 {
		t.grid.To(at)
	}
	return at >= 0, at < 0 && column >= 0
}

// clickRow selects a row of a screen, and opens it when it is clicked again.
func (t *table) clickRow(s screen, x, y int, again bool) tea.Cmd {
	if row, _ := t.press(x, y); row && again {
		return s.do(keymap.Binding{Action: keymap.Open})
	}
	return nil
}

func (k *kinds) click(x, y int, again bool) tea.Cmd { return k.clickRow(k, x, y, again) }

func (e *events) click(x, y int, again bool) tea.Cmd { return e.clickRow(e, x, y, again) }

func (s *messages) click(x, y int, again bool) tea.Cmd {
	row, title := s.press(x, y)
	s.aside(keymap.Binding{})
	switch {
	case title:
		return s.sort()
	case row && again:
		return s.do(keymap.Binding{Action: keymap.Open})
	}
	return s.want()
}

// click of a title sorts by it.
func (b *browser) click(x, y int, again bool) tea.Cmd {
	row, title := b.press(x, y)
	switch {
	case title:
		return b.sort()
	case row && again:
		return b.do(keymap.Binding{Action: keymap.Open})
	}
	return b.want()
}
