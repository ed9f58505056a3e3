package output

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/client/display"
)

// StatusLine is the line of a terminal on which a command shows its progress. It is rewritten
// without escape sequences, which old consoles of Windows do not know. A nil *StatusLine shows
// nothing. Its methods can be called concurrently.
type StatusLine struct {
	out   io.Writer
	width func() int // of the terminal, in cells

	mu    sync.Mutex // guards the line on the terminal and the field below
	shown int        // number of cells with text
}

// NewStatusLine returns the line of a terminal.
func NewStatusLine(terminal io.Writer) *StatusLine {
	return &StatusLine{out: terminal, width: func() int { return widthOf(terminal) }}
}

// Show replaces the text of the line. A text that is wider than the terminal is cut, since a line
// that wraps cannot be rewritten; the user may have changed the width.
func (l *StatusLine) Show(text string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.draw(text)
}

// Print calls print, which writes lines to the same terminal, with the line cleared.
func (l *StatusLine) Print(print func()) {
	if l == nil {
		print()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	print()
}

// Clear clears the line.
func (l *StatusLine) Clear() { l.Print(func() {}) }

// clear clears the line, unless it is empty. The caller holds l.mu.
func (l *StatusLine) clear() {
	if l.shown > 0 {
		l.draw("")
	}
}

// draw writes a text over the previous one, and leaves the cursor at the start of the line, where the
// next text of the terminal or of another program starts. The caller holds l.mu.
func (l *StatusLine) draw(text string) {
	room := l.width() - 1 // in the last column, some terminals wrap
	text = ansi.Truncate(display.Sanitize(text), room, "")
	cells := ansi.StringWidth(text)
	blanks := max(0, min(l.shown, room)-cells)
	fmt.Fprint(l.out, "\r", text, strings.Repeat(" ", blanks), "\r")
	l.shown = cells
}
