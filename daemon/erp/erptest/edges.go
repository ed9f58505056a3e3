package erptest

import (
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
)

var allBytes = func() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}()

var nines = strings.Repeat("9", 38)

// edges are boundary values of each type: extremes, similar texts, and characters that are
// special in SQL, in LIKE or in Unicode. They are used as stored values and as operands.
var edges = map[record.Type][]any{
	record.Text: {
		"", " ", "a", "A", "ab", "AB ", "abc", "a b", "é", "É", "e\u0301", "ß", "ẞ", "ss",
		"\u212a", "k", "ſ", "s", "σ", "ς", "Σ", "İ", "i", "ı",
		"%", "100%", "_", "a_c", "[", "]", "[a-f]", "[^a]", "a[b", "-", "O'Brien", `"`, `\`, "'; DROP TABLE x --",
		"日本", "日本語", "😀", "\x00", "a\x00b", "tab\there", "line\nend", "00123", "1E5", "null",
		strings.Repeat("x", 300),
	},
	record.Int:   {int64(-1 << 31), int64(-1), int64(0), int64(1), int64(2), int64(10), int64(1<<31 - 1)},
	record.Short: {int64(-1 << 15), int64(-1), int64(0), int64(1), int64(7), int64(1<<15 - 1)},
	record.Byte:  {int64(0), int64(1), int64(2), int64(127), int64(128), int64(255)},
	record.Long:  {int64(-1 << 63), int64(0), int64(1<<63 - 1)},
	record.Decimal: {
		"0", "0.0000", "1", "1.0", "1.0000", "-1", "9", "10", "-10.5", "0.1", "0.10", "12345.6789", "-0.01",
		nines, "-" + nines, "0." + strings.Repeat("0", 37) + "1", "9007199254740993", "9007199254740992.5",
	},
	record.Bool: {int64(0), int64(1)},
	record.DateTime: {
		"0001-01-01T00:00:00.0000000", "1753-01-01T00:00:00.0000000",
		"2019-05-01T10:11:12.1230000", "2019-05-01T10:11:12.1230001", "2019-05-01T00:00:00.0000000",
		"2024-02-29T23:59:59.9999999", "9999-12-31T23:59:59.9999999",
	},
	record.Bytes: {[]byte{}, []byte{0}, []byte{0, 0}, []byte("abc"), []byte("ABC"), allBytes},
	record.Guid: {
		"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
		"0f8fad5b-d9cb-469f-a165-70867728950e", "0f8fad5b-d9cb-469f-a165-70867728950f",
	},
}

// edgeRows are the rows of a kind.
type edgeRows struct {
	stored [][]any
	texts  []string // as the database returns the rows
}

// rowsOf returns the rows of a kind, which it makes the first time.
func (s *suite) rowsOf(k *record.Kind) edgeRows {
	rows, ok := s.rows[k.Name]
	if ok {
		return rows
	}
	rows.stored = s.makeRows(k)
	for _, row := range rows.stored {
		rows.texts = append(rows.texts, s.valuesText(k, row))
	}
	s.rows[k.Name] = rows
	return rows
}

// makeRows returns rows in which every field has every edge value of its type, and null if it is
// nullable.
func (s *suite) makeRows(k *record.Kind) [][]any {
	valuesOf := s.part.storedValues(s.values)
	rows := make([][]any, 1+len(valuesOf[record.Text])) // texts have the most values
	for i := range rows {
		rows[i] = make([]any, len(k.Fields))
		for j, f := range k.Fields {
			values := valuesOf[f.Type]
			n := len(values)
			if f.Null {
				n++ // a null follows the values
			}
			// Each field starts with another value, so that rows combine different ones. The values
			// repeat with a period of at most the number of rows, which therefore have all of them.
			value := (i + j) % n
			if value < len(values) {
				rows[i][j] = values[value]
			}
		}
	}
	return rows
}

// valuesText formats a row as the database returns it.
func (s *suite) valuesText(k *record.Kind, values []any) string {
	shown := slices.Clone(values)
	for i, v := range values {
		if text, ok := v.(string); ok && k.Fields[i].Type == record.Decimal {
			shown[i] = s.caps.shownDecimal(text)
		}
	}
	return rowText(shown)
}
