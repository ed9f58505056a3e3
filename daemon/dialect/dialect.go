// Package dialect holds what differs between the databases' SQL, as data.
package dialect

import (
	"strings"

	"github.com/bizhook/whd/client/record"
)

// Dialect is one database's way of writing SQL.
type Dialect struct {
	Name       string
	OpenQuote  string // around identifiers
	CloseQuote string
	Param      string // before a parameter's number
	CountAll   string // counts rows in 64 bits

	MaxPattern int // UTF-16 code units of a LIKE pattern; 0 for no limit

	DateType string // dates are cast to it, if any
	Decimal  bool   // decimal operands are cast to decimal(p,s) with their own digits

	WholeBytes Cast // around a column of bytes and before the parameter that it equals: compares their lengths too, where = takes bytes for equal that only zeros at the end tell apart

	PageTakeFirst bool   // LIMIT n OFFSET m, not OFFSET m .. FETCH n
	PageTake      Cast   // around the parameter of Take
	PageSkip      Cast   // around the parameter of Skip
	PageAll       string // stands for Take where only Skip is given

	Count    Cast // around a column, counts in 64 bits
	Sum, Avg Cast // around a column, exact on decimals and integers
	Integer  Cast // around an integer column inside Sum and Avg

	MaxParams int // of one statement

	List List // how a long list of values is written

	Columns []Column // of the table, by field, where they are known
}

// Column is a column of the table as the database has it.
type Column struct {
	Type      string // as SQL writes it; empty where it is not known
	Collation string // of text

	// Items is the type of a list's items for a field of type t, such that it
	// holds all of these texts and the column need not be converted to be compared
	// with them. Where it is nil or gives none the items have their usual type.
	Items func(t record.Type, texts []string) string
}

// Column is what is known of a field's column.
func (d *Dialect) Column(field int) Column {
	if field < len(d.Columns) {
		return d.Columns[field]
	}
	return Column{}
}

// Cast is text around an expression.
type Cast struct{ Before, After string }

// Match is a comparison of a column with a parameter, the same in both databases.
// Where Pattern is set the operand is made a LIKE pattern: its wildcards escaped,
// then Prefix and Suffix around it.
type Match struct {
	SQL            string // the operator
	Pattern        bool
	Prefix, Suffix string
}

const like = " LIKE "

// Matches are the comparisons by operator, of those with one operand.
var Matches = [record.In + 1]Match{
	record.Equal:                {SQL: " = "},
	record.GreaterThanOrEqualTo: {SQL: " >= "},
	record.GreaterThan:          {SQL: " > "},
	record.LessThan:             {SQL: " < "},
	record.LessThanOrEqualTo:    {SQL: " <= "},
	record.NotEqualTo:           {SQL: " <> "},
	record.Like:                 {SQL: like},
	record.StartsWith:           {SQL: like, Pattern: true, Suffix: "%"},
	record.EndsWith:             {SQL: like, Pattern: true, Prefix: "%"},
	record.Contains:             {SQL: like, Pattern: true, Prefix: "%", Suffix: "%"},
}

// SQLite is the embedded store's dialect. Its text and decimal columns carry
// the collations TSQL and DEC, so plain operators compare them as SQL Server
// would, and package sqlite has LIKE do so.
func SQLite() *Dialect {
	return &Dialect{
		Name:          "sqlite",
		OpenQuote:     `"`,
		CloseQuote:    `"`,
		Param:         "?",
		CountAll:      "COUNT(*)",
		PageTakeFirst: true,
		PageTake:      Cast{" LIMIT ", ""},
		PageSkip:      Cast{" OFFSET ", ""},
		PageAll:       " LIMIT -1",
		Count:         Cast{"COUNT(", ")"},
		Sum:           Cast{"dec_sum(", ")"},
		Avg:           Cast{"dec_avg(", ")"},
		MaxParams:     32766,
	}
}

// TSQL is SQL Server's dialect, kept to what Babelfish runs too.
func TSQL() *Dialect {
	return &Dialect{
		Name:       "tsql",
		OpenQuote:  "[",
		CloseQuote: "]",
		Param:      "@p",
		CountAll:   "COUNT_BIG(*)",
		MaxPattern: 4000, // a longer one is an error there
		DateType:   "datetime2(7)",
		WholeBytes: Cast{" AND DATALENGTH(", ") = DATALENGTH("},
		Decimal:    true,
		PageTake:   Cast{" FETCH NEXT ", " ROWS ONLY"},
		PageSkip:   Cast{" OFFSET ", " ROWS"},
		Count:      Cast{"COUNT_BIG(", ")"},
		Sum:        Cast{"SUM(", ")"},
		Avg:        Cast{"AVG(", ")"},
		Integer:    Cast{"CAST(", " AS decimal(38,0))"},
		MaxParams:  2098, // 2,100 of a call less the two of sp_executesql itself
		List:       openJSON(),
	}
}

// Quote writes an identifier. Identifiers come from the registry and the
// settings only, never from a request.
func (d *Dialect) Quote(dst []byte, name string) []byte {
	dst = append(dst, d.OpenQuote...)
	for i := range len(name) {
		dst = append(dst, name[i])
		if name[i] == d.CloseQuote[0] {
			dst = append(dst, name[i])
		}
	}
	return append(dst, d.CloseQuote...)
}

var escapeLike = strings.NewReplacer("[", "[[]", "%", "[%]", "_", "[_]")

// IsLike reports whether the operand is a LIKE pattern.
func (m Match) IsLike() bool { return m.SQL == like }

// Operand makes the text that is sent for a match: the literal text, or a LIKE
// pattern that matches it literally.
func (m Match) Operand(text string) string {
	if !m.Pattern {
		return text
	}
	return m.Prefix + escapeLike.Replace(text) + m.Suffix
}
