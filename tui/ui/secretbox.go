package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
)

// Secret shows a secret, which the service returns only once. Keys are ignored for
// ConfirmPause after it opens, since they were typed for the previous overlay.
type Secret struct {
	Text
	ShownAt time.Time // zero while queued
	Below   Overlay   // overlay that is shown again when the secret is closed
}

func (s *Secret) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InSecret} }

// isNew reports whether ConfirmPause has not elapsed yet. The time is that of the current session,
// since a secret outlives its own.
func (s *Secret) isNew() bool {
	return s.Host.CurrentSession().Now.Sub(s.ShownAt) < ConfirmPause
}

func (s *Secret) Do(b keymap.Binding) tea.Cmd {
	if s.isNew() {
		return nil
	}
	if b.Action == keymap.GoBack {
		s.Host.CloseOverlay(s)
		return nil
	}
	return s.Text.Do(b)
}
