package display

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Age formats a duration in its largest unit. Units are coarse so that lines rarely
// change.
func Age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// Duration is Duration.String without trailing zero units: 1h, not 1h0m0s.
func Duration(d time.Duration) string {
	text := d.String()
	for _, end := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, end) {
			text = text[:len(text)-len("0s")]
		}
	}
	return text
}

// Soon formats the time until an event.
func Soon(d time.Duration) string {
	if d <= 0 {
		return "now"
	}
	return "in " + Age(d)
}

// Response formats the response to an attempt: its status code, nil or 0 without a response, and the
// reason phrase or the error. Some messages start with the code already.
func Response(code *int, message string) string {
	if code == nil || *code == 0 {
		return message
	}
	number := strconv.Itoa(*code)
	if message == number || strings.HasPrefix(message, number+" ") {
		return message
	}
	return strings.TrimSpace(number + " " + message)
}

// BreakerOpen describes a subscription with an open circuit breaker, to which only single
// messages are sent at intervals. reason is the last failure; empty if it is not known.
func BreakerOpen(reason string, untilNext time.Duration) string {
	if reason != "" {
		reason = ", " + reason
	}
	next := "; next attempt " + Soon(untilNext)
	if untilNext <= 0 {
		next = "; next attempt due now"
	}
	return "circuit breaker open" + reason + next
}

// ShortID returns the first and last four characters of an ID: a SubscriberID is a secret.
func ShortID(id string) string {
	first, last, isCut := EndsOfID(id)
	if !isCut {
		return id
	}
	return first + ".." + last
}

// EndsOfID returns the first and last four characters of an ID, in which IDs of the same time differ.
// isCut is false for a short ID, which is shown whole.
func EndsOfID(id string) (first, last string, isCut bool) {
	const end, enough = 4, 10
	characters := []rune(id)
	if len(characters) <= enough {
		return "", "", false
	}
	return string(characters[:end]), string(characters[len(characters)-end:]), true
}

// ShortURL returns a URL without scheme, trailing slash and query values, which can be
// secrets.
func ShortURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text
	}
	short := u.Host + strings.TrimSuffix(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		short += "?.."
	}
	return short
}
