package ui

import (
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/bizhook/whd/client/display"
)

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
