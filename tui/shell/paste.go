package shell

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/ui"
)

// pasteDetector detects pastes while no input is open: the pasted characters arrive as keys and
// would run actions.
type pasteDetector struct {
	recent [4]time.Time // times of the last keys
	until  time.Time    // keys are ignored until then
}

const (
	PasteTimeout = 250 * time.Millisecond
	pasteRunes   = 5 // characters in one message that are treated as a paste
)

// pasted reports whether a key is part of a paste. Navigation keys are allowed to
// repeat fast.
func (b *pasteDetector) pasted(m tea.KeyMsg, now time.Time, moves bool) bool {
	keys := len(m.Runes)
	if keys == 0 || strings.Count(string(m.Runes), string(m.Runes[:1])) == keys {
		keys = 1 // enter, or a key that is held down
	}
	if m.Paste || keys >= pasteRunes || now.Before(b.until) {
		b.until = now.Add(PasteTimeout)
		return true
	}
	if m.Type != tea.KeyRunes && m.Type != tea.KeySpace && m.Type != tea.KeyEnter {
		return false
	}
	before := b.recent[keys-1] // the time of the first of five keys, of which the last is in this message
	fast := !before.IsZero() && now.Sub(before) < ui.PasteInterval && !moves
	for range keys {
		copy(b.recent[:], b.recent[1:])
		b.recent[len(b.recent)-1] = now
	}
	if fast {
		b.until = now.Add(PasteTimeout)
	}
	return fast
}
