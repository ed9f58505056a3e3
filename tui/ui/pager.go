package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
)

// Pager is a scrollable view of lines, with a cursor. Lines start with a space.
type Pager struct {
	Owner HostSession
	Lines []theme.Span
	Data  LineData // optional data of Lines
	Top   int      // index of the first visible line
	At    int      // index of the line with the cursor
	Rows  int      // number of visible lines
	view  pagerView
}

// pagerView is how lines are drawn.
type pagerView struct {
	cols     int
	search   string
	noCursor bool // no line is selected, as in a preview
}

// LineData is optional data of lines, by line index.
type LineData struct {
	Styled [][]theme.Span // lines with more than one style
	Values []string       // to copy; nil for the text after the label
}

// SetLines sets the lines.
func (p *Pager) SetLines(lines []theme.Span) {
	p.Lines = lines
	p.Data = LineData{}
	p.Scroll(0)
}

// SetJSON sets the lines and highlights them if they are JSON.
func (p *Pager) SetJSON(lines []theme.Span) {
	styled, values := StyleJSON(lines), jsonValues(lines)
	for i := range lines {
		lines[i].Text = "  " + lines[i].Text
		if styled != nil {
			styled[i] = append([]theme.Span{{Text: "  "}}, styled[i]...)
		}
	}
	p.SetLines(lines)
	if styled != nil {
		p.Data = LineData{Styled: styled, Values: values}
	}
}

// Value returns the value in the line with the cursor.
func (p *Pager) Value() string {
	if p.At >= len(p.Lines) {
		return ""
	}
	if p.At < len(p.Data.Values) {
		return p.Data.Values[p.At]
	}
	text := strings.TrimSpace(p.Lines[p.At].Text)
	if _, value, labelled := strings.Cut(text, "  "); labelled {
		return strings.TrimSpace(value)
	}
	return text
}

// AddSection adds a title and a text, indented and highlighted if it is JSON. It adds nothing
// for an empty text.
func (p *Pager) AddSection(title, text string, width int) {
	lines := JSONLines([]byte(text), width-3)
	if len(lines) == 0 {
		return
	}
	p.completeData()
	p.addLine(theme.Span{}, []theme.Span{{}}, "")
	head := theme.Span{Text: "  " + title, Role: theme.Title}
	p.addLine(head, []theme.Span{head}, "")

	styled, values := StyleJSON(lines), jsonValues(lines)
	for i, line := range lines {
		spans := []theme.Span{{Text: "  "}}
		if styled != nil {
			spans = append(spans, styled[i]...)
		} else {
			spans = append(spans, line)
		}
		p.addLine(theme.Span{Text: "  " + line.Text}, spans, values[i])
	}
}

// completeData adds the data of lines that have none, so that data of more lines can follow.
func (p *Pager) completeData() {
	for i := len(p.Data.Styled); i < len(p.Lines); i++ {
		p.Data.Styled = append(p.Data.Styled, p.Lines[i:i+1])
	}
	for i := len(p.Data.Values); i < len(p.Lines); i++ {
		p.Data.Values = append(p.Data.Values, strings.TrimSpace(p.Lines[i].Text))
	}
}

// addLine adds a line with its data.
func (p *Pager) addLine(line theme.Span, styled []theme.Span, value string) {
	p.Lines = append(p.Lines, line)
	p.Data.Styled = append(p.Data.Styled, styled)
	p.Data.Values = append(p.Data.Values, value)
}

// Resize sets the size in cells.
func (p *Pager) Resize(width, height int) {
	p.view.cols = width
	p.Rows = max(0, height)
	p.Scroll(0)
}

// Scroll moves the cursor down by n lines, past blank lines and titles, and scrolls to it.
func (p *Pager) Scroll(n int) {
	step := 1
	if n < 0 {
		step = -1
	}
	p.At = max(0, min(p.At+n, len(p.Lines)-1))
	for i := p.At + step; i >= 0 && i < len(p.Lines) && isGap(p.Lines[p.At]); i += step {
		p.At = i
	}
	for i := p.At; step < 0 && i < len(p.Lines) && isGap(p.Lines[p.At]); i++ {
		p.At = i // the first line is a title
	}
	p.Top = min(p.Top, p.At)
	p.Top = max(p.Top, p.At-p.Rows+1)
	p.Top = max(0, min(p.Top, len(p.Lines)-p.Rows))
}

// isGap reports whether the cursor does not stay in a line: it is blank, or a title.
func isGap(line theme.Span) bool {
	return line.Role == theme.Title || strings.TrimSpace(line.Text) == ""
}

// tabLines is the number of lines of a tab bar, with the blank line below it.
const tabLines = 2

// DrawTabs draws a tab bar, and the lines below it, in height lines. A preview has no tabs.
func (p *Pager) DrawTabs(names []string, open, height int) []string {
	p.ResizeTabs(p.view.cols, height)
	if p.view.noCursor {
		return p.Draw()
	}
	tabs := p.Owner.Session.Theme.TabBar(names, open, p.view.cols)
	return append([]string{tabs, theme.Spaces(p.view.cols)}, p.Draw()...)
}

// ResizeTabs is Resize with a tab bar above the lines.
func (p *Pager) ResizeTabs(width, height int) {
	if !p.view.noCursor {
		height -= tabLines
	}
	p.Resize(width, height)
}

// HideCursor makes the view a preview.
func (p *Pager) HideCursor() { p.view.noCursor = true }

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
	if p.view.search == "" {
		return
	}
	for distance := 1; distance <= len(p.Lines); distance++ {
		i := (p.At + distance*step + len(p.Lines)*2) % len(p.Lines)
		if p.Matches(i) {
			p.Scroll(i - p.At)
			return
		}
	}
	p.Owner.Host.Notify(Warning, "not found: "+p.view.search)
}

// Matches reports whether line i contains the search text.
func (p *Pager) Matches(i int) bool {
	text, search := strings.ToLower(p.Lines[i].Text), strings.ToLower(p.view.search)
	return search != "" && strings.Contains(text, search)
}

// SetSearch sets the text of the search, "" for none. Lines that contain it are highlighted.
func (p *Pager) SetSearch(text string) { p.view.search = text }

// Search returns the text of the search.
func (p *Pager) Search() string { return p.view.search }

// Find returns the input of the search.
func (p *Pager) Find() *InputLine {
	l := NewInputLine(p.Owner.Host, "find", "/", p.view.search)
	l.Help = "enter searches; n and N find the next and previous match"
	l.Accept = func(text string) tea.Cmd {
		p.SetSearch(text)
		isMatch := p.At < len(p.Lines) && p.Matches(p.At)
		if text != "" && !isMatch {
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
		if p.Top+i < len(p.Lines) {
			lines[i] = p.drawLine(p.Top + i)
		} else {
			lines[i] = theme.Spaces(p.view.cols)
		}
	}
	return lines
}

// drawLine draws line i. Matches of the search have one style, and the line with the cursor keeps its
// colour on the bar.
func (p *Pager) drawLine(i int) string {
	t := p.Owner.Session.Theme
	line := p.Lines[i]
	hasCursor := i == p.At && !p.view.noCursor
	isMatch := p.Matches(i)
	if p.Data.Styled != nil && !isMatch && !hasCursor {
		return t.Compose(p.view.cols, p.Data.Styled[i], nil)
	}
	if hasCursor && !isMatch && line.Text != "" {
		return t.SignRow(p.view.cols, true, []theme.Span{{Text: line.Text[1:], Role: line.Role}}, nil)
	}
	if hasCursor && line.Text != "" {
		line.Text = t.Pointer + line.Text[1:]
	}
	if isMatch {
		line.Role = theme.Match
	}
	return t.Paint(line.Role, t.Fit(line.Text, p.view.cols, false))
}
