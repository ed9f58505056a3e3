package ui

import (
	"strings"

	"github.com/bizhook/whd/tui/theme"
)

// jsonInker gives the lines of an indented JSON text their inks, one after the
// other. A string that was broken where a line ended goes on in the next one.
type jsonInker struct {
	theme   *theme.Theme
	within  bool // a string
	escaped bool // the next character of it
}

// InkJSON gives lines inks that are those of a JSON text; nil for other texts.
func InkJSON(t *theme.Theme, lines []theme.Span) [][]theme.Span {
	if len(lines) == 0 || !strings.HasPrefix(lines[0].Text, "{") && !strings.HasPrefix(lines[0].Text, "[") {
		return nil
	}
	k := jsonInker{theme: t}
	inked := make([][]theme.Span, len(lines))
	for i, line := range lines {
		inked[i] = k.line(line.Text)
	}
	return inked
}

func (k *jsonInker) line(text string) []theme.Span {
	var pieces []theme.Span
	for len(text) > 0 {
		n, ink := k.token(text)
		pieces = append(pieces, theme.Span{Text: text[:n], Ink: ink})
		text = text[n:]
	}
	return pieces
}

// token is how long the next token is, and its ink.
func (k *jsonInker) token(text string) (n int, ink theme.Ink) {
	switch {
	case k.within:
		return k.rest(text, 0), k.theme.JsonText
	case text[0] == '"':
		k.within = true
		if n = k.rest(text, 1); strings.HasPrefix(text[n:], ":") {
			return n, k.theme.JsonName
		}
		return n, k.theme.JsonText
	case strings.IndexByte(jsonMarks, text[0]) < 0:
		if n = strings.IndexAny(text, jsonMarks); n < 0 {
			n = len(text)
		}
		return n, k.theme.JsonValue
	}
	for n < len(text) && text[n] != '"' && strings.IndexByte(jsonMarks, text[n]) >= 0 {
		n++
	}
	return n, ""
}

// jsonMarks are what stands between values, and begins strings.
const jsonMarks = "{}[],: \""

// rest is where the string ends that a text is in from a place on.
func (k *jsonInker) rest(text string, from int) int {
	for i := from; i < len(text); i++ {
		switch {
		case k.escaped:
			k.escaped = false
		case text[i] == '\\':
			k.escaped = true
		case text[i] == '"':
			k.within = false
			return i + 1
		}
	}
	return len(text)
}
