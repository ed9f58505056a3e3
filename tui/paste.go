package tui

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
	pasteTimeout = 250 * time.Millisecond
	pasteRunes   = 5 // characters in one message that are treated as a paste
)

// pasted reports whether a key is part of a paste. Navigation keys are allowed to
// repeat fast.
func (b *pasteDetector) pasted(m tea.KeyMsg, now time.Time, moves bool) bool {
	if m.Paste || len(m.Runes) >= pasteRunes && strings.Count(string(m.Runes), string(m.Runes[:1])) < len(m.Runes) {
		b.until = now.Add(pasteTimeout)
		return true
	}
	if now.Before(b.until) {
		b.until = now.Add(pasteTimeout)
		return true
	}
	if m.Type != tea.KeyRunes && m.Type != tea.KeySpace {
		return false
	}
	fast := !b.recent[0].IsZero() && now.Sub(b.recent[0]) < ui.PasteInterval && !moves
	copy(b.recent[:], b.recent[1:])
	b.recent[len(b.recent)-1] = now
	if fast {
		b.until = now.Add(pasteTimeout)
	}
	return fast
}
