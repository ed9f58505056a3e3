package messages

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

const (
	maxAddressLines = 4                   // maximum number of lines of a URL
	labelCells      = len("  Attempts  ") // width of the labels
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
	lines = append(lines, s.headed("Added", s.session.TimeOfDay(added)+" ("+age+" ago)", "size "+size))
	if strip := s.strip(); strip != nil {
		label := theme.Span{Text: s.session.Theme.Fit("  Attempts", labelCells, false), Role: theme.Label}
		lines = append(lines, s.session.Theme.Compose(s.width, append([]theme.Span{label}, strip...), nil))
	}
	return lines
}

// stripStep is the maximum width of an attempt in the strip: its sign and the time until the next.
const stripStep = len("x 59m  ")

// strip shows the attempts with the time between them, and when the next one is due. If there is
// not enough room, it has the newest ones. It is nil before the first attempt.
func (s *content) strip() []theme.Span {
	t := s.session.Theme
	attempts := s.Responses
	const due = len("r paused after failures")
	var spans []theme.Span
	if shown := max(1, (s.width-labelCells-due)/stripStep); len(attempts) > shown {
		attempts = attempts[len(attempts)-shown:]
		spans = append(spans, theme.Span{Text: t.Ellipsis + " ", Role: theme.Dim})
	}
	for i, r := range attempts {
		sign := theme.Span{Text: t.Fail, Role: theme.Failure}
		if r.Status == ui.StatusDelivered {
			sign = theme.Span{Text: t.OK, Role: theme.Success}
		}
		spans = append(spans, sign)
		if i+1 < len(attempts) {
			pause := time.Time(attempts[i+1].LastSavedDateTime).Sub(time.Time(r.LastSavedDateTime))
			spans = append(spans, theme.Span{Text: " " + ui.Age(pause), Role: theme.Dim})
		}
		spans = append(spans, theme.Span{Text: "  "})
	}
	if attempt := next(s.Message, s.session); len(attempts) > 0 && attempt != noAttempt {
		if s.Withheld != "" {
			attempt = withheld
		}
		spans = append(spans, theme.Span{Text: t.Retry + " " + attempt, Role: theme.Warning})
	}
	return spans
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
