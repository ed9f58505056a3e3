package store

import (
	"fmt"
	"regexp"
	"strings"
)

// Texts on their way through OPENJSON have no character that JSON escapes:
// Babelfish gives a text out with the escapes that it came with. They are put
// in words of two characters instead, which the statement turns back.

const (
	escapeMark   = '~'
	escapedMark  = "~0"
	escapedQuote = "~1"
	escapedSlash = "~2"
	controls     = "abcdefghijklmnopqrstuvwxyzABCDEF" // of the characters below a space, by their number
)

// escapes are those of a batch.
type escapes struct{ used [len(controls)]bool }

// text is a text without what JSON escapes.
func (e *escapes) text(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == escapeMark }) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/4)
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ':
			e.used[c] = true
			b.WriteByte(escapeMark)
			b.WriteByte(controls[c])
		case c == '"':
			b.WriteString(escapedQuote)
		case c == '\\':
			b.WriteString(escapedSlash)
		case c == escapeMark:
			b.WriteString(escapedMark)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// optional is the same for a text that may be absent.
func (e *escapes) optional(text string) any { return absent(e.text(text)) }

// fill puts an expression for the text of a column in the place of each
// plain(column) of a statement. The mark's own word is turned back last, when
// no other can come of it.
func (e *escapes) fill(statement string) string {
	before, after := "REPLACE(", ` COLLATE Latin1_General_BIN2, N'`+escapedQuote+`', N'"')`
	add := func(word, character string) {
		before, after = "REPLACE("+before, after+", N'"+word+"', "+character+")"
	}
	add(escapedSlash, `N'\'`)
	for c, used := range e.used {
		if used {
			add(string([]byte{escapeMark, controls[c]}), fmt.Sprintf("NCHAR(%d)", c))
		}
	}
	add(escapedMark, "N'"+string(escapeMark)+"'")
	return plainColumn.ReplaceAllString(statement, before+"$1"+after)
}

var plainColumn = regexp.MustCompile(`plain\((\w+\.\w+)\)`)
