package ui

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
)

// Overlay lies over the screen and gets all keys.
type Overlay interface {
	Scopes() []keymap.Scope
	Do(keymap.Binding) tea.Cmd
	Box(width, height int) []string // at most so large, its frame included
}

// Typist is an overlay that is typed into.
type Typist interface{ Typed(tea.KeyMsg) tea.Cmd }

// Text is an overlay of lines to read.
type Text struct {
	Dialog
	title    string
	Lines    []theme.Span
	top      int
	only     string           // the lines that hold it; empty for all
	CopyText string           // what y copies; empty for nothing
	names    map[int][]string // of lines, by number: those whose name is sought come first
	Hang     int              // cells before what is left of a line that is too long
}

// Named gives a line names by which it is found.
func (t *Text) Named(line int, names []string) {
	if t.names == nil {
		t.names = make(map[int][]string)
	}
	t.names[line] = names
}

// NewText makes an overlay of lines to read.
func NewText(h Host, title string, lines ...theme.Span) *Text {
	return &Text{Dialog: NewDialog(h), title: title, Lines: lines}
}

// Scopes implements Overlay.
func (t *Text) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InText} }

// Do implements Overlay.
func (t *Text) Do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoUp:
		t.top--
	case keymap.GoDown:
		t.top++
	case keymap.PageUp:
		t.top -= max(1, t.Rows-4)
	case keymap.PageDown:
		t.top += max(1, t.Rows-4)
	case keymap.GoTop:
		t.top = 0
	case keymap.GoBottom:
		t.top = len(t.Shown())
	case keymap.AskFilter:
		t.Type(t.Find())
	case keymap.CopyCell:
		t.Copy(t.CopyText)
	case keymap.GoBack:
		t.Show(nil)
	}
	t.top = max(0, min(t.top, len(t.Shown())-(t.Rows-2)))
	return nil
}

// Find narrows the text while it is typed.
func (t *Text) Find() *Line {
	l := NewLine(t.Host, "find", "/", t.only)
	l.Help = "only the lines that hold it; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " keeps them, " + keymap.KeyFor(keymap.InLine, keymap.GoBack) + " shows what was shown"
	l.Check = func(text string) error {
		t.only, t.top = text, 0
		return nil
	}
	l.Accept = func(string) tea.Cmd { return nil }
	return l
}

// Shown are the lines as they are seen: long ones are broken.
func (t *Text) Shown() []theme.Span {
	var lines []theme.Span
	for _, line := range t.meant() {
		before := min(t.Hang, len(line.Text))
		for before > 0 && before < len(line.Text) && !utf8.RuneStart(line.Text[before]) {
			before--
		}
		if ansi.StringWidth(line.Text) <= t.Wide() {
			lines = append(lines, line)
			continue
		}
		lead := line.Text[:before]
		for _, piece := range theme.Wrap(line.Text[before:], t.Wide()-t.Hang) {
			lines = append(lines, theme.Span{Text: lead + piece.Text, Role: line.Role})
			lead = strings.Repeat(" ", before)
		}
	}
	return lines
}

// meant are the lines that hold what is sought, in front those that are called
// so.
func (t *Text) meant() []theme.Span {
	if t.only == "" {
		return t.Lines
	}
	var first, others []theme.Span
	for i, line := range t.Lines {
		switch {
		case slices.Contains(t.names[i], t.only):
			first = append(first, line)
		case strings.Contains(strings.ToLower(line.Text), strings.ToLower(t.only)):
			others = append(others, line)
		}
	}
	return append(first, others...)
}

// widestText is how wide a text becomes, its frame included.
const widestText = 96

// Wide is how many cells its lines have.
func (t *Text) Wide() int { return min(t.Columns-4, widestText) - 4 }

// Box implements Overlay.
func (t *Text) Box(_, height int) []string {
	width := t.Wide()
	var lines []string
	shown := t.Shown()
	for i := t.top; i < len(shown) && len(lines) < height-2; i++ {
		lines = append(lines, t.Theme.Paint(shown[i].Role, t.Theme.Fit(shown[i].Text, width, false)))
	}
	if len(shown) == 0 {
		lines = append(lines, t.Theme.Paint(theme.Dim, t.Theme.Fit("nothing holds "+t.only, width, false)))
	}
	title := t.title
	if len(shown) > height-2 {
		title += "  (" + t.Theme.Up + t.Theme.Down + ")"
	}
	return t.Theme.Frame(title, width, lines)
}
