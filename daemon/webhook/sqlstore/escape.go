package sqlstore

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Short texts passed through OPENJSON must not contain characters that JSON
// escapes, since Babelfish does not unescape them. Such characters are replaced by
// sequences of two characters, which the statement replaces back.

// jsonEscape is the sequence that replaces a character; sql is an expression for
// the character.
type jsonEscape struct{ sequence, character, sql string }

// Sequences for common characters, for those of multi-line texts, and for all
// others.
var (
	commonSequences = []jsonEscape{{"~1", `"`, `N'"'`}, {"~2", `\`, `N'\'`}}
	lineSequences   = newSequences("\t\n\r", "tnr")
	otherSequences  = newSequences("\x01\x02\x03\x04\x05\x06\a\b\v\f\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\u2028\u2029",
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ3456")
	tildeSequence = jsonEscape{"~0", "~", "N'~'"} // replaced back last, so that it cannot form another sequence

	escaper = newEscaper()
)

func newSequences(characters, letters string) []jsonEscape {
	var sequences []jsonEscape
	for i, c := range []rune(characters) {
		sequences = append(sequences, jsonEscape{
			sequence:  "~" + letters[i:i+1],
			character: string(c),
			sql:       fmt.Sprintf("NCHAR(%d)", c),
		})
	}
	return sequences
}

func newEscaper() *strings.Replacer {
	var pairs []string
	for _, w := range slices.Concat(commonSequences, lineSequences, otherSequences, []jsonEscape{tildeSequence}) {
		pairs = append(pairs, w.character, w.sequence)
	}
	return strings.NewReplacer(pairs...)
}

// escapes are the sequences that a batch needs. There are few combinations, so that
// there are few different statements. bytes are the values of type binary.
type escapes struct {
	lines, others bool
	bytes         []byte
}

// text returns a text without characters that JSON escapes.
func (e *escapes) text(text string) string {
	for _, r := range text {
		if r == '\t' || r == '\n' || r == '\r' {
			e.lines = true
		} else if r < ' ' || r == '\u2028' || r == '\u2029' {
			e.others = true
		}
	}
	return escaper.Replace(text)
}

// encode returns a value as the JSON rows have it in a column of a type: of a binary value, which
// it adds to bytes, the size.
func (e *escapes) encode(value any, typ string) any {
	switch typ {
	case text:
		if s, ok := value.(string); ok {
			return e.text(s)
		}
	case binary:
		if value != nil {
			b, _ := value.([]byte)
			e.bytes = append(e.bytes, b...)
			return len(b)
		}
	}
	return value
}

// sequences returns the sequences in the order in which they are replaced back.
func (e *escapes) sequences() []jsonEscape {
	sequences := slices.Clone(commonSequences)
	if e.lines {
		sequences = append(sequences, lineSequences...)
	}
	if e.others {
		sequences = append(sequences, otherSequences...)
	}
	return append(sequences, tildeSequence)
}

// fill replaces each plain(column) in a statement by an expression that unescapes
// the column.
func (e *escapes) fill(statement string) string {
	expression := "${1} COLLATE Latin1_General_BIN2"
	for _, w := range e.sequences() {
		expression = "REPLACE(" + expression + ", N'" + w.sequence + "', " + w.sql + ")"
	}
	return plainColumn.ReplaceAllString(statement, expression)
}

var plainColumn = regexp.MustCompile(`plain\((\w+\.\w+)\)`)
