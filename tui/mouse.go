package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// click is the position and time of a click.
type click struct {
	x, y int
	at   time.Time
}

// doubleClick is the maximum interval of a double click.
const doubleClick = 500 * time.Millisecond

// wheelRows is the number of rows per step of the wheel.
const wheelRows = 3

// mouse handles the mouse.
type mouse struct {
	*App
	enabled   bool // mouse events are enabled
	lastClick click
}

// enableMouse enables mouse events if configured, at startup and after the program was
// suspended.
func (p *mouse) enableMouse() tea.Cmd {
	if !p.enabled {
		return nil
	}
	return tea.EnableMouseCellMotion
}

// toggleMouse toggles mouse events. If disabled, the terminal selects text with the
// mouse.
func (p *mouse) toggleMouse() tea.Cmd {
	p.enabled = !p.enabled
	if p.enabled {
		p.Notify(ui.Info, "mouse enabled; select text with shift, "+keymap.KeyFor(keymap.Everywhere, keymap.ToggleMouse)+" disables it")
		return tea.EnableMouseCellMotion
	}
	p.Notify(ui.Info, "mouse disabled; "+keymap.KeyFor(keymap.Everywhere, keymap.ToggleMouse)+" enables it")
	return tea.DisableMouse
}

// handleMouse handles a mouse event. The mouse selects, scrolls and opens; it never accepts a
// confirmation.
func (p *mouse) handleMouse(m tea.MouseMsg) tea.Cmd {
	if p.tooSmall() || p.Front() == nil || p.input != nil {
		return nil
	}
	switch {
	case m.Button == tea.MouseButtonWheelUp:
		return p.wheel(keymap.GoUp)
	case m.Button == tea.MouseButtonWheelDown:
		return p.wheel(keymap.GoDown)
	case m.Button != tea.MouseButtonLeft || m.Action != tea.MouseActionPress || p.overlay != nil:
		return nil
	}
	again := m.X == p.lastClick.x && m.Y == p.lastClick.y && p.Now.Sub(p.lastClick.at) < doubleClick
	p.lastClick = click{m.X, m.Y, p.Now}
	if m.Y == ui.TabRow {
		return p.clickTab(m.X)
	}
	if c, ok := p.Front().(ui.Clicker); ok && m.Y >= ui.HeaderHeight && m.Y < p.height-2 {
		return c.Click(m.X, m.Y-ui.HeaderHeight, again)
	}
	return nil
}

// wheel scrolls the overlay or screen in front.
func (p *mouse) wheel(action keymap.Action) tea.Cmd {
	var cmds []tea.Cmd
	for range wheelRows {
		switch overlay := p.overlay.(type) {
		case nil:
			cmds = append(cmds, p.Front().Do(keymap.Binding{Action: action}))
		case *ui.Text, *ui.Secret, *ui.Picker, *menu, *browse.Chooser, *ui.Confirm, *ui.TypedConfirm:
			cmds = append(cmds, overlay.Do(keymap.Binding{Action: action}))
		}
	}
	return tea.Batch(cmds...)
}

// clickTab opens the tab at a position of line 2.
func (p *mouse) clickTab(x int) tea.Cmd {
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
		p.overlay = p.help()
	}
	return nil
}
