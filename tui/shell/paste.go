package shell

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/ui"
)

// PasteTimeout is how long keys are ignored after a part of a paste.
const PasteTimeout = 250 * time.Millisecond

// pasteKeys is the number of keys that are treated as a paste if they arrive within
// ui.PasteInterval, or in one message.
const pasteKeys = 5

// pasteDetector detects pastes while no input is open. Terminals without bracketed paste send
// the pasted characters as keys, which would run actions.
type pasteDetector struct {
	recent [pasteKeys - 1]time.Time // times of the last keys, oldest first
	until  time.Time                // keys are ignored before this time
}

// isPasting reports whether keys are ignored because a part of a paste has just arrived.
func (d *pasteDetector) isPasting(now time.Time) bool { return now.Before(d.until) }

// pasted reports whether a key message is part of a paste. Navigation keys may be repeated fast.
func (d *pasteDetector) pasted(m tea.KeyMsg, now time.Time, isNavigation bool) bool {
	keys := keysPressed(m)
	isPaste := m.Paste || keys >= pasteKeys || d.isPasting(now)
	if !isPaste && isPastedType(m.Type) {
		isPaste = d.isFast(keys, now) && !isNavigation
		d.add(keys, now)
	}
	if isPaste {
		d.until = now.Add(PasteTimeout)
	}
	return isPaste
}

// keysPressed returns the number of keys that a message counts for. A character that is repeated
// is one key that is held down.
func keysPressed(m tea.KeyMsg) int {
	if len(m.Runes) == 0 {
		return 1
	}
	isHeldDown := !slices.ContainsFunc(m.Runes, func(r rune) bool { return r != m.Runes[0] })
	if isHeldDown {
		return 1
	}
	return len(m.Runes)
}

// isPastedType reports whether a paste can contain keys of a type: characters and line breaks.
func isPastedType(t tea.KeyType) bool {
	return t == tea.KeyRunes || t == tea.KeySpace || t == tea.KeyEnter
}

// isFast reports whether the last pasteKeys keys, of which the last ones arrive now, are within
// ui.PasteInterval. keys must be less than pasteKeys.
func (d *pasteDetector) isFast(keys int, now time.Time) bool {
	first := d.recent[keys-1]
	return !first.IsZero() && now.Sub(first) < ui.PasteInterval
}

// add stores the time of keys.
func (d *pasteDetector) add(keys int, now time.Time) {
	for range keys {
		copy(d.recent[:], d.recent[1:])
		d.recent[len(d.recent)-1] = now
	}
}
