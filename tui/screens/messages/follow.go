package messages

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// Follow applies changes to the loaded rows. Other changes are counted, and fetched
// if the list follows new messages.
func (s *List) Follow(changes []wire.MessageChange, _ int) tea.Cmd {
	for _, c := range changes {
		s.Rows.change(c)
	}
	s.Rows.repaint()
	return s.catchUp()
}

// Tick refreshes times and fetches new messages.
func (s *List) Tick() tea.Cmd {
	s.Rows.repaint()
	if s.SignInPending() { // the app shows the result after it
		s.Impacts.counting = nil
		s.Bulk.sending = ""
	}
	return tea.Batch(s.catchUp(), s.refreshQueues())
}

// refreshQueues fetches the queue statistics if they explain a visible message or
// are part of the status line.
func (s *List) refreshQueues() tea.Cmd {
	if s.Filter.Problems {
		return s.Queues.Refresh(s, s.Rows.onQueues)
	}
	if !s.Rows.needQueue() {
		return nil
	}
	return s.Queues.RefreshIfOld(s, s.Rows.onQueues)
}

// catchUp fetches the newest messages if the list follows them.
func (s *List) catchUp() tea.Cmd {
	if s.Front() != ui.Screen(s) || !s.Rows.needFetch() {
		return nil
	}
	return s.Poll()
}

// Retime implements ui.Timed. It fits the columns to the new time format.
func (s *List) Retime() string {
	s.FitColumns()
	s.Rows.repaint()
	return ""
}
