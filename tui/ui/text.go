package ui

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

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

// Percent formats a share from 0 to 1. Only all is 100 %, and only none is 0 %.
func Percent(share float64) string {
	if share <= 0 || share >= 1 {
		return fmt.Sprintf("%.0f %%", 100*share)
	}
	tenths := max(1, math.Floor(1000*share))
	return fmt.Sprintf("%.1f %%", tenths/10)
}

// Took formats a duration with two or three digits: 0.6 ms, 27 ms, 1.2 s.
func Took(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return strings.Replace(fmt.Sprintf("%.1f ms", d.Seconds()*1000), ".0 ", " ", 1)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", d.Seconds()*1000)
	case d < 10*time.Second:
		return strings.Replace(fmt.Sprintf("%.1f s", d.Seconds()), ".0 ", " ", 1)
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// Parts joins the parts of a line that are not empty.
func Parts(texts ...string) string {
	texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" })
	return strings.Join(texts, "   ")
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
	return "paused after failures" + reason + ", next try " + Soon(untilNext)
}

// Size formats a number of bytes.
func Size(n int) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	if n < 1<<20 {
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
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

// Quote quotes text for a shell: in double quotes, which all shells support, unless it
// contains characters that are special inside them. Characters that a terminal does
// not show are escaped, as in $'line\n'.
func Quote(text string) string {
	if runtime.GOOS != "windows" && strings.ContainsFunc(text, hidden) {
		return escapedQuote(text)
	}
	if runtime.GOOS != "windows" && strings.ContainsAny(text, "$`\\!") {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
}

// hidden reports whether a character would be replaced on the screen.
func hidden(r rune) bool { return display.Escape(r) != "" }

// escapedQuote quotes text in the form $'..', with hidden characters as bytes.
func escapedQuote(text string) string {
	out := []byte("$'")
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		valid := r != utf8.RuneError || size > 1
		switch {
		case r == '\n':
			out = append(out, `\n`...)
		case r == '\t':
			out = append(out, `\t`...)
		case r == '\'' || r == '\\':
			out = append(out, '\\', byte(r))
		case hidden(r) || !valid:
			for _, b := range []byte(text[:size]) {
				out = fmt.Appendf(out, `\%03o`, b)
			}
		default:
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	return string(append(out, '\''))
}

// AttemptResult formats the outcome of a delivery attempt.
func AttemptResult(r wire.MessageResponse) string {
	if r.HTTPCode != nil {
		return strings.TrimSpace(strconv.Itoa(*r.HTTPCode) + " " + r.Message)
	}
	return r.Message
}

// tags matches the tags of HTML.
var tags = regexp.MustCompile(`<[^>]*>`)

// AnswerText returns the text of the answer to an attempt, or of the error if there was none;
// empty if there is no text.
func AnswerText(r wire.Attempt) string { return *cmp.Or(r.AnswerText, r.Detail, new(string)) }

// FirstLine returns the first line with text of the answer to an attempt, or of the error if
// there was none. Tags of HTML are left out; the texts that they separate stay separate words.
func FirstLine(r wire.Attempt) string {
	for line := range strings.Lines(AnswerText(r)) {
		if tags.MatchString(line) {
			line = strings.Join(strings.Fields(tags.ReplaceAllString(line, " ")), " ")
		}
		line = strings.TrimSpace(line)
		if line != "" {
			return line
		}
	}
	return ""
}

// ticksPerMilli is the number of ticks of a TimeSpan in a millisecond.
const ticksPerMilli = 10_000

// DurationText formats a TimeSpan of the API in milliseconds.
func DurationText(text string) string {
	ticks, err := wire.ParseTimeSpan(text)
	if err != nil {
		return text
	}
	return display.Thousands(ticks/ticksPerMilli) + " ms"
}

// SecretMask replaces secret values, independent of their length.
const SecretMask = "********"

// MaskURL replaces the query values and the password of a URL.
func MaskURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	if _, ok := u.User.Password(); ok {
		u.User = url.UserPassword(u.User.Username(), SecretMask)
	}
	if u.RawQuery != "" {
		parameters := strings.Split(u.RawQuery, "&")
		for i, parameter := range parameters {
			name, _, hasValue := strings.Cut(parameter, "=")
			parameters[i] = SecretMask
			if hasValue {
				parameters[i] = name + "=" + SecretMask
			}
		}
		u.RawQuery = strings.Join(parameters, "&")
	}
	return strings.ReplaceAll(u.String(), url.PathEscape(SecretMask), SecretMask)
}

// Milliseconds is DurationText with one decimal below 10 ms.
func Milliseconds(text string) string {
	ticks, err := wire.ParseTimeSpan(text)
	if err != nil {
		return text
	}
	return TicksText(ticks)
}

// TicksText formats a number of ticks in milliseconds, with one decimal below 10 ms.
func TicksText(ticks int64) string {
	if ticks < 10*ticksPerMilli {
		return fmt.Sprintf("%.1f ms", float64(ticks)/ticksPerMilli)
	}
	return display.Thousands(ticks/ticksPerMilli) + " ms"
}
