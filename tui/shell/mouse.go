package shell

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// click is the position of a click in cells, and its time.
type click struct {
	x, y int
	time time.Time
}

// doubleClickInterval is the maximum interval between the clicks of a double click.
const doubleClickInterval = 500 * time.Millisecond

// isDoubleClick reports whether a click is the second one of a double click.
func (c click) isDoubleClick(previous click) bool {
	isSamePlace := c.x == previous.x && c.y == previous.y
	return isSamePlace && c.time.Sub(previous.time) < doubleClickInterval
}

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
func (m *Mouse) Enable() tea.Cmd {
	if !m.enabled {
		return nil
	}
	return tea.EnableMouseCellMotion
}

// Toggle toggles mouse events. If disabled, the terminal selects text with the mouse.
func (m *Mouse) Toggle() tea.Cmd {
	key := keymap.KeyFor(keymap.Everywhere, keymap.ToggleMouse)
	m.enabled = !m.enabled
	if m.enabled {
		m.host.Notify(ui.Info, "mouse enabled; select text with shift, "+key+" disables it")
		return tea.EnableMouseCellMotion
	}
	m.host.Notify(ui.Info, "mouse disabled; "+key+" enables it")
	return tea.DisableMouse
}

// Handle handles a mouse event. The mouse selects, scrolls and opens; it never accepts a
// confirmation.
func (m *Mouse) Handle(event tea.MouseMsg) tea.Cmd {
	if m.tabs.TooSmall() || m.tabs.Front() == nil || m.host.Input() != nil {
		return nil
	}
	switch event.Button {
	case tea.MouseButtonWheelUp:
		return m.wheel(keymap.GoUp)
	case tea.MouseButtonWheelDown:
		return m.wheel(keymap.GoDown)
	}
	isClick := event.Button == tea.MouseButtonLeft && event.Action == tea.MouseActionPress
	if !isClick || m.host.Overlay() != nil {
		return nil
	}
	clicked := click{x: event.X, y: event.Y, time: m.host.CurrentSession().Now}
	double := clicked.isDoubleClick(m.lastClick)
	m.lastClick = clicked
	if event.Y == ui.TabRow {
		return m.clickTab(event.X)
	}
	x, y := m.tabs.origin()
	column, row := event.X-x, event.Y-y
	isOnScreen := column >= 0 && column < m.tabs.width-2*x && row >= 0 && row < m.tabs.height-ui.ChromeHeight
	if c, ok := m.tabs.Front().(ui.Clicker); ok && isOnScreen {
		return c.Click(column, row, double)
	}
	return nil
}

// wheel scrolls the overlay or screen in front.
func (m *Mouse) wheel(action keymap.Action) tea.Cmd {
	var cmds []tea.Cmd
	for range wheelRows {
		switch overlay := m.host.Overlay().(type) {
		case nil:
			cmds = append(cmds, m.tabs.Front().Do(keymap.Binding{Action: action}))
		case *ui.Text, *ui.Secret, *ui.Picker, *Menu, *browse.Chooser, *ui.Confirm, *ui.TypedConfirm:
			cmds = append(cmds, overlay.Do(keymap.Binding{Action: action}))
		}
	}
	return tea.Batch(cmds...)
}

// clickTab opens the tab at a position of line 2, or the help.
func (m *Mouse) clickTab(x int) tea.Cmd {
	tab, isHelp := m.tabs.tabAt(x)
	if tab >= 0 {
		return m.tabs.Open(tab)
	}
	if isHelp {
		return m.host.Do(keymap.Binding{Action: keymap.ShowHelp}, "")
	}
	return nil
}
