package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
)

// Pager is a scrollable view of lines.
type Pager struct {
	Owner  HostSession
	Lines  []theme.Span
	Styled [][]theme.Span // lines with more than one style; nil if there are none
	Top    int
	cols   int
	Rows   int
	search string
}

// SetLines sets the lines.
func (p *Pager) SetLines(lines []theme.Span) {
	p.Lines, p.Styled = lines, nil
	p.Scroll(0)
}

// SetJSON sets the lines and highlights them if they are JSON.
func (p *Pager) SetJSON(lines []theme.Span) {
	p.SetLines(lines)
	p.Styled = StyleJSON(lines)
}

// AddSection adds a title and a text, indented and highlighted if it is JSON. It adds nothing
// for an empty text.
func (p *Pager) AddSection(title, text string, width int) {
	lines := JSONLines([]byte(text), width-3)
	if len(lines) == 0 {
		return
	}
	for i := len(p.Styled); i < len(p.Lines); i++ {
		p.Styled = append(p.Styled, p.Lines[i:i+1])
	}
	head := []theme.Span{{}, {Text: "  " + title, Role: theme.Title}}
	p.Lines, p.Styled = append(p.Lines, head...), append(p.Styled, head[:1], head[1:])
	styled := StyleJSON(lines)
	for i, line := range lines {
		row := []theme.Span{{Text: "  "}, line}
		if styled != nil {
			row = append(row[:1], styled[i]...)
		}
		p.Lines, p.Styled = append(p.Lines, theme.Span{Text: "  " + line.Text}), append(p.Styled, row)
	}
}

// Resize sets the size in cells.
func (p *Pager) Resize(width, height int) {
	p.cols, p.Rows = width, max(0, height)
	p.Scroll(0)
}

// Scroll scrolls down by n lines.
func (p *Pager) Scroll(n int) {
	p.Top = max(0, min(p.Top+n, len(p.Lines)-p.Rows))
}

// Move handles navigation keys and reports whether the action was one.
func (p *Pager) Move(b keymap.Binding) bool {
	switch b.Action {
	case keymap.GoUp:
		p.Scroll(-1)
	case keymap.GoDown:
		p.Scroll(1)
	case keymap.PageUp:
		p.Scroll(-max(1, p.Rows-1))
	case keymap.PageDown:
		p.Scroll(max(1, p.Rows-1))
	case keymap.HalfUp:
		p.Scroll(-p.Rows / 2)
	case keymap.HalfDown:
		p.Scroll(p.Rows / 2)
	case keymap.GoTop:
		p.Scroll(-len(p.Lines))
	case keymap.GoBottom:
		p.Scroll(len(p.Lines))
	case keymap.NextMatch:
		p.findNext(1)
	case keymap.PreviousMatch:
		p.findNext(-1)
	default:
		return false
	}
	return true
}

// findNext scrolls to the next line that matches the search, wrapping around.
func (p *Pager) findNext(step int) {
	if p.search == "" {
		return
	}
	for i := 1; i <= len(p.Lines); i++ {
		at := (p.Top + i*step + len(p.Lines)*2) % len(p.Lines)
		if p.Matches(at) {
			p.Top = at
			p.Scroll(0)
			return
		}
	}
	p.Owner.Notify(Warning, "not found: "+p.search)
}

// Matches reports whether line i contains the search text.
func (p *Pager) Matches(i int) bool {
	return p.search != "" && strings.Contains(strings.ToLower(p.Lines[i].Text), strings.ToLower(p.search))
}

// Find returns the input of the search.
func (p *Pager) Find() *InputLine {
	l := NewInputLine(p.Owner, "find", "/", p.search)
	l.Help = "enter searches; n and N find the next and previous match"
	l.Accept = func(text string) tea.Cmd {
		if p.search = text; text != "" && (p.Top >= len(p.Lines) || !p.Matches(p.Top)) {
			p.findNext(1)
		}
		return nil
	}
	return l
}

// Draw returns exactly Rows lines.
func (p *Pager) Draw() []string {
	lines := make([]string, p.Rows)
	for i := range lines {
		if p.Top+i >= len(p.Lines) {
			lines[i] = strings.Repeat(" ", p.cols)
			continue
		}
		s := p.Lines[p.Top+i]
		if p.Matches(p.Top + i) {
			s.Role = theme.Match
		}
		if p.Styled != nil && !p.Matches(p.Top+i) {
			lines[i] = p.Owner.Theme.Compose(p.cols, p.Styled[p.Top+i], nil)
			continue
		}
		lines[i] = p.Owner.Theme.Paint(s.Role, p.Owner.Theme.Fit(s.Text, p.cols, false))
	}
	return lines
}
