package messages

import (
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// attemptColumns are how wide what is told of attempts is.
type attemptColumns struct{ when, result, answer int }

const (
	tookCells   = 11 // of how long an attempt took
	answerLeast = 12 // cells from which on the beginning of an answer is worth showing
)

// attemptColumns are as wide as there is room for. An answer comes last.
func (s *content) attemptColumns() attemptColumns {
	c := attemptColumns{when: 16, result: 25}
	if s.Width < 76 {
		c = attemptColumns{when: 10, result: 24}
	}
	if c.answer = s.Width - c.when - c.result - tookCells - 10; c.answer < answerLeast {
		c.answer = 0
	}
	return c
}

// attempts lists what was tried, and when the next attempt is.
func (s *content) attempts() []theme.Span {
	t, c := s.Theme, s.attemptColumns()
	title := "  " + t.Fit("  #  when", c.when+5, false) + t.Fit("result", c.result, false) + t.Fit("took", tookCells, true)
	if c.answer > 0 {
		title += "   answer"
	}
	lines := []theme.Span{{Text: title, Ink: t.Title}}
	before := ""
	for _, r := range s.Responses {
		ink := t.Status[3]
		if r.Status == 1 {
			ink = t.Status[1]
		}
		text := fmt.Sprintf("  %3d  %s%s%s", r.ItemNo, t.Fit(s.Moment(time.Time(r.LastSavedDateTime)), c.when, false), t.Fit(ui.Result(r.MessageResponse), c.result, false), t.Fit(ui.Took(r.Duration), tookCells, true))
		if said := firstLine(r); c.answer > 0 && said != "" {
			shown := said
			if said == before {
				shown = "the same"
			}
			before = said
			text += "   " + t.Fit(shown, c.answer, false)
		}
		lines = append(lines, theme.Span{Text: text, Ink: ink})
	}
	lines = append(lines, s.scheduled(c)...)
	if len(s.Responses) == 0 && s.whole {
		lines = append(lines, theme.Span{Text: "  no attempt yet", Ink: t.Dim})
	}
	return lines
}

// scheduled tells of the next attempt: on two lines where there is no room for
// its reason on one.
func (s *content) scheduled(c attemptColumns) []theme.Span {
	t, next := s.Theme, nextLong(s.Message, s.Session)
	if next == "-" {
		return nil
	}
	before := fmt.Sprintf("  %3d  %s", len(s.Responses)+1, t.Fit(s.nextAt(), c.when, false))
	what, more, two := strings.Cut(next, "; ")
	if !two || len(before)+len(next) < s.Width {
		return []theme.Span{{Text: before + next, Ink: t.Dim}}
	}
	return []theme.Span{{Text: before + what + ";", Ink: t.Dim}, {Text: strings.Repeat(" ", len(before)) + more, Ink: t.Dim}}
}

// nextAt is when the next attempt is, a dash where nobody knows.
func (s *content) nextAt() string {
	at := time.Time(s.Message.NextAttemptDateTime)
	if at.IsZero() {
		return "-"
	}
	return s.TimeOfDay(at)
}

// firstLine is the beginning of what an endpoint said, or of what went wrong
// where it said nothing.
func firstLine(r wire.Attempt) string {
	text := r.AnswerText
	if text == nil {
		text = r.Detail
	}
	if text == nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(*text), "\n")
	return strings.TrimSpace(line)
}
