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
	shown int  // number of leading characters of the value that are logged
	whole bool // only as a whole name
}

// Prefixes of API keys and of the secrets of subscriptions.
const (
	keyPrefix    = "whd_"
	secretPrefix = "whsec_"
)

var sensitiveWords = []sensitiveWord{
	{text: "password"},
	{text: "passwd"},
	{text: "username"},
	{text: "apikey"},
	{text: "api_key"},
	{text: "api-key"},
	{text: "headers"},
	{text: "secret"},
	{text: "ss-id"},
	{text: "token"},
	{text: "pwd"},
	{text: "key", whole: true},
	{text: "pass", whole: true},
	{text: keyPrefix},
	{text: secretPrefix},
	{text: subscribersSegment + "/"}, // a path with a SubscriberID
	{text: "subscriberid", shown: shownIDChars},
	{text: "subscriber_recid", shown: shownIDChars},
}

// recID is the RecID of a subscriber: its SubscriberID.
var recID = sensitiveWord{text: "recid", shown: shownIDChars}

// eventBody is the body of an event or of a test message, which is a document.
var eventBody = sensitiveWord{text: "body"}

// businessKey is the name of members that are the subject of events, such as the number of
// a document. Elsewhere a member of this name may be an API key.
const businessKey = "key"

// businessKeyOperations are the last segments of paths with such members.
var businessKeyOperations = []string{
	"why", "events", "raiseevent", "webhookseventpostrequest",
	"webhookseventspostrequest",
}

// isBusinessKey reports whether a member of a request to a path is the subject of events.
func isBusinessKey(path, name string) bool {
	if !strings.EqualFold(name, businessKey) {
		return false
	}
	path = strings.TrimRight(path, "/")
	operation, _, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ".")
	return slices.Contains(businessKeyOperations, strings.ToLower(strings.TrimSuffix(operation, "[]")))
}

// isEventBody reports whether a member may be the body of an event, or a part of it, such
// as Body[Card].
func isEventBody(name string) bool {
	word := len(eventBody.text)
	if len(name) < word || !strings.EqualFold(name[:word], eventBody.text) {
		return false
	}
	return len(name) == word || name[word] == '[' || name[word] == '.'
}

// sensitiveMember returns the sensitive word in the name of a member of a request to a path,
// or nil.
func sensitiveMember(path, name string) *sensitiveWord {
	if isBusinessKey(path, name) {
		return nil
	}
	if w := findSensitive(name); w != nil {
		return w
	}
	if namesRecID(path, name) {
		return &recID
	}
	if isEventBody(name) {
		return &eventBody
	}
	return nil
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
	return !strings.ContainsFunc(text, func(r rune) bool { return !isAlphanumeric(r) && r != '-' })
}

func isAlphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}

// findSensitive returns a sensitive word that a text contains, in any letter case,
// or nil.
func findSensitive(text string) *sensitiveWord {
	folded := false
	for i := 0; i < len(text); i++ {
		if c := text[i]; c >= utf8.RuneSelf {
			if !folded {
				text = strings.ToLower(text) // folds some other letters to ASCII
				folded = true
				i = -1 // from the start again
			}
		} else if firstLetters[c|0x20] {
			if w := wordAt(text, i); w != nil {
				return w
			}
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

// wordAt returns the sensitive word at an index of a text, or nil.
func wordAt(text string, from int) *sensitiveWord {
	for i := range sensitiveWords {
		w := &sensitiveWords[i]
		to := from + len(w.text)
		if to > len(text) || text[from]|0x20 != w.text[0] || !strings.EqualFold(text[from:to], w.text) {
			continue
		}
		if !w.whole || isWhole(text, from, to) {
			return w
		}
	}
	return nil
}

// isWhole reports whether a part of a text may be the whole name of a member: before a
// value, or as the whole text.
func isWhole(text string, from, to int) bool {
	if from > 0 && (text[from-1] >= utf8.RuneSelf || text[from-1] == '_' || isURLSafe(text[from-1:from])) {
		return false
	}
	behind := strings.TrimLeft(text[to:], " ")
	if behind == "" {
		return from == 0
	}
	return strings.IndexByte("\"':=,;>\t\r\n", behind[0]) >= 0
}

// isName reports whether a text with a sensitive word is just a name; a longer text
// may contain the secret itself.
func isName(text string) bool {
	const maxName = 40
	isOther := func(r rune) bool { return !isAlphanumeric(r) && r != '_' && r != '-' && r != ' ' }
	return len(text) <= maxName && !strings.ContainsFunc(text, isOther)
}

// IsSensitive reports whether a text contains a sensitive word. A malformed request
// may have a password anywhere.
func IsSensitive(text string) bool { return findSensitive(text) != nil }

// IsSecret reports whether a text contains a word for values that are masked completely.
func IsSecret(text string) bool {
	w := findSensitive(text)
	return w != nil && w.shown == 0
}

// HoldsKey reports whether a text may contain an API key or the secret of a subscription.
func HoldsKey(text string) bool {
	return containsFold(text, keyPrefix) || containsFold(text, secretPrefix)
}

// namesRecID reports whether a text may name the RecID of a subscriber.
func namesRecID(path, text string) bool {
	return containsFold(text, recID.text) &&
		(containsFold(path, "subscriber") || containsFold(text, "subscriber"))
}

// MaskQuery masks the values of members that may be secret, and all other parts of
// the raw query of a path that contain a sensitive word.
func MaskQuery(path, raw string) string {
	isHarmless := !strings.ContainsAny(raw, "%+") && !IsSensitive(raw) &&
		!namesRecID(path, raw) && !containsFold(raw, eventBody.text)
	if isHarmless {
		return raw
	}
	pairs := strings.Split(raw, "&")
	for i, pair := range pairs {
		pairs[i] = maskPair(path, pair)
	}
	return strings.Join(pairs, "&")
}

func maskPair(path, pair string) string {
	text, err := url.QueryUnescape(pair)
	if err != nil {
		return masked
	}
	name, value, _ := strings.Cut(text, "=")
	if isBusinessKey(path, name) {
		text = value // the name is not a secret
	}
	w := sensitiveMember(path, name)
	if w != nil && isName(name) {
		return url.QueryEscape(name) + "=" + w.mask(value)
	}
	if w != nil || IsSensitive(text) || namesRecID(path, text) {
		return masked
	}
	return pair
}

// MaskPath masks the SubscriberID in an escaped path, and segments that look like a
// key or a member with a secret.
func MaskPath(escaped string) string {
	isHarmless := strings.IndexByte(escaped, '%') < 0 && strings.IndexByte(escaped, '=') < 0 &&
		!containsFold(escaped, subscribersSegment) && !HoldsKey(escaped)
	if isHarmless {
		return escaped
	}
	id := sensitiveWord{shown: shownIDChars}
	segments := strings.Split(escaped, "/")
	isID := false // the next segment that is not empty is a SubscriberID
	for i, segment := range segments {
		if segment == "" {
			continue
		}
		if isID {
			segments[i] = id.mask(segment)
			isID = false
			continue
		}
		text, err := url.PathUnescape(segment)
		isID = err == nil && strings.EqualFold(text, subscribersSegment)
		isSecretMember := strings.Contains(text, "=") && IsSensitive(text)
		if isSecretMember || HoldsKey(text) {
			segments[i] = masked
		}
	}
	return strings.Join(segments, "/")
}

// containsFold reports whether a text contains an ASCII word, in any letter case.
func containsFold(text, word string) bool {
	for i := range max(0, len(text)-len(word)+1) {
		if text[i]|0x20 == word[0] && strings.EqualFold(text[i:i+len(word)], word) {
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
		shown += "?" + MaskQuery(u.Path, u.RawQuery)
	}
	return shown
}
