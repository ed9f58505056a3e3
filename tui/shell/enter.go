package shell

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/ui"
)

// enterKey decides whether enter that arrives together with text ends an input, or is a line break
// of a paste on a terminal without bracketed paste. Slow connections deliver text and enter
// together, too. Enter is kept for ui.PasteInterval: it ends the input if nothing follows.
type enterKey struct {
	lastText  time.Time // when text was typed into the open field
	isPaste   bool      // text has followed enter at once
	isWaiting bool      // enter is kept
	number    int       // of the last enter that was kept
}

// EnterMsg reports that nothing has followed enter in time.
type EnterMsg struct{ number int }

// isText reports whether a key is text.
func isText(m tea.KeyMsg) bool { return m.Type == tea.KeyRunes || m.Type == tea.KeySpace }

// hasField reports whether text is typed into a field. Typed confirmations are none: text and
// enter that arrive together must not answer them.
func hasField(h KeyboardHost) bool {
	if h.Input() != nil {
		return true
	}
	form, isForm := h.Overlay().(*ui.Form)
	return isForm && form.Fields[form.At].Options == nil
}

// hold keeps enter that arrives together with text. It reports whether the key is kept.
func (e *enterKey) hold(m tea.KeyMsg, now time.Time) bool {
	isTogether := now.Sub(e.lastText) < ui.PasteInterval
	if !isTogether {
		e.isPaste = false
	}
	if isText(m) {
		e.lastText = now
	}
	isKept := m.Type == tea.KeyEnter && isTogether && !e.isPaste
	if isKept {
		e.isWaiting = true
		e.number++
	}
	return isKept
}

// typedAhead notes that text has opened the field: enter that arrives together with it is kept
// from ending the input, since it can be a paste.
func (e *enterKey) typedAhead(now time.Time) {
	e.lastText = now
	e.isPaste = true
}

// release returns enter that is kept and that another key follows at once. It is a line break.
func (e *enterKey) release() (m tea.KeyMsg, wasKept bool) {
	wasKept = e.isWaiting
	e.isWaiting = false
	e.isPaste = e.isPaste || wasKept
	return tea.KeyMsg{Type: tea.KeyEnter}, wasKept
}

// due reports whether the enter of a message is still kept, and forgets it.
func (e *enterKey) due(m EnterMsg) bool {
	isDue := e.isWaiting && e.number == m.number
	if isDue {
		e.isWaiting = false
	}
	return isDue
}
