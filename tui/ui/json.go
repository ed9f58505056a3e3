package ui

import (
	"bytes"
	"encoding/json"

	"github.com/bizhook/whd/tui/theme"
)

// maxIndentSize is the size up to which JSON is indented.
const maxIndentSize = 1 << 20

// JSONLines are the lines of a text, indented where it is JSON of a fair size.
// Members keep their order and numbers all their digits.
func JSONLines(text []byte, width int) []theme.Span {
	if len(text) > maxIndentSize {
		return append([]theme.Span{{Text: "(" + Size(len(text)) + ": shown as it is)", Role: theme.Dim}}, theme.HardWrap(string(text), width)...)
	}
	var out bytes.Buffer
	if json.Indent(&out, text, "", "  ") != nil {
		return theme.HardWrap(string(text), width)
	}
	return theme.HardWrap(out.String(), width)
}
