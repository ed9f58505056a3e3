// Package naming has the rule for the names that users give to users, API keys and subscribers.
package naming

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Problem returns why a name is not valid, empty if it is. A name is shown in lists, links, logs
// and files: it must fit into one line, be visible, and change nothing around it. Names may still look
// alike, as with letters of two alphabets.
func Problem(name string) string {
	switch {
	case !utf8.ValidString(name):
		return "must be text in UTF-8"
	case strings.ContainsFunc(name, isControl):
		return "must not contain line breaks, control characters or signs that change the direction of text"
	case !strings.ContainsFunc(name, isVisible):
		return "must have a visible character"
	}
	return ""
}

// isControl reports whether a character controls how the text around it is shown.
func isControl(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// brailleBlank is a symbol to Unicode, although it has no dots.
const brailleBlank = '\u2800'

// isVisible reports whether a character is visible by itself.
func isVisible(r rune) bool {
	isIgnored := unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !isIgnored && r != brailleBlank
}
