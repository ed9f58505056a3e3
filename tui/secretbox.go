package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
)

// secretBox shows a secret, which is told but once. Keys that were meant for what
// was open before do not close it.
type secretBox struct {
	text
	since time.Time // when it was shown; zero while it waits
	under overlay   // what was opened over it, and waits until it is closed
}

func (s *secretBox) scopes() []keymap.Scope { return []keymap.Scope{keymap.InSecret} }

func (s *secretBox) do(b keymap.Binding) tea.Cmd {
	switch {
	case s.Now.Sub(s.since) < confirmPause:
	case b.Action == keymap.GoBack:
		s.Close(s)
	default:
		return s.text.do(b)
	}
	return nil
}
