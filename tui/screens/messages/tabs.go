package messages

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// messageTab is one of the tabs of a message, and what it shows.
type messageTab struct {
	Name  string
	lines func(s *Detail) []theme.Span
	ages  bool // it tells how long something takes, or took place ago
}

// MessageTabs are the tabs of a message.
var MessageTabs = []messageTab{
	{"Attempts", (*Detail).attempts, true},
	{"Body", (*Detail).body, false},
	{"Headers", (*Detail).headerLines, false},
	{"Response", (*Detail).answers, false},
	{"cURL", (*Detail).curl, false},
}

func messageTabNames() []string {
	var names []string
	for _, t := range MessageTabs {
		names = append(names, t.Name)
	}
	return names
}

// content is what the tabs of a message show.
type content struct {
	*Detail
	MessageParts
	whole    bool   // the body is here
	revealed bool   // what is secret is shown, as far as it is known
	saved    string // where the body was written; empty for nowhere
}

func (s *content) body() []theme.Span {
	return ui.JSONLines([]byte(s.Message.Body), s.Width-2)
}

// sentHeaders are the headers of a delivery. What the service does not tell is
// masked whatever the user asks for.
func (s *content) sentHeaders() []wire.Header {
	all := []wire.Header{
		{Name: "Content-Type", Value: "application/json; charset=utf-8"},
		{Name: "Webhook-Id", Value: s.Message.MessageID},
		{Name: "X-Event-Name", Value: s.Message.EventName},
		{Name: "Webhook-Timestamp", Value: ""},
		{Name: "Webhook-Signature", Value: ""},
	}
	for _, h := range s.Headers {
		all = append(all, wire.Header{Name: h.Name, Value: ui.SecretMask})
	}
	return all
}

// headerLines lists what a delivery is sent with.
func (s *content) headerLines() []theme.Span {
	t := s.Theme
	width := 20
	for _, h := range s.Headers {
		width = min(max(width, len(h.Name)+2), 40)
	}
	var lines []theme.Span
	for _, h := range s.sentHeaders() {
		value := h.Value
		if value == "" {
			value = "made anew for each attempt"
		}
		lines = append(lines, theme.Span{Text: "  " + t.Fit(h.Name, width, false) + value})
	}
	lines = append(lines, theme.Span{})
	switch {
	case !s.whole:
		lines = append(lines, theme.Span{Text: "  " + strings.Repeat(t.Loading, 3), Role: theme.Dim})
	case s.Headers == nil && s.NoHeaders != "":
		lines = append(lines, theme.Span{Text: "  The subscription's own headers: " + s.NoHeaders, Role: theme.Dim})
	case len(s.Headers) == 0:
		lines = append(lines, theme.Span{Text: "  The subscription has no headers of its own.", Role: theme.Dim})
	default:
		lines = append(lines, theme.Span{Text: "  The service never tells the values of a subscription's own headers.", Role: theme.Dim})
	}
	return append(lines, theme.Span{Text: "  SubscriberID        " + s.secret(s.Message.SubscriberID)}, theme.Span{Text: "  SubscriptionID      " + s.Message.SubscriptionID}, s.revealHint())
}

func (s *content) revealHint() theme.Span {
	if s.revealed {
		return theme.Span{Text: "  v hides it again", Role: theme.Dim}
	}
	return theme.Span{Text: "  " + keymap.KeyFor(keymap.InMessage, keymap.Reveal) + " shows the SubscriberID and what stands behind ? in the address", Role: theme.Dim}
}

// secret is an id that is a key: its ends, until the user asks for all of it.
func (s *content) secret(id string) string {
	if s.revealed {
		return id
	}
	return ui.ShortID(id)
}

// address is where the message goes. What stands behind its ? can be a key.
func (s *content) address() string {
	if s.revealed {
		return s.Message.URL
	}
	return ui.MaskURL(s.Message.URL)
}

// answers are what the receiver said, the last first.
func (s *content) answers() []theme.Span {
	var lines []theme.Span
	for i := len(s.Responses) - 1; i >= 0; i-- {
		r := s.Responses[i]
		code := "no answer"
		if r.HTTPCode != nil {
			code = strconv.Itoa(*r.HTTPCode)
		}
		lines = append(lines, theme.Span{Text: fmt.Sprintf("  Attempt %d", r.ItemNo), Role: theme.Breadcrumb},
			theme.Span{Text: "    status   " + code}, theme.Span{Text: "    message  " + r.Message},
			theme.Span{Text: "    ended    " + s.TimeOfDay(time.Time(r.LastSavedDateTime)) + ", after " + strings.TrimSpace(ui.DurationText(r.Duration))})
		lines = append(lines, s.answerText(r)...)
		lines = append(lines, theme.Span{})
	}
	if len(lines) == 0 {
		return []theme.Span{{Text: "  no answer yet", Role: theme.Dim}}
	}
	return lines
}

// answerText is what an endpoint said, or what went wrong where it said nothing.
func (s *content) answerText(r wire.Attempt) []theme.Span {
	text := r.AnswerText
	if text == nil {
		text = r.Detail
	}
	if text == nil || *text == "" {
		return nil
	}
	lines := ui.JSONLines([]byte(*text), s.Width-6)
	for i := range lines {
		lines[i].Text = "    " + lines[i].Text
	}
	return lines
}

// curl sends the same from this computer. What is secret is not known here.
func (s *content) curl() []theme.Span {
	where := "  " + keymap.KeyFor(keymap.InMessage, keymap.Export) + " saves the body as " + s.bodyName() + "."
	if s.saved != "" {
		where = "  The body is saved as " + s.saved + "."
	}
	lines := []theme.Span{{Text: where, Role: theme.Dim}, {Text: "  Signature and values of own headers are not known here:", Role: theme.Dim}, {Text: "  the receiver may refuse it.", Role: theme.Dim}, {}}
	for _, l := range theme.Wrap(s.curlText(), s.Width-4) {
		lines = append(lines, theme.Span{Text: "  " + l.Text})
	}
	return lines
}

func (s *content) curlText() string {
	text := "curl -X POST " + ui.Quote(s.address())
	for _, h := range s.sentHeaders() {
		if h.Value != "" {
			text += " -H " + ui.Quote(h.Name+": "+h.Value)
		}
	}
	return text + " --data-binary " + ui.Quote("@"+s.bodyName())
}

// bodyName is the file that the body is in, or would be saved to.
func (s *content) bodyName() string {
	return filepath.Base(cmp.Or(s.saved, s.bodyPath()))
}

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
	lines := []theme.Span{{Text: title, Role: theme.Title}}
	before := ""
	for _, r := range s.Responses {
		role := theme.Failure
		if r.Status == 1 {
			role = theme.Success
		}
		text := fmt.Sprintf("  %3d  %s%s%s", r.ItemNo, t.Fit(s.TimeText(time.Time(r.LastSavedDateTime)), c.when, false), t.Fit(ui.AttemptResult(r.MessageResponse), c.result, false), t.Fit(ui.DurationText(r.Duration), tookCells, true))
		if said := firstLine(r); c.answer > 0 && said != "" {
			shown := said
			if said == before {
				shown = "the same"
			}
			before = said
			text += "   " + t.Fit(shown, c.answer, false)
		}
		lines = append(lines, theme.Span{Text: text, Role: role})
	}
	lines = append(lines, s.scheduled(c)...)
	if len(s.Responses) == 0 && s.whole {
		lines = append(lines, theme.Span{Text: "  no attempt yet", Role: theme.Dim})
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
		return []theme.Span{{Text: before + next, Role: theme.Dim}}
	}
	return []theme.Span{{Text: before + what + ";", Role: theme.Dim}, {Text: strings.Repeat(" ", len(before)) + more, Role: theme.Dim}}
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
