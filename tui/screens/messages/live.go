package messages

import (
	"slices"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// live updates the rows of a list.
type live struct {
	*List
	Known     map[string]wire.Message // loaded messages by ID
	changed   changeTimes
	unseenIDs map[string]struct{} // IDs of new messages that are not shown
	fetchedAt time.Time           // time of the last fetch
	due       bool                // the rows must be fetched again
}

// changeTimes are the times of the last changes of messages, by ID.
type changeTimes map[string]time.Time

// recent reports whether the last change of a message is so new that it is marked.
func (c changeTimes) recent(id string, now time.Time) bool {
	changedAt, known := c[id]
	return known && now.Sub(changedAt) < ChangedFor
}

// attempts formats the number of attempts and the maximum. Manual retries can exceed the
// maximum, which is then left out.
func attempts(m wire.Message) string {
	switch {
	case m.Status == 0 && m.LastMessageResponseHTTPCode == nil && m.LastMessageResponseMessage == "":
		return "-"
	case m.Retries > m.MaxRetries:
		return strconv.Itoa(m.Retries + 1)
	}
	return strconv.Itoa(m.Retries+1) + "/" + strconv.Itoa(m.MaxRetries+1)
}

// repaint updates the times in the visible rows and removes old change markers.
func (s *live) repaint() {
	for id := range s.changed {
		if !s.changed.recent(id, s.Now) {
			delete(s.changed, id)
			s.due = s.due || s.limited() // the message may no longer match the filter
		}
	}
	first, last := s.Grid.Window()
	for i := first; i <= last; i++ {
		if row := s.Pages.Row(i); row != nil {
			s.updateRow(row.ID)
		}
	}
	s.Grid.Sync()
}

// limited reports whether a change of a message can remove it from the list.
func (s *live) limited() bool {
	return s.Filter.StatusFilter().Statuses != nil || len(s.Filter.Conditions) > 0
}

// rebuild rebuilds all loaded rows.
func (s *live) rebuild() {
	for _, row := range s.Pages.Loaded() {
		s.updateRow(row.ID)
	}
	s.Grid.Sync()
}

// updateRow replaces the row of a message if its cells have changed.
func (s *live) updateRow(id string) {
	m, ok := s.Known[id]
	i := s.Pages.Find(id)
	if !ok || i < 0 {
		return
	}
	fresh := s.Columns.row(m)
	if !slices.Equal(fresh.Cells, s.Pages.Row(i).Cells) {
		s.Pages.Replace(i, fresh)
	}
}

// Follow applies changes to the loaded rows. Other changes are counted, and fetched
// if the list follows new messages.
func (s *live) Follow(changes []wire.MessageChange, _ int) tea.Cmd {
	for _, c := range changes {
		s.change(c)
	}
	s.repaint()
	return s.catchUp()
}

// Tick refreshes times and fetches new messages.
func (s *live) Tick() tea.Cmd {
	s.repaint()
	s.check()
	return tea.Batch(s.catchUp(), s.refreshQueues())
}

// refreshQueues fetches the queue statistics if they explain a visible message or
// are part of the status line.
func (s *live) refreshQueues() tea.Cmd {
	if s.Filter.Problems {
		return s.Queues.Refresh(s.List, s.onQueues)
	}
	if !s.visibleNeedsQueue() {
		return nil
	}
	return s.Queues.RefreshIfOld(s.List, s.onQueues)
}

// onQueues shows new queue statistics.
func (s *live) onQueues() tea.Cmd {
	s.repaint()
	return nil
}

// visibleNeedsQueue reports whether the queue explains a visible message.
func (s *live) visibleNeedsQueue() bool {
	first, last := s.Grid.Window()
	for i := first; i <= last; i++ {
		if row := s.Pages.Row(i); row != nil && needsQueue(s.Known[row.ID], s.Session) {
			return true
		}
	}
	return false
}

// FollowInterval is the minimum time between fetches while the list follows new
// messages.
const FollowInterval = time.Second

// catchUp fetches the newest messages if the list follows them.
func (s *live) catchUp() tea.Cmd {
	wanted := s.due || len(s.unseenIDs) > 0 && s.Grid.Following()
	if !wanted || s.Paused || s.Front() != ui.Screen(s.List) || s.Pages.Loading() || s.Now.Sub(s.fetchedAt) < FollowInterval {
		return nil
	}
	return s.Poll()
}

// maxUnseen limits the number of new messages that are counted.
const maxUnseen = 100_000

func (s *live) change(c wire.MessageChange) {
	one, known := s.Known[c.MessageID]
	if !known || s.Pages.Find(c.MessageID) < 0 {
		if !c.Deleted && (c.Retries == 0 || s.Filter.Problems) && s.matches(c) && len(s.unseenIDs) < maxUnseen {
			s.unseenIDs[c.MessageID] = struct{}{}
		}
		return
	}
	if c.Deleted {
		s.due = true
	}
	one.Status, one.Retries, one.NextAttemptDateTime = c.Status, c.Retries, c.NextAttemptDateTime
	if c.HTTPCode != nil || c.Duration != 0 {
		one.LastMessageResponseHTTPCode = c.HTTPCode
		s.due = s.due || c.HTTPCode == nil // a change has no error text
	}
	s.Known[c.MessageID] = one
	s.changed[c.MessageID] = s.Now
	s.updateRow(c.MessageID)
}

// matches reports whether a new message can match the filter.
func (s *live) matches(c wire.MessageChange) bool {
	return s.Filter.StatusFilter().Matches(c.Status) && s.Filter.Matches(c)
}

// Retime implements ui.Timed. It fits the columns to the new time format.
func (s *live) Retime() string {
	s.FitColumns()
	s.repaint()
	return ""
}
