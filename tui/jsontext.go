package tui

import (
	"bytes"
	"encoding/json"
	"strings"
)

// jsonMost is the size up to which JSON is indented.
const jsonMost = 1 << 20

// jsonLines are the lines of a text, indented where it is JSON of a fair size.
// Members keep their order and numbers all their digits.
func (a *app) jsonLines(text []byte, width int) []span {
	if len(text) > jsonMost {
		return append([]span{{"(" + size(len(text)) + ": shown as it is)", a.theme.dim}}, chopped(string(text), width)...)
	}
	var out bytes.Buffer
	if json.Indent(&out, text, "", "  ") != nil {
		return chopped(string(text), width)
	}
	return chopped(out.String(), width)
}

// linesMost is how many lines of one text are shown.
const linesMost = 20000

// chopped breaks a text at its line breaks, and where a line is longer than the
// screen is wide.
func chopped(text string, width int) []span {
	width = max(20, width)
	var lines []span
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for first := true; first || line != ""; first = false {
			n := 0
			for i := range line {
				if n = len(line); i >= width {
					n = i
					break
				}
			}
			lines = append(lines, span{line[:n], ""})
			line = line[n:]
			if len(lines) >= linesMost {
				return append(lines, span{"(there is more)", ""})
			}
		}
	}
	return lines
}
