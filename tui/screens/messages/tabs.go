package messages

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
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

// Indexes of MessageTabs.
const (
	attemptsTab = iota
	bodyTab
	headersTab
	responseTab
	curlTab
)

// MessageTabs are the tabs of a message.
var MessageTabs = []messageTab{
	attemptsTab: {Name: "Attempts", lines: (*content).attempts, timed: true},
	bodyTab:     {Name: "Body", lines: (*content).body},
	headersTab:  {Name: "Headers", lines: (*content).headerLines},
	responseTab: {Name: "Response", lines: (*content).responses},
	curlTab:     {Name: "cURL", lines: (*content).curl},
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

// tabText returns the text to copy of a tab with these lines: the unformatted body, the cURL
// command, or the lines.
func (s *content) tabText(tab int, lines []theme.Span) string {
	switch tab {
	case bodyTab:
		return s.Message.Body
	case curlTab:
		return s.curlText()
	default:
		texts := record.Texts(lines, func(l theme.Span) string { return strings.TrimRight(l.Text, " ") })
		return strings.Join(texts, "\n")
	}
}

// body returns the lines of the body.
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
	nameWidth := 20
	for _, h := range s.Headers {
		nameWidth = min(max(nameWidth, len(h.Name)+2), 40)
	}
	lines := []theme.Span{{Text: "  " + t.Fit("URL", nameWidth, false) + s.address()}}
	for _, h := range s.sentHeaders() {
		value := cmp.Or(h.Value, "generated for each attempt")
		lines = append(lines, theme.Span{Text: "  " + t.Fit(h.Name, nameWidth, false) + value})
	}
	return append(lines,
		theme.Span{},
		theme.Span{Text: "  " + s.headerNote(), Role: theme.Dim},
		theme.Span{Text: "  SubscriberID        " + s.secret(s.Message.SubscriberID)},
		theme.Span{Text: "  SubscriptionID      " + s.Message.SubscriptionID},
		s.revealHint())
}

// headerNote describes the custom headers of the subscription.
func (s *content) headerNote() string {
	switch {
	case !s.loaded:
		return strings.Repeat(s.session.Theme.Loading, 3)
	case s.Headers == nil && s.NoHeaders != "":
		return "Headers of the subscription: " + s.NoHeaders
	case len(s.Headers) == 0:
		return "The subscription has no custom headers."
	}
	return "The service does not return the values of custom headers."
}

// revealHint explains the key that shows and hides secrets.
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
	for _, r := range slices.Backward(s.Responses) {
		code := "no response"
		if r.HTTPCode != nil {
			code = strconv.Itoa(*r.HTTPCode)
		}
		ended := s.session.TimeOfDay(time.Time(r.LastSavedDateTime))
		lines = append(lines,
			theme.Span{Text: fmt.Sprintf("  Attempt %d", r.ItemNo), Role: theme.Breadcrumb},
			theme.Span{Text: "    status   " + code},
			theme.Span{Text: "    message  " + r.Message},
			theme.Span{Text: "    ended    " + ended + ", took " + ui.DurationText(r.Duration)})
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
	bodyNote := "  " + keymap.KeyFor(keymap.InMessage, keymap.Export) + " saves the body as " + s.bodyName() + "."
	if s.saved != "" {
		bodyNote = "  The body is saved as " + s.saved + "."
	}
	lines := []theme.Span{
		{Text: bodyNote, Role: theme.Dim},
		{Text: "  The signature and custom header values are not included:", Role: theme.Dim},
		{Text: "  the receiver may reject the request.", Role: theme.Dim},
		{},
	}
	return append(lines, theme.Indent("  ", theme.Wrap(s.curlText(), s.width-4))...)
}

// curlText returns the command on one line.
func (s *content) curlText() string {
	text := ui.Curl() + " -X POST " + ui.Quote(s.address())
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
type attemptColumns struct {
	when     int
	result   int
	response int // 0 if it is not shown
}

const (
	durationWidth    = 11 // width of the duration
	minResponseWidth = 12 // minimum width of a response
	narrowWidth      = 76 // below this width of the screen, the columns are narrower
)

// attemptColumns returns the widths that fit. The response is hidden if it does
// not fit.
func (s *content) attemptColumns() attemptColumns {
	c := attemptColumns{when: 16, result: 25}
	if s.width < narrowWidth {
		c = attemptColumns{when: 10, result: 24}
		if s.session.Times != ui.Relative {
			c = attemptColumns{when: len("01-02 15:04:05 "), result: 19}
		}
	}
	const margins = 10 // the number of the attempt and the gaps
	c.response = s.width - c.when - c.result - durationWidth - margins
	if c.response < minResponseWidth {
		c.response = 0
	}
	return c
}

// attempts lists the attempts and the next attempt.
func (s *content) attempts() []theme.Span {
	t, c := s.session.Theme, s.attemptColumns()
	title := "  " + t.Fit("  #  when", c.when+len("  1  "), false) + t.Fit("result", c.result, false) +
		t.Fit("took", durationWidth, true)
	if c.response > 0 {
		title += "   response"
	}
	lines := []theme.Span{{Text: title, Role: theme.Title}}
	previous := "" // the last response that is not empty
	for _, r := range s.Responses {
		response := display.Summary(ui.AnswerText(r))
		isSame := response == previous
		if response != "" {
			previous = response
		}
		if isSame && response != "" {
			response = "(same)"
		}
		lines = append(lines, s.attemptLine(c, r, response))
	}
	lines = append(lines, s.scheduled(c)...)
	if len(s.Responses) == 0 && s.loaded {
		lines = append(lines, theme.Span{Text: "  no attempt yet", Role: theme.Dim})
	}
	return lines
}

// attemptLine returns the line of an attempt.
func (s *content) attemptLine(c attemptColumns, r wire.Attempt, response string) theme.Span {
	t := s.session.Theme
	role := theme.Failure
	if r.Status == ui.StatusDelivered {
		role = theme.Success
	}
	text := fmt.Sprintf("  %3d  %s%s%s", r.ItemNo,
		t.Fit(s.session.TimeText(time.Time(r.LastSavedDateTime)), c.when, false),
		t.Fit(ui.AttemptResult(r.MessageResponse), c.result, false),
		t.Fit(ui.DurationText(r.Duration), durationWidth, true))
	if c.response > 0 && response != "" {
		text += "   " + t.Fit(response, c.response, false)
	}
	return theme.Span{Text: text, Role: role}
}

// addSummary adds the answer to an attempt, none for a negative index, and the body below the
// attempts, if they are short.
func (s *content) addSummary(p *ui.Pager, index int) {
	if index >= 0 {
		attempt := s.Responses[index]
		p.AddSection(fmt.Sprintf("Response of attempt %d", attempt.ItemNo), ui.AnswerText(attempt), s.width)
	}
	if len(s.Message.Body) <= summaryBytes {
		p.AddSection("Body", s.Message.Body, s.width)
	}
}

// summaryBytes is the maximum size of a body below the attempts, which are drawn every second.
const summaryBytes = 8 << 10

// scheduled describes the next attempt, on two lines if one is too narrow.
func (s *content) scheduled(c attemptColumns) []theme.Span {
	text := nextLong(s.Message, s.session)
	if s.Withheld != "" {
		return s.withheldLines()
	}
	if text == noAttempt {
		return nil
	}
	when := "-"
	if due := nextAt(s.Message, s.session); !due.IsZero() {
		when = s.session.TimeUntilText(due)
	}
	start := fmt.Sprintf("  %3d  %s", len(s.Responses)+1, s.session.Theme.Fit(when, c.when, false))
	first, second, hasSecond := strings.Cut(text, "; ")
	if !hasSecond || len(start)+len(text) < s.width {
		return []theme.Span{{Text: start + text, Role: theme.Dim}}
	}
	return []theme.Span{
		{Text: start + first + ";", Role: theme.Dim},
		{Text: strings.Repeat(" ", len(start)) + second, Role: theme.Dim},
	}
}

// withheldLines returns the lines with the reason why the message is held.
func (s *content) withheldLines() []theme.Span {
	var lines []theme.Span
	for _, line := range s.session.Theme.WrapLines("held: "+s.Withheld, s.width-4, maxWithheldLines) {
		lines = append(lines, theme.Span{Text: "  " + line, Role: theme.Warning})
	}
	return lines
}

// maxWithheldLines is the maximum number of lines of the reason why a message is held.
const maxWithheldLines = 6

// attemptValues returns the values in the lines of attempts: the response, or else the
// result.
func (s *content) attemptValues(lines []theme.Span) []string {
	values := make([]string, len(lines))
	for i, r := range s.Responses {
		values[attemptsTop+i] = cmp.Or(ui.AnswerText(r), ui.AttemptResult(r.MessageResponse))
	}
	return values
}
