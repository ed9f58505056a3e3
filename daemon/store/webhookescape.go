package store

import (
	"fmt"
	"regexp"
	"strings"
)

// Short texts on their way through OPENJSON have no character that JSON escapes,
// since Babelfish gives them out with the escapes that they came with. Such
// characters travel as words of two others, which the statement turns back.

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

// word is what stands for a character, which sql is an expression for.
type word struct{ word, character, sql string }

// words are in the order in which they are turned back. The mark's own is the
// last, when no other can come of it.
func (e *escapes) words() []word {
	all := []word{{escapedQuote, `"`, `N'"'`}, {escapedSlash, `\`, `N'\'`}}
	for c, used := range e.used {
		if used {
			all = append(all, word{string([]byte{escapeMark, controls[c]}), string(rune(c)), fmt.Sprintf("NCHAR(%d)", c)})
		}
	}
	return append(all, word{escapedMark, string(escapeMark), "N'" + string(escapeMark) + "'"})
}

// fill puts an expression for the text of a column in the place of each
// plain(column) of a statement.
func (e *escapes) fill(statement string) string {
	expression := "${1} COLLATE Latin1_General_BIN2"
	for _, w := range e.words() {
		expression = "REPLACE(" + expression + ", N'" + w.word + "', " + w.sql + ")"
	}
	return plainColumn.ReplaceAllString(statement, expression)
}

var plainColumn = regexp.MustCompile(`plain\((\w+\.\w+)\)`)
