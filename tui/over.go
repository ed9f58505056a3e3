package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// newHelp lists the keys of what is on the screen, then those of everywhere. It
// is made of the table of keys, like dispatch.
func newHelp(a *app) ui.Overlay {
	const keys = 18 // cells
	t := ui.NewText(a, "Help")
	t.Hang = 2 + keys + 1
	scopes := append(a.Front().Scopes(), keymap.Everywhere)
	for _, s := range scopes {
		if len(t.Lines) > 0 {
			t.Lines = append(t.Lines, theme.Span{})
		}
		t.Lines = append(t.Lines, theme.Span{Text: keymap.ScopeNames[s], Ink: a.Theme.Crumb})
		for _, b := range a.inUse(scopes, s) {
			t.Named(len(t.Lines), strings.Fields(b.Keys))
			t.Lines = append(t.Lines, theme.Span{Text: "  " + a.Theme.Fit(b.Keys, keys, false) + " " + b.Said()})
		}
	}
	return t
}

// newTwin shows the command that does the same.
func newTwin(a *app, command string) ui.Overlay {
	profile := ""
	if name := a.Profile; name != "" {
		profile = " --profile " + ui.Quote(name) // the shell's is another one, maybe
	}
	command += profile
	t := ui.NewText(a, "The same on the command line")
	t.CopyText = command
	t.Lines = append(t.Lines, theme.Span{Text: command}, theme.Span{}, theme.Span{Text: "copied, where the terminal allows it", Ink: a.Theme.Dim})
	if d, ok := a.Front().(ui.Commander); ok {
		t.Lines = append(t.Lines, theme.Span{}, theme.Span{Text: "What can be done here:", Ink: a.Theme.Crumb})
		for _, deed := range d.Commands() {
			t.Lines = append(t.Lines, theme.Span{Text: deed + profile})
		}
	}
	a.Copy(command)
	return t
}

// menu lists what can be done, and why what cannot.
type menu struct {
	*app
	of   ui.Screen // whose actions they are
	rows []keymap.Binding
	at   int
}

func newMenu(a *app) ui.Overlay {
	m := &menu{app: a, of: a.Front()}
	scopes := append(m.of.Scopes(), keymap.Everywhere)
	for _, s := range scopes {
		if s == keymap.InLists {
			continue
		}
		m.rows = append(m.rows, a.inUse(scopes, s)...)
	}
	return m
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
