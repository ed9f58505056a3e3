package ui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
)

// Overlay is a box over the screen that receives all keys.
type Overlay interface {
	Scopes() []keymap.Scope
	Do(keymap.Binding) tea.Cmd
	Box(width, height int) []string // at most width x height cells, including the frame
}

// KeyHandler is implemented by overlays with text input; it receives keys without a
// binding.
type KeyHandler interface{ HandleKey(tea.KeyMsg) }

// Text is an overlay of read-only lines.
type Text struct {
	HostSession
	title         string
	Lines         []theme.Span
	top           int              // index of the first visible line
	search        string           // lines that contain it are shown; empty for all
	CopyText      string           // copied by y; empty for nothing
	Keywords      map[int][]string // keyed by line index; lines with a matching keyword are listed first
	HangingIndent int              // indent of continuation lines, in cells
}

// NewText returns an overlay of read-only lines.
func NewText(h Host, title string, lines ...theme.Span) *Text {
	return &Text{HostSession: NewHostSession(h), title: title, Lines: lines, Keywords: make(map[int][]string)}
}

func (t *Text) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InText} }

func (t *Text) Do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoUp:
		t.top--
	case keymap.GoDown:
		t.top++
	case keymap.PageUp:
		t.top -= t.pageRows()
	case keymap.PageDown:
		t.top += t.pageRows()
	case keymap.GoTop:
		t.top = 0
	case keymap.GoBottom:
		t.top = len(t.WrappedLines())
	case keymap.OpenFilter:
		t.Host.ShowInput(t.Find())
	case keymap.CopyCell:
		t.Host.Copy(t.CopyText)
	case keymap.GoBack:
		t.Host.ShowOverlay(nil)
	}
	t.top = max(0, min(t.top, len(t.WrappedLines())-(t.Session.Rows-frameRows)))
	return nil
}

// pageRows returns the number of lines by which a page is scrolled: those in the frame but two, so
// that the reader sees where the page before it ended.
func (t *Text) pageRows() int { return max(1, t.Session.Rows-frameRows-2) }

// frameRows is the number of rows of a frame, above and below the lines in it.
const frameRows = 2

// Find opens a search that filters the lines while the user types.
func (t *Text) Find() *InputLine {
	l := NewInputLine(t.Host, "find", "/", t.search)
	l.Help = "show only matching lines; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " applies, " +
		keymap.KeyFor(keymap.InLine, keymap.GoBack) + " cancels"
	// Check is called after each change of the text.
	l.Check = func(text string) error {
		t.search = text
		t.top = 0
		return nil
	}
	l.Accept = func(string) tea.Cmd { return nil }
	return l
}

// WrappedLines returns the matching lines, wrapped to the width of the overlay.
func (t *Text) WrappedLines() []theme.Span {
	var lines []theme.Span
	for _, line := range t.matching() {
		if ansi.StringWidth(line.Text) <= t.InnerWidth() {
			lines = append(lines, line)
			continue
		}
		start := ansi.Truncate(line.Text, t.HangingIndent, "")
		indent := ansi.StringWidth(start)
		for _, piece := range theme.Wrap(line.Text[len(start):], t.InnerWidth()-t.HangingIndent) {
			lines = append(lines, theme.Span{Text: start + piece.Text, Role: line.Role})
			start = theme.Spaces(indent)
		}
	}
	return lines
}

// matching returns the lines that contain the search text; lines with a matching
// keyword are first.
func (t *Text) matching() []theme.Span {
	if t.search == "" {
		return t.Lines
	}
	var byKeyword, byText []theme.Span
	for i, line := range t.Lines {
		if slices.Contains(t.Keywords[i], t.search) {
			byKeyword = append(byKeyword, line)
		} else if strings.Contains(strings.ToLower(line.Text), strings.ToLower(t.search)) {
			byText = append(byText, line)
		}
	}
	return append(byKeyword, byText...)
}

// maxTextWidth is the maximum width of a text overlay, including the frame.
const maxTextWidth = 96

// The columns of a frame, and those of the screen that stay visible around it, both sides together.
const (
	frameColumns  = 4
	marginColumns = 4
)

// InnerWidth returns the width of the lines in cells.
func (t *Text) InnerWidth() int {
	return min(t.Session.Columns-marginColumns, maxTextWidth) - frameColumns
}

func (t *Text) Box(_, height int) []string {
	width := t.InnerWidth()
	painter := t.Session.Theme
	wrapped := t.WrappedLines()
	var lines []string
	for i := t.top; i < len(wrapped) && len(lines) < height-frameRows; i++ {
		lines = append(lines, painter.Paint(wrapped[i].Role, painter.Fit(wrapped[i].Text, width, false)))
	}
	if len(wrapped) == 0 {
		lines = append(lines, painter.Paint(theme.Dim, painter.Fit("no match for "+t.search, width, false)))
	}
	return painter.ScrollFrame(t.title, width, lines, t.top, len(wrapped)-t.top-len(lines))
}
