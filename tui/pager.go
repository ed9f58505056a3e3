package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// pager shows lines that can be more than there is room for.
type pager struct {
	shell  dialog
	lines  []theme.Span
	inked  [][]theme.Span // of the lines, where parts of them have inks of their own
	top    int
	cols   int
	rows   int
	sought string
}

func (p *pager) setLines(lines []theme.Span) {
	p.lines, p.inked = lines, nil
	p.scroll(0)
}

// setJSON shows lines of a text that is JSON, if it is.
func (p *pager) setJSON(lines []theme.Span) {
	p.setLines(lines)
	p.inked = ui.InkJSON(p.shell.Theme, lines)
}

func (p *pager) fit(width, height int) {
	p.cols, p.rows = width, max(0, height)
	p.scroll(0)
}

func (p *pager) scroll(n int) {
	p.top = max(0, min(p.top+n, len(p.lines)-p.rows))
}

// move does what keys mean for a text. It is false for other keys.
func (p *pager) move(b keymap.Binding) bool {
	switch b.Action {
	case keymap.GoUp:
		p.scroll(-1)
	case keymap.GoDown:
		p.scroll(1)
	case keymap.PageUp:
		p.scroll(-max(1, p.rows-1))
	case keymap.PageDown:
		p.scroll(max(1, p.rows-1))
	case keymap.HalfUp:
		p.scroll(-p.rows / 2)
	case keymap.HalfDown:
		p.scroll(p.rows / 2)
	case keymap.GoTop:
		p.scroll(-len(p.lines))
	case keymap.GoBottom:
		p.scroll(len(p.lines))
	case keymap.NextMatch:
		p.seek(1)
	case keymap.PreviousMatch:
		p.seek(-1)
	default:
		return false
	}
	return true
}

// seek goes to the next line that holds what is sought, around the end.
func (p *pager) seek(step int) {
	if p.sought == "" {
		return
	}
	for i := 1; i <= len(p.lines); i++ {
		at := (p.top + i*step + len(p.lines)*2) % len(p.lines)
		if p.holds(at) {
			p.top = at
			p.scroll(0)
			return
		}
	}
	p.shell.Tell(ui.Warning, "not found: "+p.sought)
}

func (p *pager) holds(i int) bool {
	return p.sought != "" && strings.Contains(strings.ToLower(p.lines[i].Text), strings.ToLower(p.sought))
}

// find is the line in which is typed what to find.
func (p *pager) find() *line {
	l := newLine(p.shell, "find", "/", p.sought)
	l.help = "enter finds; n and N go on"
	l.accept = func(text string) tea.Cmd {
		if p.sought = text; text != "" && (p.top >= len(p.lines) || !p.holds(p.top)) {
			p.seek(1)
		}
		return nil
	}
	return l
}

// draw draws as many lines as there is room for.
func (p *pager) draw() []string {
	lines := make([]string, p.rows)
	for i := range lines {
		if p.top+i >= len(p.lines) {
			lines[i] = strings.Repeat(" ", p.cols)
			continue
		}
		s := p.lines[p.top+i]
		if p.holds(p.top + i) {
			s.Ink = p.shell.Theme.Typed
		}
		if p.inked != nil && !p.holds(p.top+i) {
			lines[i] = p.shell.Theme.Compose(p.cols, p.inked[p.top+i], nil)
			continue
		}
		lines[i] = s.Ink.Paint(p.shell.Theme.Fit(s.Text, p.cols, false))
	}
	return lines
}
