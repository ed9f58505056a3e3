package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/ui"
)

// Where there is room, the subscribers stand at the left and the subscriptions
// of the selected one at the right.

const (
	splitFrom = 100 // cells from which on there is room for both
	splitLeft = 45  // of them are the subscribers'
)

// SetSize gives both sides their part.
func (s *subscribers) SetSize(width, height int) {
	s.Base.SetSize(width, height)
	if width < splitFrom {
		s.fit(width, height)
		return
	}
	s.fit(splitLeft, height)
	if s.detail != nil {
		s.detail.SetSize(width, height)
	}
}

// fit gives the list its size, and the columns that there is room for.
func (s *subscribers) fit(width, height int) {
	if s.fitted.fit(s.Grid, width) {
		s.fill()
	}
	s.Grid.SetSize(width, height)
}

func (s *subscribers) View() string {
	if s.Width < splitFrom {
		return s.Grid.View()
	}
	right := strings.Repeat(strings.Repeat(" ", s.Width-splitLeft-1)+"\n", s.Height)
	if s.detail != nil {
		right = s.Theme.Unlit(strings.Replace(s.detail.Grid.View(), " "+s.Theme.Pointer+" ", "   ", 1))
	}
	return s.Theme.SideBySide(s.Grid.View(), right)
}

// Holds reports whether a screen is the one at the right.
func (s *subscribers) Holds(one ui.Screen) bool { return s.detail != nil && one == ui.Screen(s.detail) }

// look shows the subscriptions of the selected subscriber at the right; anew
// also where they are there already.
func (s *subscribers) look(anew bool) tea.Cmd {
	one, ok := s.selected()
	if s.Width < splitFrom || !ok {
		return nil
	}
	if s.detail == nil || s.detail.subscriber.RecID != one.RecID {
		if s.detail != nil {
			s.detail.Stop()
		}
		s.detail = newSubscriptions(s.Host, one)
		s.detail.master = s
		s.detail.SetSize(s.Width, s.Height)
		return s.detail.Poll()
	}
	if s.detail.subscriber = one; !anew {
		return nil
	}
	s.detail.Reset()
	return s.detail.Poll()
}

// enter opens the subscriptions of a subscriber: those at the right, where they
// are there.
func (s *subscribers) enter() tea.Cmd {
	one, ok := s.selected()
	if !ok {
		return nil
	}
	if s.detail == nil || s.detail.subscriber.RecID != one.RecID {
		s.detail = newSubscriptions(s.Host, one)
		s.detail.master = s
	}
	s.detail.subscriber = one // which may have another name by now
	s.detail.Reset()
	return s.Push(s.detail)
}

func (s *subscribers) Click(x, y int, again bool) tea.Cmd {
	if s.Width >= splitFrom && x > splitLeft {
		return s.enter()
	}
	return tea.Batch(s.ClickRow(s, x, y, again), s.look(false))
}

// SetSize leaves room for the subscribers, where there is enough.
func (s *subscriptions) SetSize(width, height int) {
	s.Base.SetSize(width, height)
	if s.split() {
		s.master.fit(splitLeft, height)
		width -= splitLeft + 1
	}
	if s.fitted.fit(s.Grid, width) {
		s.fill()
	}
	s.Grid.SetSize(width, height)
}

// split reports whether the subscribers stand at the left.
func (s *subscriptions) split() bool { return s.master != nil && s.Width >= splitFrom }

func (s *subscriptions) View() string {
	if !s.split() {
		return s.Grid.View()
	}
	return s.Theme.SideBySide(s.Theme.Unlit(s.master.Grid.View()), s.Grid.View())
}

func (s *subscriptions) Click(x, y int, again bool) tea.Cmd {
	if s.split() {
		if x -= splitLeft + 1; x < 0 {
			return s.Pop()
		}
	}
	return s.ClickRow(s, x, y, again)
}
