package ui

import (
	"bytes"
	"encoding/json"

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
		return theme.HardWrap(string(text), width)
	}
	return theme.HardWrap(out.String(), width)
}
