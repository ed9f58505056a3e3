package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// menu lists what can be done, and why what cannot.
type menu struct {
	*keyboard
	of   ui.Screen // whose actions they are
	rows []keymap.Binding
	at   int
}

func (m *menu) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InMenu} }

func (m *menu) Do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoUp:
		m.at = max(0, m.at-1)
	case keymap.GoDown:
		m.at = min(len(m.rows)-1, m.at+1)
	case keymap.GoBack:
		m.Show(nil)
	case keymap.Accept:
		m.Show(nil)
		if m.Front() != m.of {
			m.Tell(ui.Warning, "nothing was done, since another screen took the place of the one that it was about")
			return nil
		}
		return m.perform(m.rows[m.at], "")
	}
	return nil
}

func (m *menu) Box(width, height int) []string {
	t := m.Theme
	width = min(width, 76) - 4
	room := max(1, height-2)
	var lines []string
	for i := max(0, m.at-room+1); i < len(m.rows) && len(lines) < room; i++ {
		pointer, ink := "  ", theme.Ink("")
		if i == m.at {
			pointer, ink = t.Pointer+" ", t.Selected
		}
		if m.reason(m.rows[i]) != "" && m.rows[i].Scope != keymap.Everywhere {
			ink = t.Dim
		}
		lines = append(lines, ink.Paint(t.Fit(pointer+m.line(m.rows[i]), width, false)))
	}
	return m.Theme.Frame("Actions", width, lines)
}

// line is a key and what it does; of one that cannot be used now the reason
// stands where all of it is seen.
func (m *menu) line(b keymap.Binding) string {
	room := 0
	for _, one := range m.rows {
		room = max(room, len(one.Label()))
	}
	text := m.Theme.Fit(b.Label(), room+2, false)
	if reason := m.reason(b); reason != "" && b.Scope != keymap.Everywhere {
		return text + m.Theme.Fit(b.Name(), widestName, false) + "  " + reason
	}
	return text + b.Said()
}

// widestName is what is seen of what a key does where the reason why it cannot
// be used stands behind it.
const widestName = 16
