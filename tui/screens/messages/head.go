package messages

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// What stands over the tabs of a message: where it goes, whose it is, when it
// was made.

// addressLines is how many lines an address takes at most.
const addressLines = 4

// labelCells are those before what is told.
const labelCells = 9

// head is what stands over the tabs. An address is never cut where there is
// room for more lines; a line that it fills has the subscriber below it.
func (s *Detail) head() []string {
	t, whose := s.Theme, s.whose()
	room := s.Width - labelCells - 1
	address := s.address()
	var lines []string
	if ansi.StringWidth(address)+ansi.StringWidth(whose)+2 <= room {
		lines = append(lines, s.headed("To", address, whose))
	} else {
		for i, part := range theme.Wrap(address, max(1, room)) {
			if i == addressLines {
				break
			}
			lines = append(lines, s.headed([]string{"To", ""}[min(i, 1)], part.Text, ""))
		}
		lines = append(lines, s.headed("For", strings.TrimPrefix(whose, "subscriber "), ""))
	}
	added := time.Time(s.Message.AddedDateTime)
	body := ui.Size(len(s.Message.Body))
	if !s.whole {
		body = strings.Repeat(t.Loading, 3)
	}
	lines = append(lines, s.headed("Added", s.TimeOfDay(added)+" ("+ui.Age(s.Now.Sub(added))+" ago)", "size "+body))
	if len(lines) == 2 {
		lines = append(lines, strings.Repeat(" ", s.Width))
	}
	return lines
}

// headed is one of these lines, with something at its end.
func (s *Detail) headed(label, text, end string) string {
	t := s.Theme
	left := []theme.Span{{Text: t.Fit("  "+label, labelCells, false), Ink: t.Label}, {Text: text}}
	if end == "" {
		return s.Theme.Compose(s.Width, left, nil)
	}
	word, rest, _ := strings.Cut(end, " ")
	return s.Theme.Compose(s.Width, left, []theme.Span{{Text: word + " ", Ink: t.Label}, {Text: rest + " "}})
}

// whose names the subscriber, with its id, which is a key and masked therefore.
func (s *Detail) whose() string {
	id := s.secret(s.Message.SubscriberID)
	if name, known := s.list.nameOf(s.Message); known {
		return "subscriber " + name + " " + id
	}
	return "subscriber " + id
}
