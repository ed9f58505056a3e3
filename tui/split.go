package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// Where there is room, the subscribers stand at the left and the subscriptions
// of the selected one at the right.

const (
	splitFrom = 100 // cells from which on there is room for both
	splitLeft = 45  // of them are the subscribers'
)

// setSize gives both sides their part.
func (s *subscribers) setSize(width, height int) {
	s.part.setSize(width, height)
	if width < splitFrom {
		s.fit(width, height)
		return
	}
	s.fit(splitLeft, height)
	if s.detail != nil {
		s.detail.setSize(width, height)
	}
}

// fit gives the list its size, and the columns that there is room for.
func (s *subscribers) fit(width, height int) {
	if s.fitted.fit(s.grid, width) {
		s.fill()
	}
	s.grid.SetSize(width, height)
}

func (s *subscribers) view() string {
	if s.width < splitFrom {
		return s.grid.View()
	}
	right := strings.Repeat(strings.Repeat(" ", s.width-splitLeft-1)+"\n", s.height)
	if s.detail != nil {
		right = s.Theme.Unlit(strings.Replace(s.detail.grid.View(), " "+s.Theme.Pointer+" ", "   ", 1))
	}
	return s.Theme.SideBySide(s.grid.View(), right)
}

// holds reports whether a screen is the one at the right.
func (s *subscribers) holds(one screen) bool { return s.detail != nil && one == screen(s.detail) }

// look shows the subscriptions of the selected subscriber at the right; anew
// also where they are there already.
func (s *subscribers) look(anew bool) tea.Cmd {
	one, ok := s.selected()
	if s.width < splitFrom || !ok {
		return nil
	}
	if s.detail == nil || s.detail.subscriber.RecID != one.RecID {
		if s.detail != nil {
			s.detail.stop()
		}
		s.detail = newSubscriptions(s.Host, one)
		s.detail.master = s
		s.detail.setSize(s.width, s.height)
		return s.detail.poll()
	}
	if s.detail.subscriber = one; !anew {
		return nil
	}
	s.detail.afresh()
	return s.detail.poll()
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
	s.detail.afresh()
	return s.Push(s.detail)
}

func (s *subscribers) click(x, y int, again bool) tea.Cmd {
	if s.width >= splitFrom && x > splitLeft {
		return s.enter()
	}
	return tea.Batch(s.clickRow(s, x, y, again), s.look(false))
}

// setSize leaves room for the subscribers, where there is enough.
func (s *subscriptions) setSize(width, height int) {
	s.part.setSize(width, height)
	if s.split() {
		s.master.fit(splitLeft, height)
		width -= splitLeft + 1
	}
	if s.fitted.fit(s.grid, width) {
		s.fill()
	}
	s.grid.SetSize(width, height)
}

// split reports whether the subscribers stand at the left.
func (s *subscriptions) split() bool { return s.master != nil && s.width >= splitFrom }

func (s *subscriptions) view() string {
	if !s.split() {
		return s.grid.View()
	}
	return s.Theme.SideBySide(s.Theme.Unlit(s.master.grid.View()), s.grid.View())
}

func (s *subscriptions) click(x, y int, again bool) tea.Cmd {
	if s.split() {
		if x -= splitLeft + 1; x < 0 {
			return s.Pop()
		}
	}
	return s.clickRow(s, x, y, again)
}
