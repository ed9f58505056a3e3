package messages

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// messageTab is a tab of a message.
type messageTab struct {
	Name  string
	lines func(s *content) []theme.Span
	timed bool // its lines depend on the current time
}

// MessageTabs are the tabs of a message.
var MessageTabs = []messageTab{
	{"Attempts", (*content).attempts, true},
	{"Body", (*content).body, false},
	{"Headers", (*content).headerLines, false},
	{"Response", (*content).responses, false},
	{"cURL", (*content).curl, false},
}

func messageTabNames() []string {
	return record.Texts(MessageTabs, func(t messageTab) string { return t.Name })
}

// content is a message with its attempts, and builds its tabs.
type content struct {
	session     *ui.Session
	subscribers *names
	width       int // width of the lines in cells
	Message     wire.Message
	MessageParts
	loaded   bool   // the body is loaded
	revealed bool   // secrets are shown, as far as they are known
	saved    string // path of the saved body; empty if not saved
}

func (s *content) body() []theme.Span {
	return ui.JSONLines([]byte(s.Message.Body), s.width-2)
}

// sentHeaders returns the headers of a delivery. Values that the service does not
// return are always masked.
func (s *content) sentHeaders() []wire.Header {
	var all []wire.Header
	if s.loaded {
		all = append(all, wire.Header{Name: "Content-Type", Value: wire.BodyType([]byte(s.Message.Body))})
	}
	all = append(all,
		wire.Header{Name: "Webhook-Id", Value: s.Message.MessageID},
		wire.Header{Name: "X-Event-Name", Value: s.Message.EventName},
		wire.Header{Name: "Webhook-Timestamp", Value: ""},
		wire.Header{Name: "Webhook-Signature", Value: ""},
	)
	for _, h := range s.Headers {
		all = append(all, wire.Header{Name: h.Name, Value: ui.SecretMask})
	}
	return all
}

// headerLines lists the headers and IDs of a delivery.
func (s *content) headerLines() []theme.Span {
	t := s.session.Theme
	width := 20
	for _, h := range s.Headers {
		width = min(max(width, len(h.Name)+2), 40)
	}
	lines := []theme.Span{{Text: "  " + t.Fit("URL", width, false) + s.address()}}
	for _, h := range s.sentHeaders() {
		lines = append(lines,
			theme.Span{Text: "  " + t.Fit(h.Name, width, false) + cmp.Or(h.Value, "generated for each attempt")})
	}
	lines = append(lines, theme.Span{})
	switch {
	case !s.loaded:
		lines = append(lines, theme.Span{Text: "  " + strings.Repeat(t.Loading, 3), Role: theme.Dim})
	case s.Headers == nil && s.NoHeaders != "":
		lines = append(lines, theme.Span{Text: "  Headers of the subscription: " + s.NoHeaders, Role: theme.Dim})
	case len(s.Headers) == 0:
		lines = append(lines, theme.Span{Text: "  The subscription has no custom headers.", Role: theme.Dim})
	default:
		lines = append(lines, theme.Span{
			Text: "  The service does not return the values of custom headers.",
			Role: theme.Dim,
		})
	}
	return append(lines, theme.Span{Text: "  SubscriberID        " + s.secret(s.Message.SubscriberID)},
		theme.Span{Text: "  SubscriptionID      " + s.Message.SubscriptionID}, s.revealHint())
}

func (s *content) revealHint() theme.Span {
	if s.revealed {
		return theme.Span{Text: "  v hides them again", Role: theme.Dim}
	}
	return theme.Span{
		Text: "  " + keymap.KeyFor(keymap.InMessage, keymap.Reveal) +
			" shows the SubscriberID and the query string of the URL",
		Role: theme.Dim,
	}
}

// secret returns an ID that is a key: shortened unless it is revealed.
func (s *content) secret(id string) string {
	if s.revealed {
		return id
	}
	return ui.ShortID(id)
}

// address returns the URL. Its query string can be a key and is masked unless it
// is revealed.
func (s *content) address() string {
	if s.revealed {
		return s.Message.URL
	}
	return ui.MaskURL(s.Message.URL)
}

// subscriberText returns the name and ID of the subscriber. The ID is a key and is
// masked unless it is revealed.
func (s *content) subscriberText() string {
	id := s.secret(s.Message.SubscriberID)
	if name, ok := s.subscribers.of(s.Message); ok {
		return "subscriber " + name + " " + id
	}
	return "subscriber " + id
}

// responses lists the responses of the receiver, newest first.
func (s *content) responses() []theme.Span {
	var lines []theme.Span
	for i := len(s.Responses) - 1; i >= 0; i-- {
		r := s.Responses[i]
		code := "no response"
		if r.HTTPCode != nil {
			code = strconv.Itoa(*r.HTTPCode)
		}
		lines = append(lines, theme.Span{Text: fmt.Sprintf("  Attempt %d", r.ItemNo), Role: theme.Breadcrumb},
			theme.Span{Text: "    status   " + code}, theme.Span{Text: "    message  " + r.Message},
			theme.Span{Text: "    ended    " + s.session.TimeOfDay(time.Time(r.LastSavedDateTime)) +
				", took " + ui.DurationText(r.Duration)})
		lines = append(lines, s.responseText(r)...)
		lines = append(lines, theme.Span{})
	}
	if len(lines) == 0 {
		return []theme.Span{{Text: "  no response yet", Role: theme.Dim}}
	}
	return lines
}

// responseText returns the response body, or the error if there was no response.
func (s *content) responseText(r wire.Attempt) []theme.Span {
	text := ui.AnswerText(r)
	if text == "" {
		return nil
	}
	return theme.Indent("    ", ui.JSONLines([]byte(text), s.width-6))
}

// curl returns a command that sends the message from this computer, without
// secrets.
func (s *content) curl() []theme.Span {
	where := "  " + keymap.KeyFor(keymap.InMessage, keymap.Export) + " saves the body as " + s.bodyName() + "."
	if s.saved != "" {
		where = "  The body is saved as " + s.saved + "."
	}
	lines := []theme.Span{
		{Text: where, Role: theme.Dim},
		{Text: "  The signature and custom header values are not included:", Role: theme.Dim},
		{Text: "  the receiver may reject the request.", Role: theme.Dim},
		{},
	}
	return append(lines, theme.Indent("  ", theme.Wrap(s.curlText(), s.width-4))...)
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

// bodyPath returns the default path of a saved body.
func (s *content) bodyPath() string {
	return export.UnusedPath(s.session.Downloads, "body-"+ui.ShortID(s.Message.MessageID), ".json")
}

// bodyName returns the name of the saved body, or the name it would be saved as.
func (s *content) bodyName() string {
	return filepath.Base(cmp.Or(s.saved, s.bodyPath()))
}

// attemptColumns are the widths of the columns of attempts in cells.
type attemptColumns struct{ when, result, response int }

const (
	durationWidth    = 11 // width of the duration
	minResponseWidth = 12 // minimum width of a response
)

// attemptColumns returns the widths that fit. The response is hidden if it does
// not fit.
func (s *content) attemptColumns() attemptColumns {
	c := attemptColumns{when: 16, result: 25}
	if s.width < 76 {
		c = attemptColumns{when: 10, result: 24}
	}
	c.response = s.width - c.when - c.result - durationWidth - 10
	if c.response < minResponseWidth {
		c.response = 0
	}
	return c
}

// attempts lists the attempts and the next attempt.
func (s *content) attempts() []theme.Span {
	t, c := s.session.Theme, s.attemptColumns()
	title := "  " + t.Fit("  #  when", c.when+5, false) + t.Fit("result", c.result, false) +
		t.Fit("took", durationWidth, true)
	if c.response > 0 {
		title += "   response"
	}
	lines := []theme.Span{{Text: title, Role: theme.Title}}
	before := ""
	for _, r := range s.Responses {
		role := theme.Failure
		if r.Status == 1 {
			role = theme.Success
		}
		text := fmt.Sprintf("  %3d  %s%s%s", r.ItemNo,
			t.Fit(s.session.TimeText(time.Time(r.LastSavedDateTime)), c.when, false),
			t.Fit(ui.AttemptResult(r.MessageResponse), c.result, false),
			t.Fit(ui.DurationText(r.Duration), durationWidth, true))
		if line := ui.FirstLine(r); c.response > 0 && line != "" {
			shown := line
			if line == before {
				shown = "(same)"
			}
			before = line
			text += "   " + t.Fit(shown, c.response, false)
		}
		lines = append(lines, theme.Span{Text: text, Role: role})
	}
	lines = append(lines, s.scheduled(c)...)
	if len(s.Responses) == 0 && s.loaded {
		lines = append(lines, theme.Span{Text: "  no attempt yet", Role: theme.Dim})
	}
	return lines
}

// addSummary adds the last response and the body below the attempts, if they are short.
func (s *content) addSummary(p *ui.Pager) {
	if n := len(s.Responses); n > 0 {
		last := s.Responses[n-1]
		p.AddSection(fmt.Sprintf("Response of attempt %d", last.ItemNo), ui.AnswerText(last), s.width)
	}
	if len(s.Message.Body) <= summaryBytes {
		p.AddSection("Body", s.Message.Body, s.width)
	}
}

// summaryBytes limits the body below the attempts, which are drawn every second.
const summaryBytes = 8 << 10

// scheduled describes the next attempt, on two lines if one is too narrow.
func (s *content) scheduled(c attemptColumns) []theme.Span {
	t, next := s.session.Theme, nextLong(s.Message, s.session)
	if next == "-" {
		return nil
	}
	before := fmt.Sprintf("  %3d  %s", len(s.Responses)+1, t.Fit(s.nextAt(), c.when, false))
	first, second, two := strings.Cut(next, "; ")
	if !two || len(before)+len(next) < s.width {
		return []theme.Span{{Text: before + next, Role: theme.Dim}}
	}
	return []theme.Span{
		{Text: before + first + ";", Role: theme.Dim},
		{Text: strings.Repeat(" ", len(before)) + second, Role: theme.Dim},
	}
}

// nextAt returns the time of the next attempt, a dash if it is unknown.
func (s *content) nextAt() string {
	at := time.Time(s.Message.NextAttemptDateTime)
	if at.IsZero() {
		return "-"
	}
	return s.session.TimeOfDay(at)
}

// attemptValues returns the values in the lines of attempts: the response, or else the
// result.
func (s *content) attemptValues(lines []theme.Span) []string {
	values := make([]string, len(lines))
	for i, r := range s.Responses {
		values[i+1] = cmp.Or(ui.AnswerText(r), ui.AttemptResult(r.MessageResponse)) // after the title
	}
	return values
}
