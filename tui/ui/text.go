package ui

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
)

// Formats that commands use, too.
var (
	Age      = display.Age
	Soon     = display.Soon
	ShortID  = display.ShortID
	ShortURL = display.ShortURL
)

// NoMatch returns the text of a list in which nothing matches conditions, with the remedy, such as
// a key with its effect, and the number of rows without the conditions if it is known.
func NoMatch(noun string, conditions []string, remedy string, without int64) string {
	text := "No " + noun + " matches " + strings.Join(conditions, "  ") + ". " + remedy
	if without == 0 {
		return text + "."
	}
	pronoun := "it"
	if len(conditions) > 1 {
		pronoun = "them"
	}
	return fmt.Sprintf("%s (%s without %s).", text, display.Thousands(without), pronoun)
}

// EndpointName returns the host of a URL, and its path after a space.
func EndpointName(text string) string {
	short := ShortURL(text)
	host, path, hasPath := strings.Cut(short, "/")
	if !hasPath {
		return short
	}
	return host + " /" + path
}

// Parts joins the parts of a line that are not empty.
func Parts(texts ...string) string { return Join("   ", texts...) }

// Join joins the texts that are not empty.
func Join(separator string, texts ...string) string {
	var parts []string
	for _, text := range texts {
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, separator)
}

// Until formats the time until something is due.
func Until(d time.Duration) string {
	if d <= 0 {
		return "due"
	}
	return "in " + Age(d)
}

// PausedText describes an endpoint with an open circuit breaker, to which only single messages are
// sent at intervals. reason is the last failure; empty if it is not known.
func PausedText(reason string, untilNext time.Duration) string {
	if reason != "" {
		reason = " (" + reason + ")"
	}
	return "paused after failures" + reason + ", " + Next("next try", untilNext)
}

// RateLimitText describes an endpoint with messages that its rate limit delays.
func RateLimitText(untilNext time.Duration) string {
	return "rate limit, " + Next("next", untilNext)
}

// Next describes when something happens next, with a label, such as "next in 6m".
func Next(label string, until time.Duration) string {
	if until <= 0 {
		return "due now"
	}
	return strings.TrimSpace(label + " " + Soon(until))
}

// LastResult returns the last HTTP status code of a message, or why there was no
// response.
func LastResult(m wire.Message) string {
	if m.LastMessageResponseHTTPCode != nil {
		return strconv.Itoa(*m.LastMessageResponseHTTPCode)
	}
	if m.LastMessageResponseMessage == "" {
		return "-"
	}
	return m.LastMessageResponseMessage
}

// AttemptResult formats the outcome of a delivery attempt.
func AttemptResult(r wire.MessageResponse) string {
	return display.Response(r.HTTPCode, r.Message)
}

// FailureText formats the outcome of a failed attempt, like AttemptResult.
func FailureText(f wire.Failed) string {
	return display.Response(&f.HTTPCode, f.Message)
}

// AnswerText returns the text of the answer to an attempt, or of the error if there was none;
// empty if there is no text.
func AnswerText(r wire.Attempt) string {
	answer := *cmp.Or(r.AnswerText, new(string))
	detail := *cmp.Or(r.Detail, new(string))
	return cmp.Or(answer, detail)
}
