package erptest

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/bizhook/whd/client/record"
)

// Capabilities describes differences between databases, all of which are correct.
type Capabilities struct {
	// Scale is the number of fractional digits of every decimal, and half of its
	// total digits, if columns have a fixed scale. 0 means that digits are read as
	// they were stored.
	Scale int

	// Microseconds: dates have six significant fractional digits, as in PostgreSQL and
	// so in Babelfish.
	Microseconds bool

	// NoNUL: texts cannot contain NUL characters, as in PostgreSQL.
	NoNUL bool

	// Collation: texts are compared and sorted by the database's collation instead of
	// our rules. Texts on which collations differ are left out. The order of the
	// others is read from the database, whose results must then be consistent.
	Collation bool

	// GuidOrder: GUIDs are sorted in a database-specific order. SQL Server compares the
	// last group first.
	GuidOrder bool

	// PaddedBytes: binary values are sorted as if padded with zeros, as in
	// SQL Server.
	PaddedBytes bool

	// ASCIISets: character sets in LIKE patterns support ASCII only, as in Babelfish,
	// which matches bytes.
	ASCIISets bool
}

// Part selects a part of the suite; the zero Part is all of it.
type Part struct {
	Kinds       []string // record kinds; all if empty
	StoredASCII bool     // stored texts are ASCII, searched texts are not limited
}

func (p Part) registry() (*record.Registry, error) {
	kinds := record.Kinds()
	if len(p.Kinds) > 0 {
		kinds = slices.DeleteFunc(kinds, func(k record.Kind) bool { return !slices.Contains(p.Kinds, k.Name) })
	}
	return record.NewRegistry(kinds...)
}

// storedValues returns the values to store.
func (p Part) storedValues(values map[record.Type][]any) map[record.Type][]any {
	kept := maps.Clone(values)
	if p.StoredASCII {
		kept[record.Text] = slices.DeleteFunc(slices.Clone(values[record.Text]), func(v any) bool {
			return !isASCII(v)
		})
	}
	return kept
}

// ambiguous are texts that collations compare differently: combining and precomposed
// accents, ligatures, letters with several lower-case forms, and letters with
// language-specific case rules.
var ambiguous = []string{"e\u0301", "ß", "ẞ", "ss", "\u212a", "ſ", "σ", "ς", "Σ", "İ", "ı"}

// edges returns the edge values that the database can hold.
func (caps Capabilities) edges() map[record.Type][]any {
	values := make(map[record.Type][]any)
	for t, candidates := range edges {
		for _, v := range candidates {
			v = caps.nearest(t, v)
			isSame := func(other any) bool { return same(other, v) }
			if !slices.ContainsFunc(values[t], isSame) && caps.holds(v) {
				values[t] = append(values[t], v)
			}
		}
	}
	return values
}

func same(a, b any) bool { return operandText(a) == operandText(b) }

// holds reports whether the database can hold a value, and compares it as we do.
func (caps Capabilities) holds(v any) bool {
	text, ok := v.(string)
	if !ok {
		return true
	}
	if caps.NoNUL && strings.Contains(text, "\x00") {
		return false
	}
	return !caps.Collation || !slices.Contains(ambiguous, text)
}

// nearest returns the closest value that the database can hold.
func (caps Capabilities) nearest(t record.Type, v any) any {
	if t == record.DateTime && caps.Microseconds {
		return v.(string)[:len("2006-01-02T15:04:05.000000")] + "0"
	}
	if t == record.Decimal && caps.Scale > 0 {
		return caps.nearestDecimal(v.(string))
	}
	return v
}

func (caps Capabilities) nearestDecimal(text string) string {
	sign := ""
	if digits, negative := strings.CutPrefix(text, "-"); negative {
		sign = "-"
		text = digits
	}
	whole, fraction, _ := strings.Cut(text, ".")
	if len(whole) > caps.Scale {
		text = strings.Repeat("9", caps.Scale) + "." + strings.Repeat("9", caps.Scale)
	} else if len(fraction) > caps.Scale {
		text = "0." + strings.Repeat("0", caps.Scale-1) + "1"
	}
	return sign + text
}

// shownDecimal returns a decimal with the fractional digits of its column.
func (caps Capabilities) shownDecimal(text string) string {
	if caps.Scale == 0 {
		return text
	}
	whole, fraction, _ := strings.Cut(text, ".")
	return whole + "." + fraction + strings.Repeat("0", caps.Scale-len(fraction))
}

// supports reports whether the database supports a pattern on a text.
func (caps Capabilities) supports(op record.Operator, pattern, text any) bool {
	if op != record.Like || !caps.ASCIISets || !strings.Contains(pattern.(string), "[") {
		return true
	}
	return isASCII(pattern) && isASCII(text)
}

func isASCII(v any) bool {
	text, _ := v.(string)
	return strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}
