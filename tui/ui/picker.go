package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
)

// Choice is one row of a picker.
type Choice struct {
	Spans  []theme.Span
	Choose func() tea.Cmd
}

// Picker is a menu of choices.
type Picker struct {
	HostSession
	Title   string
	Note    string // below the choices
	Choices []Choice
	At      int // index of the selected choice
}

func (p *Picker) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InMenu} }

func (p *Picker) Do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoUp:
		p.At = max(0, p.At-1)
	case keymap.GoDown:
		p.At = max(0, min(len(p.Choices)-1, p.At+1))
	case keymap.GoBack:
		p.Host.ShowOverlay(nil)
	case keymap.Accept:
		p.Host.ShowOverlay(nil)
		if p.At < len(p.Choices) {
			return p.Choices[p.At].Choose()
		}
	}
	return nil
}

func (p *Picker) Box(width, height int) []string {
	t := p.Session.Theme
	width = min(width, 80) - 4
	room := max(1, height-4)
	var lines []string
	for i := max(0, p.At-room+1); i < len(p.Choices) && len(lines) < room; i++ {
		lines = append(lines, t.Row(width, i == p.At, p.Choices[i].Spans, nil))
	}
	lines = append(lines, theme.Spaces(width), t.Paint(theme.Dim, t.Fit(p.Note, width, false)))
	return t.Frame(p.Title, width, lines)
}
