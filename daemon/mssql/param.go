package mssql

import (
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	mssql "github.com/microsoft/go-mssqldb"
)

// Param is a parameter's value and its declared type. The type depends on the column and
// not on the value, so that all values share a query plan and the server does not convert
// the column, which would prevent the use of an index.
type Param struct {
	declared string
	value    driver.Value
}

// Declared returns the declared type in SQL.
func (p Param) Declared() string { return p.declared }

// parameter returns the name of parameter i, counted from 0, without the @.
func parameter(i int) string { return "p" + strconv.Itoa(i+1) }

// declarations returns the parameter declarations for sp_executesql.
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

// Long returns a 64-bit integer parameter.
func Long(n int64) Param { return Param{"bigint", n} }

// Whole returns an integer parameter to compare with column c, of the type of the column
// or of the next larger type that holds n.
func Whole(c Column, n int64) Param {
	width := integerWidths[c.Type]
	isSmall := width == 1 || width == 2
	if width == 1 && n == int64(byte(n)) {
		return Param{"tinyint", byte(n)}
	}
	if isSmall && n == int64(int16(n)) {
		return Param{"smallint", int16(n)}
	}
	if width <= 4 && n == int64(int32(n)) {
		return Param{"int", int32(n)}
	}
	return Long(n)
}

// integerWidths maps integer types to their size in bytes. Columns of other types are
// compared with any size.
var integerWidths = map[string]int{"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}

// Bit returns a bool parameter, a number for a column of numbers: servers differ in whether
// 2 equals a true bit.
func Bit(c Column, n int64) Param {
	if integerWidths[c.Type] > 0 {
		return Whole(c, n)
	}
	return Param{"bit", n != 0}
}

// Digits returns a number or date as text, which the statement casts. The longest text has
// a sign, a zero, a point and 38 digits.
func Digits(text string) Param { return Param{"varchar(41)", mssql.VarChar(text)} }

// Double returns a number of 64 bits.
func Double(text string) Param {
	f, _ := strconv.ParseFloat(strings.TrimSpace(text), 64) // valid, or infinite in the row before a page
	return Param{"float", f}
}

// Binary returns a binary parameter.
func Binary(b []byte) Param {
	if b == nil {
		b = []byte{} // nil would be NULL
	}
	if len(b) > maxBytes {
		return Param{"varbinary(max)", b}
	}
	return Param{"varbinary(8000)", b}
}

// JSON returns a list for OPENJSON.
func JSON(text []byte) Param { return Param{"nvarchar(max)", mssql.NVarCharMax(text)} }

// Document returns a list for OPENJSON as an argument for statements of DB. The declared
// type does not depend on its length, so that all lists share a query plan.
func Document(text []byte) any { return mssql.NVarCharMax(text) }

// Guid returns a GUID of 36 characters, to compare with a uniqueidentifier or text column.
func Guid(c Column, text string) Param {
	if c.isText() {
		return Text(c, text)
	}
	var id mssql.UniqueIdentifier // in written order
	if _, err := hex.Decode(id[:], []byte(strings.ReplaceAll(text, "-", ""))); err != nil {
		return Text(c, text)
	}
	return Param{"uniqueidentifier", id}
}

// The maximum lengths of types other than (max), in bytes and in UTF-16 code units.
const (
	maxBytes = 8000
	maxUnits = 4000
)

// NvarcharSize returns the maximum size of an nvarchar, in bytes, with a text of n bytes of UTF-8.
func NvarcharSize(n int) int { return 2 * n }

// Text returns a text to compare with column c. For a char or varchar column it is a
// varchar if the column can hold the text; other text is sent as nvarchar, for which the
// server converts the column, and equals none of its values.
func Text(c Column, text string) Param {
	declared := c.parameterType([]string{text})
	if c.Holds(text) && isASCII(text) {
		return Param{declared, mssql.VarChar(text)}
	}
	return Param{declared, text} // sent as UTF-16, converted by the server if declared as varchar
}

// parameterType returns the parameter type for texts that are compared with the column.
func (c Column) parameterType(texts []string) string {
	if slices.ContainsFunc(texts, func(text string) bool { return !c.Holds(text) }) {
		length := c.Length
		if c.usesCodePage() {
			length = 0 // not that of the text in UTF-16
		}
		return "nvarchar(" + declaredLength(maxSize(texts, utf16Length), length, maxUnits) + ")"
	}
	size := func(text string) int { return len(text) }
	if c.CodePage == latin1 {
		size = utf8.RuneCountInString
	}
	return "varchar(" + declaredLength(maxSize(texts, size), c.Length, maxBytes) + ")"
}

func maxSize(texts []string, size func(string) int) int {
	n := 0
	for _, text := range texts {
		n = max(n, size(text))
	}
	return n
}

// declaredLength returns the length to declare for a text of length n: that of the column, or the
// maximum if the text is longer or the column's length is unknown.
func declaredLength(n, column, limit int) string {
	if n <= column && column <= limit {
		return strconv.Itoa(column)
	}
	if n <= limit {
		return strconv.Itoa(limit)
	}
	return "max"
}

func utf16Length(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Call returns the arguments with which a transaction of database/sql executes a
// statement with parameters @p1, @p2 and so on: see Query.call.
func Call(text string, params ...Param) (procedure string, args []any) {
	args = []any{sql.Named("stmt", text), sql.Named("params", declarations(params))}
	for i, p := range params {
		args = append(args, sql.Named(parameter(i), p.value))
	}
	return "sp_executesql", args
}
