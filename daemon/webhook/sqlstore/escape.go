package sqlstore

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Short texts on their way through OPENJSON have no character that JSON escapes,
// since Babelfish gives them out with the escapes that they came with. Such
// characters travel as words of two others, which the statement turns back.

// jsonEscape is what travels for a character, which sql is an expression for.
type jsonEscape struct{ word, character, sql string }

// The words of characters that are common, of those that only texts of several
// lines hold, and of all others.
var (
	commonWords = []jsonEscape{{"~1", `"`, `N'"'`}, {"~2", `\`, `N'\'`}}
	lineWords   = wordsOf("\t\n\r", "tnr")
	otherWords  = wordsOf("\x01\x02\x03\x04\x05\x06\a\b\v\f\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\u2028\u2029",
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ3456")
	markWord = jsonEscape{"~0", "~", "N'~'"} // turned back last, when no other word can come of it

	escaper = newEscaper()
)

func wordsOf(characters, letters string) (words []jsonEscape) {
	for i, c := range []rune(characters) {
		words = append(words, jsonEscape{"~" + letters[i:i+1], string(c), fmt.Sprintf("NCHAR(%d)", c)})
	}
	return words
}

func newEscaper() *strings.Replacer {
	var pairs []string
	for _, w := range slices.Concat(commonWords, lineWords, otherWords, []jsonEscape{markWord}) {
		pairs = append(pairs, w.character, w.word)
	}
	return strings.NewReplacer(pairs...)
}

// escapes are those of a batch. Few sets of words, so that few statements are
// sent.
type escapes struct{ lines, others bool }

// text is a text without what JSON escapes.
func (e *escapes) text(text string) string {
	for _, r := range text {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			e.lines = true
		case r < ' ' || r == '\u2028' || r == '\u2029':
			e.others = true
		}
	}
	return escaper.Replace(text)
}

// words are in the order in which they are turned back.
func (e *escapes) words() []jsonEscape {
	words := slices.Clone(commonWords)
	if e.lines {
		words = append(words, lineWords...)
	}
	if e.others {
		words = append(words, otherWords...)
	}
	return append(words, markWord)
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
