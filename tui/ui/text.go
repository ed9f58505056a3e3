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

// Age formats a duration in its largest unit, as in the output of commands.
func Age(d time.Duration) string { return display.Age(d) }

// ShortID formats an ID with its first and last characters, as in the output of commands.
func ShortID(id string) string { return display.ShortID(id) }

// ShortURL formats a URL without its scheme and query values, as in the output of commands.
func ShortURL(url string) string { return display.ShortURL(url) }

// NoMatch returns the text of a list in which nothing matches conditions, with the remedy, such as
// a key with its effect. unfiltered is the number of rows without the conditions; 0 if it is not
// known.
func NoMatch(noun string, conditions []string, remedy string, unfiltered int64) string {
	text := "No " + noun + " matches " + strings.Join(conditions, "  ") + ". " + remedy
	if unfiltered == 0 {
		return text + "."
	}
	pronoun := "it"
	if len(conditions) > 1 {
		pronoun = "them"
	}
	return fmt.Sprintf("%s (%s without %s).", text, display.Thousands(unfiltered), pronoun)
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

// Until formats the time until something is due: "in 6m", or "due".
func Until(d time.Duration) string {
	if d <= 0 {
		return "due"
	}
	return display.Soon(d)
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

// Next describes when something happens next: "due now", or with a label, such as "next in 6m".
func Next(label string, until time.Duration) string {
	if until <= 0 {
		return "due now"
	}
	return strings.TrimSpace(label + " " + Until(until))
}

// LastResult returns the last HTTP status code of a message, or why there was no response; "-" if
// neither is known.
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
