package messages

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

const (
	maxAddressLines = 4 // maximum number of lines of a URL
	labelCells      = 9 // width of the labels
)

// head returns the lines above the tabs: URL, subscriber, time and size. A long URL
// is wrapped, and the subscriber is below it.
func (s *content) head() []string {
	lines := s.addressLines()
	added := time.Time(s.Message.AddedDateTime)
	age := ui.Age(s.session.Now.Sub(added))
	size := ui.Size(len(s.Message.Body))
	if !s.loaded {
		size = strings.Repeat(s.session.Theme.Loading, 3)
	}
	return append(lines, s.headed("Added", s.session.TimeOfDay(added)+" ("+age+" ago)", "size "+size))
}

// addressLines returns the lines of the URL and the subscriber.
func (s *content) addressLines() []string {
	address, subscriber := s.address(), s.subscriberText()
	room := s.width - labelCells - 1
	if ansi.StringWidth(address)+ansi.StringWidth(subscriber)+2 <= room {
		return []string{s.headed("To", address, subscriber)}
	}
	var lines []string
	label := "To"
	for _, part := range theme.Wrap(address, max(1, room)) {
		if len(lines) == maxAddressLines {
			break
		}
		lines = append(lines, s.headed(label, part.Text, ""))
		label = ""
	}
	return append(lines, s.headed("For", strings.TrimPrefix(subscriber, "subscriber "), ""))
}

// headed returns a line of the head, with a right-aligned note of a label and a text.
func (s *content) headed(label, text, note string) string {
	t := s.session.Theme
	left := []theme.Span{{Text: t.Fit("  "+label, labelCells, false), Role: theme.Label}, {Text: text}}
	if note == "" {
		return t.Compose(s.width, left, nil)
	}
	noteLabel, noteText, _ := strings.Cut(note, " ")
	right := []theme.Span{{Text: noteLabel + " ", Role: theme.Label}, {Text: noteText + " "}}
	return t.Compose(s.width, left, right)
}
