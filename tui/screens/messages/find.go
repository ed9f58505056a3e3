package messages

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// noMatch is the index of a line that no search has found.
const noMatch = -1

// setSearch sets the text of the search in both documents.
func (d *documents) setSearch(text string) {
	if text != d.sent.Search() {
		d.match = noMatch
	}
	d.sent.SetSearch(text)
	d.answer.SetSearch(text)
}

// matches reports whether line i of one of the documents contains the search text.
func (d *documents) matches(i int) bool {
	isSent := i < len(d.sent.Lines) && d.sent.Matches(i)
	isAnswer := i < len(d.answer.Lines) && d.answer.Matches(i)
	return isSent || isAnswer
}

// showMatch makes a line visible that the search has found.
func (d *documents) showMatch(line int) {
	d.match = line
	if line < d.top || line >= d.top+d.height {
		d.scrollTo(line - d.height/2)
	}
}

// Find returns the input of the search. It finds lines of the documents, too, if they are below the
// attempts.
func (s *Detail) Find() *ui.InputLine {
	l := s.Pager.Find()
	acceptInTab := l.Accept
	l.Accept = func(text string) tea.Cmd {
		if !s.divided() {
			return acceptInTab(text)
		}
		s.SetSearch(text)
		s.documents.setSearch(text)
		isMatch := s.At < len(s.Lines) && s.Matches(s.At)
		if text != "" && !isMatch {
			s.findNext(keymap.NextMatch)
		}
		return nil
	}
	return l
}

// findNext goes to the next or previous line that the search finds in the attempts and then in the
// documents, wrapping around, and reports whether the action was one of these.
func (s *Detail) findNext(action keymap.Action) bool {
	step := 1
	switch action {
	case keymap.NextMatch:
	case keymap.PreviousMatch:
		step = -1
	default:
		return false
	}
	if s.Search() == "" {
		return true
	}

	current := s.At
	if s.documents.match != noMatch {
		current = len(s.Lines) + s.documents.match
	}
	count := len(s.Lines) + s.documents.length()
	for distance := 1; distance <= count; distance++ {
		i := (current + distance*step + 2*count) % count
		document := i - len(s.Lines)
		if document >= 0 && s.documents.matches(document) {
			s.documents.showMatch(document)
			return true
		}
		if document < 0 && s.Matches(i) {
			s.documents.match = noMatch
			s.Scroll(i - s.At)
			s.selectAttempt()
			return true
		}
	}
	s.Host.Notify(ui.Warning, "not found: "+s.Search())
	return true
}
