// Package dialect describes the differences between the SQL of the databases as data.
package dialect

import (
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// Dialect describes the SQL of a database.
type Dialect struct {
	Name       string
	OpenQuote  string // around identifiers
	CloseQuote string
	Param      string // prefix of a parameter's number
	CountAll   string // counts rows in 64 bits

	MaxPattern int // maximum length of a LIKE pattern in UTF-16 code units; 0 for no limit

	DateType string // type that dates are cast to; empty for none
	Decimal  bool   // decimal operands are cast to decimal(p,s) with the precision and scale of their digits

	// ByteLength is added to a comparison of binary values, around the column and before the
	// parameter. It compares the lengths, where = ignores trailing zeros.
	ByteLength Cast

	Page Page

	File File // limits of an embedded file

	Count    Cast // around a column, 64-bit count
	Sum, Avg Cast // around a column, exact on decimals and integers
	Integer  Cast // around an integer column inside Sum and Avg

	// DatePrefix is around a date column, for its first %d characters in the form 2019-05-01.
	DatePrefix Cast

	// Collate is added to a computed value by which rows are ordered, and to a text column that is
	// compared without regard to case.
	Collate map[record.Type]string

	MaxParams int // maximum number of parameters of a statement

	List List // how long lists of values are passed

	Columns []Column // columns of the table by field, if known
}

// File is how statements read the tables of an embedded file.
type File struct {
	// Columns hold values of any type, and a condition is only met by those that can be read
	// as the type of its field.
	Typed bool

	// Fields are hidden from the planner of SQLite where their indexes could be slower than
	// none. Columns must have the types of package erp: a hidden column does not convert
	// operands.
	HideFields bool

	// RowID is the name of the row ID of the table, the last term of the order of a page. It is
	// empty if the table has none, or if it is not needed: the fields that complete each order
	// identify a row.
	RowID string
}

// Column is a column of the table in the database.
type Column struct {
	Type      string // in SQL; empty if unknown
	Collation string // collation of text columns

	// Affinity is the affinity of a file's column, by which SQLite converts values; empty for the
	// affinity that the types of package erp have.
	Affinity string

	// Compared is around the column where it is compared, sorted or grouped, if the database
	// would otherwise not do that by the values of its field.
	Compared Cast

	// Items returns the type of list items for a field of type t that holds all
	// texts and is compared without converting the column. If it is nil or returns "",
	// the items have their default type.
	Items func(t record.Type, texts []string) string
}

// CaseSensitive reports whether a collation of SQL Server distinguishes letter case, by its
// name.
func CaseSensitive(collation string) bool {
	name := strings.ToUpper(collation)
	return strings.Contains(name, "_CS_") || strings.Contains(name, "_BIN")
}

// Column returns the column of a field, the zero Column if it is unknown.
func (d *Dialect) Column(field int) Column {
	if field < len(d.Columns) {
		return d.Columns[field]
	}
	return Column{}
}

// Page describes how Skip and Take are written.
type Page struct {
	TakeFirst bool   // LIMIT n OFFSET m, not OFFSET m .. FETCH n
	Take      Cast   // around the parameter for Take
	Skip      Cast   // around the parameter for Skip
	All       string // replaces Take if only Skip is given
	Selected  string // follows the key of a page of selected keys in ORDER BY

	// Goal ends a page. It has verbs for the numbers of the parameters of Skip and Take, and for
	// the number of rows to optimize for.
	Goal string
}

// Operand converts the operand of a comparison with a column for a field of type t, and
// returns the type to cast it to, if the type depends on the column.
func (d *Dialect) Operand(t record.Type, c Column, op record.Operator, operand string) (castTo, fitted string) {
	switch t {
	case record.DateTime:
		return d.Date(c, op, operand)
	case record.TimeSpan:
		return "time(7)", operand
	case record.Decimal, record.Double:
		_, err := strconv.ParseFloat(operand, 32)
		isReal := c.Type == "real" && err == nil
		isDecimalInFloat := c.Type == "float" && t == record.Decimal
		if isReal || isDecimalInFloat {
			return c.Type, operand // as the value is shown, not its nearest double or its digits
		}
		if t == record.Decimal {
			return money(c, op, operand)
		}
	}
	return "", operand
}

// Cast is the text before and after an expression.
type Cast struct{ Before, After string }

// Match is a comparison of a column with a parameter, the same in both databases. If
// Pattern is set, the operand is converted to a LIKE pattern: its wildcards are escaped,
// and Prefix and Suffix are added.
type Match struct {
	SQL            string // operator
	Pattern        bool
	Prefix, Suffix string
}

const like = " LIKE "

// Matches are the comparisons with one operand, by operator.
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

// SQLite returns the dialect of the embedded file. Its text and decimal columns have the
// collations TSQL and DEC, so that operators compare like SQL Server; package sqlite
// does the same for LIKE. The plus hides the parameter of LIMIT from the planner, which would
// otherwise prepare the statement again for each value: a fifth of the time of a short page.
func SQLite() *Dialect {
	return &Dialect{
		Name:       "sqlite",
		OpenQuote:  `"`,
		CloseQuote: `"`,
		Param:      "?",
		CountAll:   "COUNT(*)",
		Page: Page{
			TakeFirst: true,
			Take:      Cast{" LIMIT +", ""},
			Skip:      Cast{" OFFSET ", ""},
			All:       " LIMIT -1",
		},
		Count:      Cast{"COUNT(", ")"},
		Sum:        Cast{"dec_sum(", ")"},
		Avg:        Cast{"dec_avg(", ")"},
		DatePrefix: Cast{"substr(", ", 1, %d)"},
		Collate:    map[record.Type]string{record.Text: " COLLATE TSQL", record.Decimal: " COLLATE DEC"},
		MaxParams:  32766,
	}
}

// TSQL returns the dialect of SQL Server, restricted to features that Babelfish supports.
func TSQL() *Dialect {
	return &Dialect{
		Name:       "tsql",
		OpenQuote:  "[",
		CloseQuote: "]",
		Param:      "@p",
		CountAll:   "COUNT_BIG(*)",
		MaxPattern: 4000, // longer patterns are an error
		DateType:   "datetime2(7)",
		ByteLength: Cast{" AND DATALENGTH(", ") = DATALENGTH("},
		Decimal:    true,
		Page: Page{
			Take: Cast{" FETCH NEXT ", " ROWS ONLY"},
			Skip: Cast{" OFFSET ", " ROWS"},
			Goal: " OPTION (OPTIMIZE FOR (@p%d = 0, @p%d = %d))",
			// Otherwise Babelfish may read the table in the order of the key to find the few
			// selected rows.
			Selected: " + 0",
		},
		Count:      Cast{"COUNT_BIG(", ")"},
		Sum:        Cast{"SUM(", ")"},
		Avg:        Cast{"AVG(", ")"},
		Integer:    Cast{"CAST(", " AS decimal(38,0))"},
		DatePrefix: Cast{"LEFT(CONVERT(varchar(30), ", ", 126), %d)"},
		MaxParams:  2097, // 2,100 per call, minus two for sp_executesql and one for CONTEXT_INFO
		List:       openJSON(),
	}
}

// Quote appends a quoted identifier. Identifiers are from the registry and the settings,
// not from requests.
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

// IsLike reports whether the match uses LIKE.
func (m Match) IsLike() bool { return m.SQL == like }

// Operand returns the parameter for a match: the text itself, or a LIKE pattern that
// matches it literally.
func (m Match) Operand(text string) string {
	if !m.Pattern {
		return text
	}
	return m.Prefix + escapeLike.Replace(text) + m.Suffix
}
