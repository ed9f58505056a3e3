package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
)

// Secret shows a secret, which is told but once. Keys that were meant for what
// was open before do not close it.
type Secret struct {
	Text
	ShownAt time.Time // when it was shown; zero while it waits
	Below   Overlay   // what was opened over it, and waits until it is closed
}

// Scopes implements Overlay.
func (s *Secret) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InSecret} }

// Do implements Overlay.
func (s *Secret) Do(b keymap.Binding) tea.Cmd {
	switch {
	case s.Now.Sub(s.ShownAt) < ConfirmPause:
	case b.Action == keymap.GoBack:
		s.CloseOverlay(s)
	default:
		return s.Text.Do(b)
	}
	return nil
}
