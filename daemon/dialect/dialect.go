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

	Match [record.In + 1]Match // how text is matched, by operator

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

// Match is a text comparison: Before column Between parameter After. Where
// Pattern is set the operand is made a LIKE pattern: its wildcards escaped,
// then Prefix and Suffix around it.
type Match struct {
	Before, Between, After string
	ParamFirst             bool // Before parameter Between column After
	Pattern                bool
	Prefix, Suffix         string
	MaxUnits               int // UTF-16 code units of the operand; 0 for no limit
}

// plain is a comparison by an SQL operator, the same in both databases.
func plain(operator string) Match { return Match{Between: operator} }

func matches() [record.In + 1]Match {
	return [record.In + 1]Match{
		record.Equal:                plain(" = "),
		record.GreaterThanOrEqualTo: plain(" >= "),
		record.GreaterThan:          plain(" > "),
		record.LessThan:             plain(" < "),
		record.LessThanOrEqualTo:    plain(" <= "),
		record.NotEqualTo:           plain(" <> "),
	}
}

// SQLite is the embedded store's dialect. Its text and decimal columns carry
// the collations TSQL and DEC, so plain operators compare them as SQL Server
// would.
func SQLite() *Dialect {
	d := &Dialect{
		Name:          "sqlite",
		OpenQuote:     `"`,
		CloseQuote:    `"`,
		Param:         "?",
		CountAll:      "COUNT(*)",
		Match:         matches(),
		PageTakeFirst: true,
		PageTake:      Cast{" LIMIT ", ""},
		PageSkip:      Cast{" OFFSET ", ""},
		PageAll:       " LIMIT -1",
		Count:         Cast{"COUNT(", ")"},
		Sum:           Cast{"dec_sum(", ")"},
		Avg:           Cast{"dec_avg(", ")"},
		MaxParams:     32766,
	}
	d.Match[record.StartsWith] = Match{Before: "tsql_starts(", Between: ", ", After: ")"}
	d.Match[record.EndsWith] = Match{Before: "tsql_ends(", Between: ", ", After: ")"}
	d.Match[record.Contains] = Match{Before: "tsql_contains(", Between: ", ", After: ")"}
	d.Match[record.Like] = Match{Before: "tsql_like(", Between: ", ", After: ")", ParamFirst: true}
	return d
}

// TSQL is SQL Server's dialect, kept to what Babelfish runs too.
func TSQL() *Dialect {
	d := &Dialect{
		Name:       "tsql",
		OpenQuote:  "[",
		CloseQuote: "]",
		Param:      "@p",
		CountAll:   "COUNT_BIG(*)",
		Match:      matches(),
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
	like := Match{Between: " LIKE ", MaxUnits: 4000} // a longer pattern is an error there
	d.Match[record.Like] = like
	like.Pattern = true
	like.Suffix = "%"
	d.Match[record.StartsWith] = like
	like.Prefix = "%"
	d.Match[record.Contains] = like
	like.Suffix = ""
	d.Match[record.EndsWith] = like
	return d
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

// Operand makes the text that is sent for a match: the literal text, or a LIKE
// pattern that matches it literally.
func (m Match) Operand(text string) string {
	if !m.Pattern {
		return text
	}
	return m.Prefix + escapeLike.Replace(text) + m.Suffix
}
