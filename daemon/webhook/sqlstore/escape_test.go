package sqlstore

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestEscapes checks that escaped texts have no character that JSON escapes, and
// that the replacements of the statement restore the text.
func TestEscapes(t *testing.T) {
	const texts = `([~"\\\t\na012ABZé\x01\x1b\x1f\x{2028}]|[^\x00])*` // many with characters to escape
	isEscapedByJSON := func(r rune) bool {
		return r < ' ' || strings.ContainsRune("\"\\\u2028\u2029", r)
	}
	rapid.Check(t, func(t *rapid.T) {
		var e escapes
		text := rapid.StringMatching(texts).Draw(t, "text")
		escaped := e.text(text)
		if utf8.RuneCountInString(escaped) > 2*utf8.RuneCountInString(text) {
			t.Fatalf("%q was escaped as %q, want at most twice as long", text, escaped)
		}
		if i := strings.IndexFunc(escaped, isEscapedByJSON); i >= 0 {
			t.Fatalf("%q was escaped as %q, which has %q", text, escaped, escaped[i])
		}

		restored := escaped
		for _, escape := range e.sequences() {
			restored = strings.ReplaceAll(restored, escape.sequence, escape.character)
		}
		if restored != text {
			t.Errorf("%q was escaped as %q and restored as %q", text, escaped, restored)
		}
	})
}
