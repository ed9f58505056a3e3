package messages

import (
	"slices"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// live keeps the rows of a list up to date.
type live struct {
	*List
	Known   map[string]wire.Message // by id, of the rows that are here
	changed map[string]time.Time    // when a row changed that is marked so
	news    map[string]struct{}     // messages that have come and are not shown
	asked   time.Time               // when the rows were fetched last
	due     bool                    // the first page is to be fetched again
}

// row is a message as it is shown. What counts seconds does so in coarse steps,
// so that few lines change.
func (s *live) row(m wire.Message) *grid.Row {
	row := &grid.Row{ID: m.MessageID, Cells: make([]grid.Cell, len(s.visible))}
	if s.Delayed(m.MessageID) {
		row.Role = theme.Dim
	}
	for i, c := range s.visible {
		row.Cells[i] = c.cell(s.List, m)
	}
	return row
}

func (s *live) statusCell(m wire.Message) grid.Cell {
	word, role := s.Theme.StatusText(m.Status)
	return grid.Cell{Text: word, Role: role}
}

func (s *live) ageCell(m wire.Message) grid.Cell {
	return grid.Cell{Text: s.TimeText(time.Time(m.AddedDateTime))}
}

// signCell marks what has changed just now, and what is about to be deleted.
func (s *live) signCell(m wire.Message) grid.Cell {
	sign := grid.Cell{Role: theme.Accent}
	if at, ok := s.changed[m.MessageID]; ok && s.Now.Sub(at) < ChangedFor {
		sign.Text = s.Theme.Left
	}
	if s.Delayed(m.MessageID) {
		sign.Text = theme.FailGlyph
	}
	return sign
}

// tries is the number of attempts and how many there may be.
func tries(m wire.Message) string {
	if m.Status == 0 && m.LastMessageResponseHTTPCode == nil && m.LastMessageResponseMessage == "" {
		return "-"
	}
	return strconv.Itoa(m.Retries+1) + "/" + strconv.Itoa(m.MaxRetries+1)
}

// repaint makes the rows anew that are here: times have gone on.
func (s *live) repaint() {
	for id, at := range s.changed {
		if s.Now.Sub(at) >= ChangedFor {
			delete(s.changed, id)
			s.due = s.due || s.limited() // it may be none of those that are meant any more
		}
	}
	first, last := s.Grid.Window()
	for i := first; i <= last; i++ {
		if row := s.Pages.Row(i); row != nil {
			s.refit(row.ID)
		}
	}
	s.Grid.Sync()
}

// limited reports whether a message that changes can stop being one of those
// that are shown.
func (s *live) limited() bool {
	return s.Filter.StatusFilter().Statuses != nil || len(s.Filter.Conditions) > 0
}

// remake makes all rows anew.
func (s *live) remake() {
	for _, row := range s.Pages.Loaded() {
		s.refit(row.ID)
	}
	s.Grid.Sync()
}

// refit puts a new row in place of a message's, if it looks different.
func (s *live) refit(id string) {
	m, ok := s.Known[id]
	i := s.Pages.Find(id)
	if !ok || i < 0 {
		return
	}
	fresh := s.row(m)
	if !slices.Equal(fresh.Cells, s.Pages.Row(i).Cells) {
		s.Pages.Replace(i, fresh)
	}
}

// Follow takes changes into the rows that are here. Others only count, and are
// fetched where the list follows.
func (s *live) Follow(changes []wire.MessageChange, _ int) tea.Cmd {
	for _, c := range changes {
		s.change(c)
	}
	s.repaint()
	return s.catchUp()
}

// Tick lets times go on, and fetches what has come.
func (s *live) Tick() tea.Cmd {
	s.repaint()
	s.check()
	return tea.Batch(s.catchUp(), s.explain())
}

// explain asks how deliveries stand where a message in sight makes one ask why
// it waits, and where those are counted that wait beside what is shown.
func (s *live) explain() tea.Cmd {
	if s.Filter.Problems {
		return s.Queues.Refresh(s.List, s.figured)
	}
	if !s.asksInSight() {
		return nil
	}
	return s.Queues.RefreshIfOld(s.List, s.figured)
}

// figured shows how deliveries are.
func (s *live) figured() tea.Cmd {
	s.repaint()
	return nil
}

// asksInSight reports whether a message in sight makes one ask why it waits.
func (s *live) asksInSight() bool {
	first, last := s.Grid.Window()
	for i := first; i <= last; i++ {
		if row := s.Pages.Row(i); row != nil && asks(s.Known[row.ID], s.Session) {
			return true
		}
	}
	return false
}

// FollowEvery is how often rows are fetched at most where the list follows.
const FollowEvery = time.Second

// catchUp fetches the newest messages where the list follows.
func (s *live) catchUp() tea.Cmd {
	wanted := s.due || len(s.news) > 0 && s.Grid.Following()
	if !wanted || s.Paused || s.Front() != ui.Screen(s.List) || s.Pages.Loading() || s.Now.Sub(s.asked) < FollowEvery {
		return nil
	}
	return s.Poll()
}

// newsMost is how many new messages are told apart.
const newsMost = 100_000

func (s *live) change(c wire.MessageChange) {
	one, known := s.Known[c.MessageID]
	if !known || s.Pages.Find(c.MessageID) < 0 {
		if !c.Deleted && c.Retries == 0 && s.means(c) && len(s.news) < newsMost {
			s.news[c.MessageID] = struct{}{}
		}
		return
	}
	if c.Deleted {
		s.due = true
	}
	one.Status, one.Retries, one.NextAttemptDateTime = c.Status, c.Retries, c.NextAttemptDateTime
	if c.HTTPCode != nil || c.Duration != 0 {
		one.LastMessageResponseHTTPCode = c.HTTPCode
		s.due = s.due || c.HTTPCode == nil // why no answer came is not told
	}
	s.Known[c.MessageID] = one
	s.changed[c.MessageID] = s.Now
	s.refit(c.MessageID)
}

// means reports whether a new message can be one of those that are shown. Of
// the problems it is one only now that it has failed.
func (s *live) means(c wire.MessageChange) bool {
	return s.Filter.StatusFilter().Matches(c.Status) && s.Filter.Matches(c)
}

// Retime makes the rows in sight anew. Columns that were wide for the mode
// before become as wide as they have to be.
func (s *live) Retime() string {
	s.FitColumns()
	s.repaint()
	return ""
}
