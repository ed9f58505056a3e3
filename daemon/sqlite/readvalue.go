package sqlite

import (
	"bytes"
	"encoding/hex"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/tsql"
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// readValue returns a value of any storage class as a cell. The text of a number is appended
// to digits, which is returned.
func readValue(tls *libc.TLS, value uintptr, t record.Type, digits []byte) (row.Cell, []byte) {
	start := len(digits)
	switch sqlite3.Xsqlite3_value_type(tls, value) {
	case sqlite3.SQLITE_INTEGER:
		n := sqlite3.Xsqlite3_value_int64(tls, value)
		digits = strconv.AppendInt(digits, n, 10)
		return integerCell(n, t, digits[start:]), digits
	case sqlite3.SQLITE_FLOAT:
		f := sqlite3.Xsqlite3_value_double(tls, value)
		if n, ok := wholeReal(f, t); ok {
			return row.Cell{Int: n}, digits // which SQLite finds equal
		}
		digits = appendReal(digits, f, t)
		return realCell(f, t, digits[start:]), digits
	case sqlite3.SQLITE_TEXT:
		return textCell(valueText(tls, value), t), digits
	case sqlite3.SQLITE_BLOB:
		data := valueText(tls, value)
		if t == record.Bytes {
			return row.Cell{Data: data}, digits
		}
		if anyTexts>>t&1 == 1 && utf8.Valid(data) {
			return row.Cell{Class: row.Blob, Data: data}, digits
		}
		digits = hex.AppendEncode(digits, data)
		return row.Cell{Misfit: true, Class: row.Blob, Data: digits[start:]}, digits
	}
	return row.Cell{Null: true}, digits
}

func integerCell(n int64, t record.Type, text []byte) row.Cell {
	cell := row.Cell{Class: row.Integer, Int: n, Data: text}
	if integerTypes>>t&1 == 1 {
		if inRange(t, n) {
			return row.Cell{Int: n}
		}
		cell.Misfit = true
		return cell
	}
	cell.Misfit = t == record.Bytes || t.Stored() == record.DateTime || t == record.Guid
	return cell
}

// maxExact is the number up to which a float holds every whole number.
const maxExact = 1 << 53

// wholeReal returns the integer that a float is, if the type has integers in its cells.
func wholeReal(f float64, t record.Type) (n int64, ok bool) {
	if integerTypes>>t&1 == 0 || math.Abs(f) > maxExact || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), inRange(t, int64(f))
}

func realCell(f float64, t record.Type, text []byte) row.Cell {
	cell := row.Cell{Class: row.Real, Data: text}
	switch {
	case t == record.Double:
		cell.Class = row.ClassOfType
	case t == record.Decimal:
		cell.Misfit = !isDecimalReal(f)
	default:
		cell.Misfit = anyTexts>>t&1 == 0
	}
	return cell
}

// textCell returns a text as a cell. Texts of decimals, dates and GUIDs are not parsed here,
// since they are written as they are.
func textCell(text []byte, t record.Type) row.Cell {
	cell := row.Cell{Class: row.Text, Data: text}
	switch {
	case anyTexts>>t&1 == 1:
		cell.Class = row.ClassOfType
	case len(text) == 0:
		return row.Cell{Null: true, Class: row.Text}
	case textTypes>>t&1 == 1:
		cell.Class = row.ClassOfType
	case t == record.Bool:
		value, ok := boolTexts[string(text)]
		cell.Int = value
		cell.Misfit = !ok
	case t == record.Double:
		cell.Misfit = !isPlainNumber(text)
	case integerTypes>>t&1 == 1:
		n, ok := wholeNumber(text)
		cell.Misfit = !ok || !inRange(t, n)
		if !cell.Misfit {
			cell.Int = n
		}
	default:
		cell.Misfit = true
	}
	return cell
}

// maxDigits is the number of digits of the largest integers.
const maxDigits = len("9223372036854775807")

// wholeNumber reads a text that is an integer as SQLite writes it. Most texts among numbers are
// words or codes: they are refused before strconv allocates an error for each (BenchmarkMixed).
func wholeNumber(text []byte) (n int64, ok bool) {
	digits := bytes.TrimPrefix(text, []byte("-"))
	if len(digits) == 0 || len(digits) > maxDigits {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	if digits[0] == '0' && len(text) > 1 { // also -0
		return 0, false
	}
	n, err := strconv.ParseInt(stringView(text), 10, 64)
	return n, err == nil
}

// isPlainNumber reports whether a text is a number without leading zeros. With them it is rather
// a code, such as 00120: a whole number is not read from it, either.
func isPlainNumber(text []byte) bool {
	digits := bytes.TrimPrefix(text, []byte("-"))
	hasZeros := len(digits) > 1 && digits[0] == '0' && digits[1] != '.'
	return !hasZeros && tsql.IsDecimal(text)
}

// boolTexts are the texts that are read as booleans. Package query lists them for conditions.
var boolTexts = map[string]int64{
	"0": 0, "false": 0, "False": 0, "FALSE": 0, "f": 0, "F": 0,
	"1": 1, "true": 1, "True": 1, "TRUE": 1, "t": 1, "T": 1,
}

// inRange reports whether a whole number is a value of a type.
func inRange(t record.Type, n int64) bool { return n >= lowest[t] && n <= highest[t] }

// lowest and highest are the limits of the types with values that are integers in a cell.
var lowest, highest = func() (lo, hi [record.Double + 1]int64) {
	for _, t := range record.Types() {
		switch {
		case t.Integer():
			lo[t], hi[t] = t.Range()
		case t == record.Bool:
			hi[t] = 1
		case t == record.TimeSpan:
			lo[t], hi[t] = record.Long.Range()
		}
	}
	return lo, hi
}()

// isDecimalReal reports whether a float is a decimal, which has at most 38 digits before the
// point.
func isDecimalReal(f float64) bool { return math.Abs(f) < 1e38 }

// appendReal appends the shortest digits that are read as the same float: of a decimal without
// an exponent, which is no decimal.
func appendReal(dst []byte, f float64, t record.Type) []byte {
	if t == record.Double {
		return wire.AppendDouble(dst, f, 64)
	}
	if t == record.Decimal && isDecimalReal(f) {
		dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	} else {
		dst = wire.AppendDouble(dst, f, 64)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		dst = append(dst, ".0"...) // as SQLite writes a float
	}
	return dst
}

// typedValue implements typed_value(x, type): the value of x if it can be read as a type of
// package record, in the form in which conditions compare it, else null.
func typedValue(tls *libc.TLS, ctx uintptr, _ int32, arguments uintptr) {
	values := (*[2]uintptr)(pointer(arguments))
	t := record.Type(sqlite3.Xsqlite3_value_int(tls, values[1]))
	var buffer [64]byte
	cell, _ := readValue(tls, values[0], t, buffer[:0])
	if cell.Null || cell.Misfit {
		return // the result is null by default
	}
	switch {
	case integerTypes>>t&1 == 1:
		sqlite3.Xsqlite3_result_int64(tls, ctx, cell.Int)
	case t == record.Double:
		f, err := strconv.ParseFloat(string(cell.Data), 64)
		if err == nil {
			sqlite3.Xsqlite3_result_double(tls, ctx, f)
		}
	case t == record.Bytes:
		sqlite3.Xsqlite3_result_value(tls, ctx, values[0])
	case t == record.DateTime:
		if date, ok := row.Date(cell.Data); ok {
			resultText(tls, ctx, date)
		}
	case t == record.Guid:
		if guid, ok := row.Guid(cell.Data); ok {
			resultText(tls, ctx, guid)
		}
	case t == record.Decimal:
		if tsql.IsDecimal(cell.Data) {
			resultText(tls, ctx, cell.Data)
		}
	case cell.Class != row.Blob:
		resultText(tls, ctx, cell.Data)
	}
}

// guidValue implements guid_value(x, form): the GUID of a text, or of a blob in a form.
func guidValue(tls *libc.TLS, ctx uintptr, _ int32, arguments uintptr) {
	values := (*[2]uintptr)(pointer(arguments))
	var guid []byte
	ok := false
	switch sqlite3.Xsqlite3_value_type(tls, values[0]) {
	case sqlite3.SQLITE_TEXT:
		guid, ok = row.Guid(valueText(tls, values[0]))
	case sqlite3.SQLITE_BLOB:
		form := record.BlobForm(valueText(tls, values[1]))
		guid, ok = row.AppendBlobGuid(nil, valueText(tls, values[0]), form)
	}
	if ok {
		resultText(tls, ctx, guid)
	}
}

// typedNumber implements typed_number(x). SQLite's own sums count texts as 0.
func typedNumber(tls *libc.TLS, ctx uintptr, _ int32, arguments uintptr) {
	value := *(*uintptr)(pointer(arguments))
	var buffer [64]byte
	cell, _ := readValue(tls, value, record.Double, buffer[:0])
	switch {
	case cell.Null:
	case cell.Misfit:
		resultError(tls, ctx, tsql.ErrNotDecimal)
	default:
		sqlite3.Xsqlite3_result_value(tls, ctx, value)
	}
}
