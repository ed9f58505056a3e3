package shell

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

// MouseHost is the part of the app that the mouse uses.
type MouseHost interface {
	CurrentSession() *ui.Session
	Notify(l ui.Level, text string)
	Overlay() ui.Overlay
	Input() *ui.InputLine
	// Do runs a binding of scope Everywhere; key is the key that was pressed.
	Do(b keymap.Binding, key string) tea.Cmd
}

// Mouse handles the mouse.
type Mouse struct {
	host      MouseHost
	tabs      *Tabs
	enabled   bool // mouse events are enabled
	lastClick click
}

// NewMouse returns a mouse that works on the screens of the tabs.
func NewMouse(h MouseHost, t *Tabs, enabled bool) *Mouse {
	return &Mouse{host: h, tabs: t, enabled: enabled}
}

// Enable enables mouse events if configured, at startup and after the program was
// suspended.
func (p *Mouse) Enable() tea.Cmd {
	if !p.enabled {
		return nil
	}
	return tea.EnableMouseCellMotion
}

// Toggle toggles mouse events. If disabled, the terminal selects text with the mouse.
func (p *Mouse) Toggle() tea.Cmd {
	key := keymap.KeyFor(keymap.Everywhere, keymap.ToggleMouse)
	p.enabled = !p.enabled
	if p.enabled {
		p.host.Notify(ui.Info, "mouse enabled; select text with shift, "+key+" disables it")
		return tea.EnableMouseCellMotion
	}
	p.host.Notify(ui.Info, "mouse disabled; "+key+" enables it")
	return tea.DisableMouse
}

// Handle handles a mouse event. The mouse selects, scrolls and opens; it never accepts a
// confirmation.
func (p *Mouse) Handle(m tea.MouseMsg) tea.Cmd {
	if p.tabs.TooSmall() || p.tabs.Front() == nil || p.host.Input() != nil {
		return nil
	}
	switch m.Button {
	case tea.MouseButtonWheelUp:
		return p.wheel(keymap.GoUp)
	case tea.MouseButtonWheelDown:
		return p.wheel(keymap.GoDown)
	}
	isClick := m.Button == tea.MouseButtonLeft && m.Action == tea.MouseActionPress
	if !isClick || p.host.Overlay() != nil {
		return nil
	}
	now := p.host.CurrentSession().Now
	double := m.X == p.lastClick.x && m.Y == p.lastClick.y && now.Sub(p.lastClick.at) < doubleClick
	p.lastClick = click{m.X, m.Y, now}
	if m.Y == ui.TabRow {
		return p.clickTab(m.X)
	}
	if c, ok := p.tabs.Front().(ui.Clicker); ok && m.Y >= ui.HeaderHeight && m.Y < p.tabs.height-2 {
		return c.Click(m.X, m.Y-ui.HeaderHeight, double)
	}
	return nil
}

// wheel scrolls the overlay or screen in front.
func (p *Mouse) wheel(action keymap.Action) tea.Cmd {
	var cmds []tea.Cmd
	for range wheelRows {
		switch overlay := p.host.Overlay().(type) {
		case nil:
			cmds = append(cmds, p.tabs.Front().Do(keymap.Binding{Action: action}))
		case *ui.Text, *ui.Secret, *ui.Picker, *Menu, *browse.Chooser, *ui.Confirm, *ui.TypedConfirm:
			cmds = append(cmds, overlay.Do(keymap.Binding{Action: action}))
		}
	}
	return tea.Batch(cmds...)
}

// clickTab opens the tab at a position of line 2, or the help.
func (p *Mouse) clickTab(x int) tea.Cmd {
	screen := p.tabs.width
	painter := p.host.CurrentSession().Theme
	position := 0
	left, right := p.tabs.spans()
	for i, s := range left {
		_, width := painter.Sanitize(s.Text, screen)
		if x >= position && x < position+width && i%2 == 1 {
			return p.tabs.Open(i / 2)
		}
		position += width
	}
	_, width := painter.Sanitize(right[0].Text, screen)
	if x >= screen-width {
		return p.host.Do(keymap.Binding{Action: keymap.ShowHelp}, "")
	}
	return nil
}
