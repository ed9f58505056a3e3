package requestlog

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// sensitiveWord marks members with values that must not be logged.
type sensitiveWord struct {
	text  string
	shown int // number of leading characters of the value that are logged
}

var sensitiveWords = []sensitiveWord{
	{"password", 0},
	{"username", 0},
	{"apikey", 0},
	{"headers", 0},
	{"secret", 0},
	{"ss-id", 0},
	{"token", 0},
	{"pwd", 0},
	{"whd_", 0},   // prefix of API keys
	{"whsec_", 0}, // prefix of the secrets of subscriptions
	{"subscriberid", shownIDChars},
	{"subscriber_recid", shownIDChars},
}

// shownIDChars is how many characters of a SubscriberID are logged. The ID grants
// access to the subscriber's messages: 32 of its 122 random bits are shown.
const shownIDChars = 8

const masked = "***"

// subscribersSegment is the path segment followed by a SubscriberID.
const subscribersSegment = "subscribers"

// Mask returns a member's value for the log.
func Mask(name, value string) string {
	if w := findSensitive(name); w != nil {
		return w.mask(value)
	}
	return value
}

// mask is idempotent.
func (w *sensitiveWord) mask(value string) string {
	if len(value) <= w.shown || !isURLSafe(value[:w.shown]) {
		return masked
	}
	shown := value[:w.shown] + masked
	if len(value) <= 2*w.shown && value != shown {
		return masked // too short for an ID; a part would reveal too much
	}
	return shown
}

// isURLSafe reports whether a text needs no escaping in a URL.
func isURLSafe(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '-'
	}) < 0
}

// findSensitive returns a sensitive word that a text contains, in any letter case,
// or nil.
func findSensitive(text string) *sensitiveWord {
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			folded := strings.ToLower(text) // folds some other letters to ASCII
			if w := slices.IndexFunc(sensitiveWords, func(w sensitiveWord) bool { return strings.Contains(folded, w.text) }); w >= 0 {
				return &sensitiveWords[w]
			}
			return nil
		}
		if !firstLetters[c|0x20] {
			continue
		}
		if w := wordAt(text[i:]); w != nil {
			return w
		}
	}
	return nil
}

// firstLetters marks the first letters of sensitive words.
var firstLetters = func() (letters [utf8.RuneSelf]bool) {
	for _, w := range sensitiveWords {
		letters[w.text[0]] = true
	}
	return letters
}()

// wordAt returns the sensitive word that ASCII text starts with, or nil.
func wordAt(text string) *sensitiveWord {
	for i := range sensitiveWords {
		w := &sensitiveWords[i]
		if len(text) >= len(w.text) && text[0]|0x20 == w.text[0] && strings.EqualFold(text[:len(w.text)], w.text) {
			return w
		}
	}
	return nil
}

// isName reports whether a text with a sensitive word is just a name; a longer text
// may contain the secret itself.
func isName(text string) bool {
	return len(text) <= 40 && strings.IndexFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '_' && r != ' '
	}) < 0
}

// IsSensitive reports whether a text contains a sensitive word. A malformed request
// may have a password anywhere.
func IsSensitive(text string) bool { return findSensitive(text) != nil }

// MaskQuery masks the values of members that may be secret, and all other parts of
// a raw query that contain a sensitive word.
func MaskQuery(raw string) string {
	if !strings.ContainsAny(raw, "%+") && !IsSensitive(raw) {
		return raw
	}
	pairs := strings.Split(raw, "&")
	for i, pair := range pairs {
		text, err := url.QueryUnescape(pair)
		name, value, _ := strings.Cut(text, "=")
		switch w := findSensitive(name); {
		case err != nil:
			pairs[i] = masked
		case w != nil && isName(name):
			pairs[i] = url.QueryEscape(name) + "=" + w.mask(value)
		case IsSensitive(text):
			pairs[i] = masked
		}
	}
	return strings.Join(pairs, "&")
}

// MaskPath masks the SubscriberID in an escaped path, and segments that look like a
// member with a secret.
func MaskPath(escaped string) string {
	if strings.IndexByte(escaped, '%') < 0 && strings.IndexByte(escaped, '=') < 0 && !namesSubscriber(escaped) {
		return escaped
	}
	id := sensitiveWord{shown: shownIDChars}
	parts := strings.Split(escaped, "/")
	after := false // the ID is in the next segment that is not empty
	for i, part := range parts {
		switch {
		case part == "":
		case after:
			parts[i], after = id.mask(part), false
		default:
			text, err := url.PathUnescape(part)
			after = err == nil && strings.EqualFold(text, subscribersSegment)
			if strings.Contains(text, "=") && IsSensitive(text) {
				parts[i] = masked
			}
		}
	}
	return strings.Join(parts, "/")
}

func namesSubscriber(path string) bool {
	for i := range max(0, len(path)-len(subscribersSegment)+1) {
		if path[i]|0x20 == subscribersSegment[0] && strings.EqualFold(path[i:i+len(subscribersSegment)], subscribersSegment) {
			return true
		}
	}
	return false
}

// MaskURL masks a URL from outside. A URL that cannot be parsed is masked
// completely.
func MaskURL(text string) string {
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil {
		return masked
	}
	if u.Opaque != "" {
		return u.Scheme + ":" + masked
	}
	shown := MaskPath(u.EscapedPath())
	if u.Host != "" {
		shown = "//" + u.Host + shown // without user information
	}
	if u.Scheme != "" {
		shown = u.Scheme + ":" + shown
	}
	if u.RawQuery != "" {
		shown += "?" + MaskQuery(u.RawQuery)
	}
	return shown
}
