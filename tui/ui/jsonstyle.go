package ui

import (
	"strings"

	"github.com/bizhook/whd/tui/theme"
)

// jsonStyler gives the lines of an indented JSON text their styles, one after the
// other. A string that was broken where a line ended goes on in the next one.
type jsonStyler struct {
	inString bool // a string
	escaped  bool // the next character of it
}

// StyleJSON gives lines the styles of a JSON text; nil for other texts.
func StyleJSON(lines []theme.Span) [][]theme.Span {
	if len(lines) == 0 || !strings.HasPrefix(lines[0].Text, "{") && !strings.HasPrefix(lines[0].Text, "[") {
		return nil
	}
	var k jsonStyler
	styled := make([][]theme.Span, len(lines))
	for i, line := range lines {
		styled[i] = k.line(line.Text)
	}
	return styled
}

func (k *jsonStyler) line(text string) []theme.Span {
	var pieces []theme.Span
	for len(text) > 0 {
		n, role := k.token(text)
		pieces = append(pieces, theme.Span{Text: text[:n], Role: role})
		text = text[n:]
	}
	return pieces
}

// token is how long the next token is, and its style.
func (k *jsonStyler) token(text string) (n int, role theme.Role) {
	switch {
	case k.inString:
		return k.stringEnd(text, 0), theme.JSONText
	case text[0] == '"':
		k.inString = true
		if n = k.stringEnd(text, 1); strings.HasPrefix(text[n:], ":") {
			return n, theme.JSONName
		}
		return n, theme.JSONText
	case strings.IndexByte(jsonPunctuation, text[0]) < 0:
		if n = strings.IndexAny(text, jsonPunctuation); n < 0 {
			n = len(text)
		}
		return n, theme.JSONValue
	}
	for n < len(text) && text[n] != '"' && strings.IndexByte(jsonPunctuation, text[n]) >= 0 {
		n++
	}
	return n, theme.Plain
}

// jsonPunctuation are what stands between values, and begins strings.
const jsonPunctuation = "{}[],: \""

// stringEnd is where the string ends that a text is in from a place on.
func (k *jsonStyler) stringEnd(text string, from int) int {
	for i := from; i < len(text); i++ {
		switch {
		case k.escaped:
			k.escaped = false
		case text[i] == '\\':
			k.escaped = true
		case text[i] == '"':
			k.inString = false
			return i + 1
		}
	}
	return len(text)
}
