package ui

import (
	"encoding/json"
	"strings"

	"github.com/bizhook/whd/tui/theme"
)

// jsonStyler highlights lines of indented JSON. A string that is split by a line end
// continues on the next line.
type jsonStyler struct {
	inString bool // inside a string
	escaped  bool // after a backslash
}

// StyleJSON highlights lines of JSON. It returns nil for other text.
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

// jsonValues returns the value in each line of JSON. The lines of a long string have the
// same one.
func jsonValues(lines []theme.Span) []string {
	var k jsonStyler
	var values []string
	for i := 0; i < len(lines); i = len(values) {
		value := strings.TrimSpace(lines[i].Text)
		if pieces := k.line(value); pieces != nil && pieces[0].Role == theme.JSONName {
			value = strings.TrimPrefix(value[len(pieces[0].Text):], ": ")
		}
		end := i + 1
		for ; k.inString && end < len(lines); end++ {
			value += lines[end].Text
			k.line(lines[end].Text)
		}
		value = strings.TrimSuffix(value, ",")
		_ = json.Unmarshal([]byte(value), &value) // numbers and brackets stay
		for len(values) < end {
			values = append(values, value)
		}
	}
	return values
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

// token returns the length of the next token and its role.
func (k *jsonStyler) token(text string) (n int, role theme.Role) {
	switch {
	case k.inString:
		return k.stringEnd(text, 0), theme.JSONText
	case text[0] == '"':
		k.inString = true
		n = k.stringEnd(text, 1)
		if strings.HasPrefix(text[n:], ":") {
			return n, theme.JSONName
		}
		return n, theme.JSONText
	case strings.IndexByte(jsonPunctuation, text[0]) < 0:
		n = strings.IndexAny(text, jsonPunctuation)
		if n < 0 {
			n = len(text)
		}
		return n, theme.JSONValue
	}
	for n < len(text) && text[n] != '"' && strings.IndexByte(jsonPunctuation, text[n]) >= 0 {
		n++
	}
	return n, theme.Plain
}

// jsonPunctuation is the characters between values, and the quote.
const jsonPunctuation = "{}[],: \""

// stringEnd returns the end of the string that text is inside of at from.
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
