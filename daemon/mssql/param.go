package mssql

import (
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	mssql "github.com/microsoft/go-mssqldb"
)

// Param is the value of a parameter and the type that it is declared with. The
// type follows the column and not the value, so that all values share a plan
// and none makes the server convert the column, which would keep it from using
// an index.
type Param struct {
	declared string
	value    driver.Value
}

// parameter is the name of parameter i, counted from 0, without the @.
func parameter(i int) string { return "p" + strconv.Itoa(i+1) }

// declarations are the types of the parameters as sp_executesql wants them.
func declarations(params []Param) string {
	var b strings.Builder
	for i, p := range params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("@" + parameter(i) + " " + p.declared)
	}
	return b.String()
}

// Long is a whole number of 64 bits.
func Long(n int64) Param { return Param{"bigint", n} }

// Whole is a whole number that is compared with a column: of the column's
// width, or the next that holds it.
func Whole(c Column, n int64) Param {
	width := integerWidths[c.Type]
	switch {
	case width == 1 && n >= 0 && n <= math.MaxUint8:
		return Param{"tinyint", byte(n)}
	case width >= 1 && width <= 2 && n == int64(int16(n)):
		return Param{"smallint", int16(n)}
	case width <= 4 && n == int64(int32(n)):
		return Param{"int", int32(n)}
	}
	return Long(n)
}

// integerWidths are the bytes of the types of whole numbers. A column of
// another type counts as one of any width.
var integerWidths = map[string]int{"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}

// Bit is a bool.
func Bit(n int64) Param { return Param{"bit", n != 0} }

// Digits is the text of a number or date, which the statement casts. A sign, a
// zero, a point and 38 digits are the longest.
func Digits(text string) Param { return Param{"varchar(41)", mssql.VarChar(text)} }

// Binary is bytes.
func Binary(b []byte) Param {
	if b == nil {
		b = []byte{} // nil would be NULL
	}
	if len(b) > maxBytes {
		return Param{"varbinary(max)", b}
	}
	return Param{"varbinary(8000)", b}
}

// JSON is a list for OPENJSON.
func JSON(text []byte) Param { return Param{"nvarchar(max)", mssql.NVarCharMax(text)} }

// Document is a list for OPENJSON as an argument of DB's statements. It is
// declared alike however long it is, so that all share a plan.
func Document(text []byte) any { return mssql.NVarCharMax(text) }

// Guid is a guid of 36 characters, compared with a column of guids or of text.
func Guid(c Column, text string) Param {
	if c.isText() {
		return Text(c, text)
	}
	var id mssql.UniqueIdentifier // in the order in which it is written
	if _, err := hex.Decode(id[:], []byte(strings.ReplaceAll(text, "-", ""))); err != nil {
		return Text(c, text)
	}
	return Param{"uniqueidentifier", id}
}

// The longest texts and bytes that are not (max), in bytes and code units.
const (
	maxBytes = 8000
	maxUnits = 4000
)

// Text is text that is compared with a column. A column of one byte a character
// gets text of its own kind as long as it can hold it; other text makes the
// server widen the column, and equals none of its values.
func Text(c Column, text string) Param {
	declared := c.comparable([]string{text})
	if c.Holds(text) && ascii(text) {
		return Param{declared, mssql.VarChar(text)}
	}
	return Param{declared, text} // on the wire as UTF-16, which the server narrows where it has to
}

// comparable is the type of texts that are compared with the column.
func (c Column) comparable(texts []string) string {
	held := !slices.ContainsFunc(texts, func(text string) bool { return !c.Holds(text) })
	length, n := c.Length, 0
	switch {
	case held && c.CodePage == latin1:
		n = longest(texts, utf8.RuneCountInString)
	case held:
		n = longest(texts, func(text string) int { return len(text) })
	default:
		n = longest(texts, units)
		if c.narrow() {
			length = 0
		}
		return "nvarchar(" + size(n, length, maxUnits) + ")"
	}
	return "varchar(" + size(n, length, maxBytes) + ")"
}

func longest(texts []string, size func(string) int) (n int) {
	for _, text := range texts {
		n = max(n, size(text))
	}
	return n
}

// size is the length that a parameter is declared with: the column's, or the
// largest where the text is longer than the column or the column has none.
func size(n, column, most int) string {
	switch {
	case n <= column && column <= most:
		return strconv.Itoa(column)
	case n <= most:
		return strconv.Itoa(most)
	}
	return "max"
}

func units(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Call is a statement with parameters @p1, @p2 and so on as a transaction of
// database/sql runs it: see Query.call.
func Call(text string, params ...Param) (procedure string, args []any) {
	args = []any{sql.Named("stmt", text), sql.Named("params", declarations(params))}
	for i, p := range params {
		args = append(args, sql.Named(parameter(i), p.value))
	}
	return "sp_executesql", args
}
