package shell

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// NewHelp returns the help overlay: the keys of the screen and the meaning of its columns, then the
// keys of other scopes, the global ones last. The keys are generated from the key table.
func NewHelp(h ui.Host) ui.Overlay {
	const keysWidth = 18 // cells
	text := ui.NewText(h, "Help")
	text.HangingIndent = len("  ") + keysWidth + len(" ")
	heading := func(title string) {
		if len(text.Lines) > 0 {
			text.Lines = append(text.Lines, theme.Span{})
		}
		text.Lines = append(text.Lines, theme.Span{Text: title, Role: theme.Breadcrumb})
	}
	line := func(start, meaning string) {
		start = text.Session.Theme.Fit(start, keysWidth, false)
		text.Lines = append(text.Lines, theme.Span{Text: "  " + start + " " + meaning})
	}
	scopes := append(h.Front().Scopes(), keymap.Everywhere)
	explainer, hasColumns := h.Front().(ui.Explainer)
	for i, scope := range scopes {
		heading(keymap.ScopeNames[scope])
		for _, b := range effective(h.Front(), scopes, scope) {
			text.Keywords[len(text.Lines)] = strings.Fields(b.Keys)
			line(b.Keys, b.Description())
		}
		if i > 0 || !hasColumns {
			continue
		}
		heading("Columns of the list")
		for _, explanation := range explainer.Explanations() {
			line(explanation.Title, explanation.Meaning)
		}
	}
	return text
}

// MenuHost is the part of the app that the menu uses.
type MenuHost interface {
	CurrentSession() *ui.Session
	Notify(l ui.Level, text string)
	Front() ui.Screen
	ShowOverlay(o ui.Overlay)
}

// NewMenu returns the menu of the actions of the screen in front.
func NewMenu(h MenuHost, k *Keyboard) *Menu {
	m := &Menu{host: h, keys: k, screen: h.Front()}
	scopes := append(m.screen.Scopes(), keymap.Everywhere)
	for _, s := range scopes {
		if s == keymap.InLists {
			continue
		}
		m.Rows = append(m.Rows, effective(m.screen, scopes, s)...)
	}
	return m
}

// Menu lists the actions of a screen, and why some are unavailable.
type Menu struct {
	host   MenuHost
	keys   *Keyboard
	screen ui.Screen // screen of the actions
	Rows   []keymap.Binding
	At     int // index of the selected row
}

func (m *Menu) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InMenu} }

func (m *Menu) Do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoUp:
		m.At = max(0, m.At-1)
	case keymap.GoDown:
		m.At = min(len(m.Rows)-1, m.At+1)
	case keymap.GoBack:
		m.host.ShowOverlay(nil)
	case keymap.Accept:
		m.host.ShowOverlay(nil)
		if m.host.Front() != m.screen {
			m.host.Notify(ui.Warning, "cancelled: the screen changed")
			return nil
		}
		return m.keys.perform(m.Rows[m.At], "")
	}
	return nil
}

func (m *Menu) Box(width, height int) []string {
	t := m.host.CurrentSession().Theme
	width = min(width, 76) - 4
	room := max(1, height-2)
	first := max(0, m.At-room+1)
	var lines []string
	for i := first; i < len(m.Rows) && len(lines) < room; i++ {
		row := theme.Span{Text: m.line(m.Rows[i])}
		if m.reason(m.Rows[i]) != "" {
			row.Role = theme.Dim
		}
		lines = append(lines, t.Row(width, i == m.At, []theme.Span{row}, nil))
	}
	return t.ScrollFrame("Actions", width, lines, first, len(m.Rows)-first-len(lines))
}

// reason returns why a binding cannot be used now, "" if it can. Bindings of scope Everywhere
// can always be used.
func (m *Menu) reason(b keymap.Binding) string {
	if b.Scope == keymap.Everywhere {
		return ""
	}
	return Reason(m.host.CurrentSession(), b)
}

// line returns the key and description of a binding. If it is unavailable, the reason
// is shown where it is always visible.
func (m *Menu) line(b keymap.Binding) string {
	t := m.host.CurrentSession().Theme
	labelWidth := 0
	for _, row := range m.Rows {
		labelWidth = max(labelWidth, len(row.Label()))
	}
	label := t.Fit(b.Label(), labelWidth+2, false)
	if reason := m.reason(b); reason != "" {
		return label + t.Fit(b.Name(), unavailableNameWidth, false) + "  " + reason
	}
	return label + b.Description()
}

// unavailableNameWidth is the width of the name of an unavailable binding, in cells.
const unavailableNameWidth = 16
