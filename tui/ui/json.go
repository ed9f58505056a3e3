package ui

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/bizhook/whd/tui/theme"
)

// maxIndentSize is the maximum size of JSON that is indented.
const maxIndentSize = 1 << 20

// JSONLines returns the lines of a text, indented if it is JSON of at most
// maxIndentSize bytes. The order of members and the digits of numbers are preserved.
func JSONLines(text []byte, width int) []theme.Span {
	if len(text) > maxIndentSize {
		note := theme.Span{Text: "(" + Size(len(text)) + ": not indented)", Role: theme.Dim}
		return append([]theme.Span{note}, theme.HardWrap(string(text), width)...)
	}
	var out bytes.Buffer
	if json.Indent(&out, text, "", "  ") != nil {
		return theme.HardWrap(wrapMarkup(string(text), width), width)
	}
	return theme.HardWrap(out.String(), width)
}

// wrapMarkup breaks long lines of HTML or XML before tags, so that they are not cut within one.
// Other text is returned unchanged.
func wrapMarkup(text string, width int) string {
	if !strings.HasPrefix(strings.TrimSpace(text), "<") {
		return text
	}
	var out strings.Builder
	column := 0
	for _, part := range strings.SplitAfter(text, ">") {
		content, tag := part, ""
		if i := strings.LastIndex(part, "<"); i > 0 {
			content, tag = part[:i], part[i:]
		}
		for _, piece := range []string{content, tag} {
			cells := theme.Width(piece)
			if column > 0 && column+cells > width {
				out.WriteByte('\n')
				column = 0
			}
			out.WriteString(piece)
			column += cells
			if i := strings.LastIndexByte(piece, '\n'); i >= 0 {
				column = theme.Width(piece[i+1:])
			}
		}
	}
	return out.String()
}
