package messages

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// Act retries or deletes the marked messages, or the selected one, after a confirmation. The
// impact on marked messages is counted by the service first.
func (s *List) Act(action keymap.Action) tea.Cmd {
	if members := s.Marks.filter(action); members != nil {
		return s.Impacts.count(action, members)
	}
	if m, ok := s.Selected(); ok {
		confirmOne(s, s.Bulk, m, action, s.Bulk.begin, s.Bulk.finish)
	}
	return nil
}

// Send sends a change of messages. The status line shows its progress.
func (s *List) Send(c ui.Change) tea.Cmd {
	s.ClearToast()
	c.Screen = s
	return s.Change(c)
}

// Confirm opens a confirmation about a number of messages.
func (s *List) Confirm(count int, question, verb string, lines []string, run func() tea.Cmd) *ui.Confirm {
	return ui.OpenConfirmMany(s.Host, count, question, verb, lines, run)
}

// InFront reports whether the list is in front, without an overlay or an input.
func (s *List) InFront() bool {
	return s.Front() == ui.Screen(s) && s.Overlay() == nil && !s.InputOpen()
}
