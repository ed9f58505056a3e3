package erptest

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/bizhook/whd/client/record"
)

// Capabilities are what stores differ in, where all of the answers are right.
type Capabilities struct {
	// Scale is the number of fraction digits of every decimal, and half of all
	// its digits, where a column has one scale for all values. 0: digits come
	// back as they were stored.
	Scale int

	// Microseconds: dates have six digits of a second's fraction that count, as
	// PostgreSQL's have, on which Babelfish stands.
	Microseconds bool

	// NoNUL: text has no NUL characters. PostgreSQL has none.
	NoNUL bool

	// Collation: the database's collation says which texts are equal and how
	// they are ordered, and not our rules. Texts that collations disagree on are
	// left out, and the order is taken from the store, which must then keep to
	// it everywhere.
	Collation bool

	// GuidOrder: guids are ordered in a way of the database's own. SQL Server
	// begins with the last group.
	GuidOrder bool

	// PaddedBytes: in an order, bytes count as if zeros followed their end, as in
	// SQL Server.
	PaddedBytes bool

	// ASCIISets: the sets of Like know ASCII only, as Babelfish's do, which match
	// bytes.
	ASCIISets bool
}

// Part is how much of the suite is run: the zero Part is all of it.
type Part struct {
	Kinds       []string // record kinds; all where there are none
	StoredASCII bool     // texts that are stored are ASCII, while any are looked for
}

func (p Part) registry() (*record.Registry, error) {
	kinds := record.Kinds()
	if len(p.Kinds) > 0 {
		kinds = slices.DeleteFunc(kinds, func(k record.Kind) bool { return !slices.Contains(p.Kinds, k.Name) })
	}
	return record.NewRegistry(kinds...)
}

// stores are the values that are stored.
func (p Part) stores(values map[record.Type][]any) map[record.Type][]any {
	kept := maps.Clone(values)
	if p.StoredASCII {
		kept[record.Text] = slices.DeleteFunc(slices.Clone(values[record.Text]), func(v any) bool { return !isASCII(v) })
	}
	return kept
}

// disputed are texts that equal another one, or do not, by the collation:
// combined and composed accents, ligatures, and letters with several lower
// cases or a case in one language only.
var disputed = []string{"e\u0301", "ß", "ẞ", "ss", "\u212a", "ſ", "σ", "ς", "Σ", "İ", "ı"}

// edges are the edge values that the store can hold.
func (can Capabilities) edges() map[record.Type][]any {
	values := make(map[record.Type][]any)
	for t, all := range edges {
		for _, v := range all {
			if v = can.nearest(t, v); !slices.ContainsFunc(values[t], func(other any) bool { return same(other, v) }) && can.holds(v) {
				values[t] = append(values[t], v)
			}
		}
	}
	return values
}

func same(a, b any) bool { return operandText(a) == operandText(b) }

func (can Capabilities) holds(v any) bool {
	text, ok := v.(string)
	return !ok || !(can.NoNUL && strings.Contains(text, "\x00")) && !(can.Collation && slices.Contains(disputed, text))
}

// nearest is the value at the edge of the store's type.
func (can Capabilities) nearest(t record.Type, v any) any {
	switch {
	case t == record.DateTime && can.Microseconds:
		return v.(string)[:len("2006-01-02T15:04:05.000000")] + "0"
	case t == record.Decimal && can.Scale > 0:
		return can.nearestDecimal(v.(string))
	}
	return v
}

func (can Capabilities) nearestDecimal(text string) string {
	sign := ""
	if digits, negative := strings.CutPrefix(text, "-"); negative {
		sign, text = "-", digits
	}
	whole, fraction, _ := strings.Cut(text, ".")
	switch {
	case len(whole) > can.Scale:
		text = strings.Repeat("9", can.Scale) + "." + strings.Repeat("9", can.Scale)
	case len(fraction) > can.Scale:
		text = "0." + strings.Repeat("0", can.Scale-1) + "1"
	}
	return sign + text
}

// shownDecimal is a decimal with the digits that its column has.
func (can Capabilities) shownDecimal(text string) string {
	if can.Scale == 0 {
		return text
	}
	whole, fraction, _ := strings.Cut(text, ".")
	return whole + "." + fraction + strings.Repeat("0", can.Scale-len(fraction))
}

// tries reports whether a pattern is one that the store understands on text.
func (can Capabilities) tries(op record.Operator, pattern, text any) bool {
	if op != record.Like || !can.ASCIISets || !strings.Contains(pattern.(string), "[") {
		return true
	}
	return isASCII(pattern) && isASCII(text)
}

func isASCII(v any) bool {
	text, _ := v.(string)
	return strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}
