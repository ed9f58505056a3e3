package ui

import (
	"bytes"
	"encoding/json"

	"github.com/bizhook/whd/tui/theme"
)

// jsonMost is the size up to which JSON is indented.
const jsonMost = 1 << 20

// JsonLines are the lines of a text, indented where it is JSON of a fair size.
// Members keep their order and numbers all their digits.
func JsonLines(text []byte, width int) []theme.Span {
	if len(text) > jsonMost {
		return append([]theme.Span{{Text: "(" + Size(len(text)) + ": shown as it is)", Role: theme.Dim}}, theme.Chop(string(text), width)...)
	}
	var out bytes.Buffer
	if json.Indent(&out, text, "", "  ") != nil {
		return theme.Chop(string(text), width)
	}
	return theme.Chop(out.String(), width)
}
