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
	if len(lines) == 0 || !isJSON(lines[0].Text) {
		return nil
	}
	var s jsonStyler
	styled := make([][]theme.Span, len(lines))
	for i, line := range lines {
		styled[i] = s.line(line.Text)
	}
	return styled
}

// isJSON reports whether a text starts like a JSON object or array.
func isJSON(text string) bool {
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}

// jsonValues returns the value in each line of JSON. The lines of a long string have the
// same one.
func jsonValues(lines []theme.Span) []string {
	var s jsonStyler
	var values []string
	for len(values) < len(lines) {
		start := len(values)
		value := strings.TrimSpace(lines[start].Text)
		pieces := s.line(value)
		if len(pieces) > 0 && pieces[0].Role == theme.JSONName {
			value = strings.TrimPrefix(value[len(pieces[0].Text):], ": ")
		}
		end := start + 1
		for s.inString && end < len(lines) {
			value += lines[end].Text
			s.line(lines[end].Text)
			end++
		}
		value = strings.TrimSuffix(value, ",")
		_ = json.Unmarshal([]byte(value), &value) // fails for numbers and brackets, which stay
		for len(values) < end {
			values = append(values, value)
		}
	}
	return values
}

// line divides the next line into tokens with their roles.
func (s *jsonStyler) line(text string) []theme.Span {
	var pieces []theme.Span
	for len(text) > 0 {
		n, role := s.token(text)
		pieces = append(pieces, theme.Span{Text: text[:n], Role: role})
		text = text[n:]
	}
	return pieces
}

// token returns the length of the next token in bytes, and its role.
func (s *jsonStyler) token(text string) (n int, role theme.Role) {
	switch {
	case s.inString:
		return s.stringEnd(text, 0), theme.JSONText
	case text[0] == '"':
		s.inString = true
		n = s.stringEnd(text, 1)
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

// jsonPunctuation has the characters between values, and the quote.
const jsonPunctuation = "{}[],: \""

// stringEnd returns the index after the string that text[from:] continues.
func (s *jsonStyler) stringEnd(text string, from int) int {
	for i := from; i < len(text); i++ {
		switch {
		case s.escaped:
			s.escaped = false
		case text[i] == '\\':
			s.escaped = true
		case text[i] == '"':
			s.inString = false
			return i + 1
		}
	}
	return len(text)
}
