package erp

import (
	"iter"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// Rows returns the rows of a kind. Values are in column order: nil, string, int64 (including bools)
// or []byte, formatted as by package wire.
type Rows = func(*record.Kind) iter.Seq[[]any]

// Seeded is the result of Seed.
type Seeded struct {
	Rows    int64
	Changed int64 // values replaced by the closest ones that the tables can hold
}

// isIdentified reports whether the first field identifies the rows of a kind in tables that
// the service creates: those of built-in kinds, except the two that have no such field.
func isIdentified(kind *record.Kind) bool {
	builtin, _ := record.Builtin().Lookup(kind.Name)
	return kind == builtin && kind.Name != "INMGT020POQty" && kind.Name != "DB_Class"
}

func uniqueIndex(unique bool) string {
	if unique {
		return "UNIQUE INDEX "
	}
	return "INDEX "
}

// columnSize is the size of the largest values of a column.
type columnSize struct {
	length         int  // length of the longest text, at least its number of UTF-16 code units
	nonASCII       bool // contains text that is not ASCII
	intDigits      int  // digits before the decimal point
	fractionDigits int  // digits after the decimal point
}

// measureColumns reads all rows and returns the extent of each column.
func measureColumns(kind *record.Kind, rows Rows) []columnSize {
	sizes := make([]columnSize, len(kind.Fields))
	for values := range rows(kind) {
		for i, v := range values {
			text, ok := v.(string)
			if !ok {
				continue
			}
			size := &sizes[i]
			switch kind.Fields[i].Type {
			case record.Decimal:
				intDigits, fractionDigits := digitsOf(text)
				size.intDigits = max(size.intDigits, intDigits)
				size.fractionDigits = max(size.fractionDigits, fractionDigits)
			case record.Text:
				size.length = max(size.length, len(text)) // in UTF-8, which has as many units or more
				size.nonASCII = size.nonASCII || !isASCII(text)
			}
		}
	}
	return sizes
}

func digitsOf(text string) (intDigits, fractionDigits int) {
	before, after, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	return len(strings.TrimLeft(before, "0")), len(after)
}

func isASCII(text string) bool {
	isForeign := func(r rune) bool {
		isSpace := r == '\n' || r == '\r' || r == '\t'
		return !isSpace && (r < ' ' || r > '~')
	}
	return !strings.ContainsFunc(text, isForeign)
}
