package requestlog

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// word gives away a member whose value reaches no log.
type word struct {
	text string
	keep int // characters of the value, for people to tell one from another
}

var words = []word{
	{"password", 0},
	{"username", 0},
	{"apikey", 0},
	{"headers", 0},
	{"secret", 0},
	{"ss-id", 0},
	{"token", 0},
	{"pwd", 0},
	{"whd_", 0},   // how API keys begin,
	{"whsec_", 0}, // and the secrets of subscriptions
	{"subscriberid", keptOfID},
	{"subscriber_recid", keptOfID},
}

// keptOfID is how much of a SubscriberID is shown. It is a key to the
// subscriber's messages: of its 122 random bits these are 32.
const keptOfID = 8

const stars = "***"

// ownCredential is the segment of a path behind which a SubscriberID stands.
const ownCredential = "subscribers"

// Mask is a member's value as a log may show it.
func Mask(name, value string) string {
	if w := spokenOf(name); w != nil {
		return w.mask(value)
	}
	return value
}

// mask leaves alone what it has masked before.
func (w *word) mask(value string) string {
	if len(value) <= w.keep || !harmless(value[:w.keep]) {
		return stars
	}
	shown := value[:w.keep] + stars
	if len(value) <= 2*w.keep && value != shown {
		return stars // too short to be what it should, so that a part would show too much
	}
	return shown
}

// harmless reports whether a text can stand in a URL as it is.
func harmless(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '-'
	}) < 0
}

// spokenOf is a word that a text holds, in any letter case, or nil.
func spokenOf(text string) *word {
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			folded := strings.ToLower(text) // which makes ASCII of some other letters
			if w := slices.IndexFunc(words, func(w word) bool { return strings.Contains(folded, w.text) }); w >= 0 {
				return &words[w]
			}
			return nil
		}
		if !begins[c|0x20] {
			continue
		}
		if w := wordAt(text[i:]); w != nil {
			return w
		}
	}
	return nil
}

// begins are the letters that words begin with.
var begins = func() (letters [utf8.RuneSelf]bool) {
	for _, w := range words {
		letters[w.text[0]] = true
	}
	return letters
}()

// wordAt is the word that ASCII text begins with.
func wordAt(text string) *word {
	for i := range words {
		w := &words[i]
		if len(text) >= len(w.text) && text[0]|0x20 == w.text[0] && strings.EqualFold(text[:len(w.text)], w.text) {
			return w
		}
	}
	return nil
}

// isName reports whether a text that speaks of a secret does no more than name
// it: whatever holds more may hold the secret.
func isName(text string) bool {
	return len(text) <= 40 && strings.IndexFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '_' && r != ' '
	}) < 0
}

// SpeaksOfSecret reports whether a text holds one of the words. Whoever got the
// form of a request wrong did not mean to publish a password.
func SpeaksOfSecret(text string) bool { return spokenOf(text) != nil }

// MaskQuery writes stars for the values of members that may hold secrets, and
// for everything else that speaks of one.
func MaskQuery(raw string) string {
	if !strings.ContainsAny(raw, "%+") && !SpeaksOfSecret(raw) {
		return raw
	}
	pairs := strings.Split(raw, "&")
	for i, pair := range pairs {
		text, err := url.QueryUnescape(pair)
		name, value, _ := strings.Cut(text, "=")
		switch w := spokenOf(name); {
		case err != nil:
			pairs[i] = stars
		case w != nil && isName(name):
			pairs[i] = url.QueryEscape(name) + "=" + w.mask(value)
		case SpeaksOfSecret(text):
			pairs[i] = stars
		}
	}
	return strings.Join(pairs, "&")
}

// MaskPath masks the SubscriberID in an escaped path, and what looks like a
// member that has lost its way.
func MaskPath(escaped string) string {
	if strings.IndexByte(escaped, '%') < 0 && strings.IndexByte(escaped, '=') < 0 && !namesSubscriber(escaped) {
		return escaped
	}
	id := word{keep: keptOfID}
	parts := strings.Split(escaped, "/")
	after := false // the parameter stands in the next segment that is not empty
	for i, part := range parts {
		switch {
		case part == "":
		case after:
			parts[i], after = id.mask(part), false
		default:
			text, err := url.PathUnescape(part)
			after = err == nil && strings.EqualFold(text, ownCredential)
			if strings.Contains(text, "=") && SpeaksOfSecret(text) {
				parts[i] = stars
			}
		}
	}
	return strings.Join(parts, "/")
}

func namesSubscriber(path string) bool {
	for i := range max(0, len(path)-len(ownCredential)+1) {
		if path[i]|0x20 == ownCredential[0] && strings.EqualFold(path[i:i+len(ownCredential)], ownCredential) {
			return true
		}
	}
	return false
}

// MaskURL masks an address that somebody else wrote: what cannot be read is not
// shown at all.
func MaskURL(text string) string {
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil {
		return stars
	}
	if u.Opaque != "" {
		return u.Scheme + ":" + stars
	}
	shown := MaskPath(u.EscapedPath())
	if u.Host != "" {
		shown = "//" + u.Host + shown // without who signs in there
	}
	if u.Scheme != "" {
		shown = u.Scheme + ":" + shown
	}
	if u.RawQuery != "" {
		shown += "?" + MaskQuery(u.RawQuery)
	}
	return shown
}
