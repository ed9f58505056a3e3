package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
)

// choice is one line of a picker.
type choice struct {
	spans []theme.Span
	take  func() tea.Cmd
}

// picker lets one of several things be chosen.
type picker struct {
	dialog
	title   string
	note    string // below them
	choices []choice
	at      int
}

func (p *picker) scopes() []keymap.Scope { return []keymap.Scope{keymap.InMenu} }

func (p *picker) do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoUp:
		p.at = max(0, p.at-1)
	case keymap.GoDown:
		p.at = max(0, min(len(p.choices)-1, p.at+1))
	case keymap.GoBack:
		p.Show(nil)
	case keymap.Accept:
		p.Show(nil)
		if p.at < len(p.choices) {
			return p.choices[p.at].take()
		}
	}
	return nil
}

func (p *picker) box(width, height int) []string {
	t := p.Theme
	width = min(width, 80) - 4
	room := max(1, height-4)
	var lines []string
	for i := max(0, p.at-room+1); i < len(p.choices) && len(lines) < room; i++ {
		pointer := theme.Span{Text: "  "}
		if i == p.at {
			pointer = theme.Span{Text: t.Pointer + " ", Ink: t.Selected}
		}
		lines = append(lines, p.Theme.Compose(width, append([]theme.Span{pointer}, p.choices[i].spans...), nil))
	}
	lines = append(lines, strings.Repeat(" ", width), t.Dim.Paint(t.Fit(p.note, width, false)))
	return p.Theme.Frame(p.title, width, lines)
}
