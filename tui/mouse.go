package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/browse"
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

// pointing routes what the mouse does.
type pointing struct {
	*App
	mouse   bool  // clicks come here
	clicked click // the last one
}

// takeMouse has the terminal tell of clicks, where they are wanted here: at the
// start, and when the shell has had it meanwhile.
func (p *pointing) takeMouse() tea.Cmd {
	if !p.mouse {
		return nil
	}
	return tea.EnableMouseCellMotion
}

// turnMouse takes the mouse, or gives it back to the terminal, which selects
// text with it.
func (p *pointing) turnMouse() tea.Cmd {
	p.mouse = !p.mouse
	if p.mouse {
		p.Notify(ui.Info, "the mouse clicks here now; with shift it selects text, "+keymap.KeyFor(keymap.Everywhere, keymap.ToggleMouse)+" gives it back")
		return tea.EnableMouseCellMotion
	}
	p.Notify(ui.Info, "the mouse selects text now; "+keymap.KeyFor(keymap.Everywhere, keymap.ToggleMouse)+" takes it again")
	return tea.DisableMouse
}

// point routes what the mouse does. It moves and opens, and never answers a
// question.
func (p *pointing) point(m tea.MouseMsg) tea.Cmd {
	if p.tooSmall() || p.Front() == nil || p.line != nil {
		return nil
	}
	switch {
	case m.Button == tea.MouseButtonWheelUp:
		return p.wheel(keymap.GoUp)
	case m.Button == tea.MouseButtonWheelDown:
		return p.wheel(keymap.GoDown)
	case m.Button != tea.MouseButtonLeft || m.Action != tea.MouseActionPress || p.over != nil:
		return nil
	}
	again := m.X == p.clicked.x && m.Y == p.clicked.y && p.Now.Sub(p.clicked.at) < doubleClick
	p.clicked = click{m.X, m.Y, p.Now}
	if m.Y == ui.TabRow {
		return p.clickTab(m.X)
	}
	if c, ok := p.Front().(ui.Clicker); ok && m.Y >= ui.HeaderHeight && m.Y < p.height-2 {
		return c.Click(m.X, m.Y-ui.HeaderHeight, again)
	}
	return nil
}

// wheel moves what is in front.
func (p *pointing) wheel(way keymap.Action) tea.Cmd {
	var cmds []tea.Cmd
	for range wheelRows {
		switch over := p.over.(type) {
		case nil:
			cmds = append(cmds, p.Front().Do(keymap.Binding{Action: way}))
		case *ui.Text, *ui.Secret, *ui.Picker, *menu, *browse.Chooser, *ui.Confirm, *ui.TypedConfirm:
			cmds = append(cmds, over.Do(keymap.Binding{Action: way}))
		}
	}
	return tea.Batch(cmds...)
}

// clickTab opens the tab at a cell of line 2.
func (p *pointing) clickTab(x int) tea.Cmd {
	at := 0
	left, right := p.tabSpans()
	for i, s := range left {
		_, width := p.Theme.Sanitize(s.Text, p.width)
		if x >= at && x < at+width && i%2 == 1 {
			return p.openTab(i / 2)
		}
		at += width
	}
	if _, width := p.Theme.Sanitize(right[0].Text, p.width); x >= p.width-width {
		p.over = p.help()
	}
	return nil
}
