package executortest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/sqlite"
)

// MixedColumns are the types of columns in the tables of other programs, one of each affinity
// and the usual names.
var MixedColumns = []string{
	"INTEGER", "REAL", "NUMERIC", "TEXT", "BLOB", "", "DATE", "BOOLEAN", "DECIMAL(18,2)",
	"TEXT COLLATE NOCASE", "TEXT_DECIMAL COLLATE DEC",
}

// MixedValues are values of every storage class.
var MixedValues = []string{
	"NULL", "0", "1", "2", "-1", "10", "255", "256", "70000", "-2147483648",
	"2147483648", "9007199254740993", "9223372036854775807", "20260102",
	"0.0", "1.0", "2.5", "-2.5", "0.1", "0.1 + 0.2", "1e22", "1e300", "-1e300", "9e999",
	"-9e999", "1e-7", "12.50", "10.0",
	"''", "' '", "'0'", "'1'", "'10'", "'010'", "'10A'", "'2.5'", "'2.50'", "'9'",
	"'-1'", "'+5'", "'1e3'", "'true'", "'False'", "'T'", "'yes'", "'abc'", "'ABC'",
	"'n/a'", "'~'", "'12,5'",
	"'2026-01-02T10:11:12.0000000'", "'2026-01-02 10:11:12'", "'2026-01-02'",
	"'2026-01-02T00:00:00.0000000'", "'2026-01-03'", "'2026-13-02'",
	"'2026-01-02T10:11'", "'2025-12-31T23:59:59.9999999'", "'10:11:12'",
	"'0f8fad5b-d9cb-469f-a165-70867728950e'", "'0F8FAD5B-D9CB-469F-A165-70867728950E'",
	"'0f8fad5b-D9CB-469f-a165-70867728950e'",
	"x''", "x'00'", "x'3130'", "x'616263'", "x'ff00'", "x'00112233445566778899aabbccddeeff'",
	"x'5bad8f0fcbd99f46a16570867728950e'", "x'0f8fad5bd9cb469fa16570867728950e'", // the GUID above, of .NET and of RFC 9562
}

// MixedOperands are the operands of conditions, by the type of the field.
var MixedOperands = map[record.Type][]string{
	record.Text:    {"10", "010", "abc", "2.5", "2.50", "x", "true", "1.0", "a"},
	record.Int:     {"0", "1", "-1", "10", "2147483647"},
	record.Byte:    {"0", "1", "10", "255"},
	record.Long:    {"0", "10", "9007199254740993", "-9223372036854775808"},
	record.Decimal: {"0", "2.5", "2.50", "10", "-2.5", "12.5"},
	record.Double:  {"0", "2.5", "-1", "1e300", "0.1"},
	record.Bool:    {"true", "false"},
	record.DateTime: {
		"2026-01-02T00:00:00",
		"2026-01-02T10:11:12",
		"2026-01-02T10:11:00",
		"2025-12-31T23:59:59.9999999",
		"2000-01-01",
	},
	record.Guid:     {"0f8fad5b-d9cb-469f-a165-70867728950e", "ffffffff-d9cb-469f-a165-70867728950e"},
	record.Bytes:    {"AA==", "MTA=", "/wA="},
	record.TimeSpan: {"PT0S", "PT0.000001S"},
}

// MixedValue is a value that is read as the type of its field, in a form that can be compared:
// *big.Rat, string, bool or []byte.
type MixedValue any

// ReadMixed returns a stored value as one of a type, and the text that is shown for it. value is nil
// unless it can be read as the type. Only the form of durations is code of the implementation.
func ReadMixed(fieldType record.Type, stored any) (value MixedValue, shown string) {
	isEmptyText := stored == "" && fieldType != record.Text
	if stored == nil || isEmptyText {
		return nil, "null"
	}
	switch fieldType {
	case record.Text:
		return readMixedText(stored)
	case record.Bytes:
		return readMixedBytes(stored)
	case record.Guid:
		return readMixedGuid(stored)
	case record.DateTime:
		return readMixedDateTime(stored)
	case record.Bool:
		return readMixedBool(stored)
	case record.Decimal:
		return readMixedDecimal(stored)
	case record.Double:
		return readMixedDouble(stored)
	}
	return readMixedInteger(fieldType, stored)
}

// misfit returns a value that cannot be read as a type and has no form of its own.
func misfit(fieldType record.Type, stored any) (MixedValue, string) {
	return nil, "text " + shownMixed(fieldType, stored)
}

func readMixedText(stored any) (MixedValue, string) {
	data, isBlob := stored.([]byte)
	if !isBlob {
		shown := shownMixed(record.Text, stored)
		return shown, shown
	}
	if utf8.Valid(data) {
		return nil, string(data)
	}
	return misfit(record.Text, stored)
}

func readMixedBytes(stored any) (MixedValue, string) {
	if data, isBlob := stored.([]byte); isBlob {
		return data, base64.StdEncoding.EncodeToString(data)
	}
	return misfit(record.Bytes, stored)
}

// readMixedGuid reads a GUID with all letters in the same case.
func readMixedGuid(stored any) (MixedValue, string) {
	text, isText := stored.(string)
	if !isText {
		return misfit(record.Guid, stored)
	}
	isUniform := text == strings.ToLower(text) || text == strings.ToUpper(text)
	if len(text) == 36 && isUniform {
		return strings.ToLower(text), text
	}
	return nil, text
}

// mixedLayouts are the forms of dates and times.
var mixedLayouts = []string{
	"2006-01-02",
	"2006-01-02T15:04",
	"2006-01-02 15:04:05",
	"2006-01-02T15:04:05.0000000",
}

func readMixedDateTime(stored any) (MixedValue, string) {
	text, isText := stored.(string)
	if !isText {
		return misfit(record.DateTime, stored)
	}
	for _, layout := range mixedLayouts {
		d, err := time.Parse(layout, text)
		if err == nil && len(text) == len(layout) {
			return d.Format("2006-01-02T15:04:05.0000000"), text
		}
	}
	return nil, text
}

func readMixedBool(stored any) (MixedValue, string) {
	text, _ := stored.(string)
	number, _ := naiveNumber(stored)
	isOne := number != nil && number.Cmp(big.NewRat(1, 1)) == 0
	if isOne || slices.Contains([]string{"1", "true", "T"}, text) {
		return true, "true"
	}
	isZero := number != nil && number.Sign() == 0
	if isZero || slices.Contains([]string{"0", "False"}, text) {
		return false, "false"
	}
	return misfit(record.Bool, stored)
}

func readMixedDecimal(stored any) (MixedValue, string) {
	number, _ := naiveNumber(stored)
	if number != nil && naiveFits(number) {
		return number, shownMixed(record.Decimal, stored)
	}
	text, isText := stored.(string)
	if !isText {
		return misfit(record.Decimal, stored)
	}
	if isPlain(text) {
		r, _ := new(big.Rat).SetString(text)
		return r, text
	}
	return nil, text
}

func readMixedDouble(stored any) (MixedValue, string) {
	text, isText := stored.(string)
	if isText && isPlain(text) && !hasLeadingZeros(text) {
		f, _ := strconv.ParseFloat(text, 64)
		return new(big.Rat).SetFloat64(f), text
	}
	number, isNumber := naiveNumber(stored)
	if number != nil {
		return number, shownMixed(record.Double, stored)
	}
	if isNumber {
		return infiniteMixed(stored.(float64))
	}
	return misfit(record.Double, stored)
}

// readMixedInteger reads a value of the types that are whole numbers.
func readMixedInteger(fieldType record.Type, stored any) (MixedValue, string) {
	number := naiveWhole(stored)
	if number == nil || !naiveInRange(fieldType, number.Num().Int64()) {
		return misfit(fieldType, stored)
	}
	if fieldType == record.TimeSpan {
		return number, string(wire.AppendTimeSpan(nil, number.Num().Int64()))
	}
	return number, number.Num().String()
}

// naiveWhole returns a stored value as a whole number of 64 bits, nil if it is none. A float is
// none from where it does not hold all whole numbers, and a text only in the usual form.
func naiveWhole(stored any) *big.Rat {
	if text, isText := stored.(string); isText {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != text {
			return nil
		}
		return big.NewRat(n, 1)
	}
	number, _ := naiveNumber(stored)
	if number == nil || !number.IsInt() || !number.Num().IsInt64() {
		return nil
	}
	_, isFloat := stored.(float64)
	isExact := new(big.Rat).Abs(number).Cmp(big.NewRat(1<<53, 1)) <= 0
	if isFloat && !isExact {
		return nil
	}
	return number
}

// infiniteMixed returns an infinite number as one beyond all finite ones.
func infiniteMixed(f float64) (value MixedValue, shown string) {
	beyond := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 2000))
	if f > 0 {
		return beyond, "+Inf"
	}
	return beyond.Neg(beyond), "-Inf"
}

// shownMixed returns the text of a stored value for a field of a type.
func shownMixed(fieldType record.Type, stored any) string {
	switch v := stored.(type) {
	case []byte:
		return hex.EncodeToString(v)
	case float64:
		return shownFloat(fieldType, v)
	}
	return fmt.Sprint(stored)
}

// shownFloat writes a float as SQLite and the interface do: without an exponent below 1e21, and as
// a decimal; with .0 after a whole number, which is no integer, unless the field is a double.
func shownFloat(fieldType record.Type, f float64) string {
	shown := strings.Replace(strconv.FormatFloat(f, 'g', -1, 64), "e-0", "e-", 1)
	isShort := strings.Contains(shown, "e+") && math.Abs(f) < 1e21
	isDecimal := fieldType == record.Decimal && math.Abs(f) < 1e38
	if isShort || isDecimal {
		shown = strconv.FormatFloat(f, 'f', -1, 64)
	}
	if fieldType != record.Double && !strings.ContainsAny(shown, ".eI") && len(shown) < 16 {
		shown += ".0"
	}
	return shown
}

func isPlain(text string) bool {
	digits := strings.Replace(strings.TrimPrefix(text, "-"), ".", "", 1)
	hasDigits := digits != "" && strings.Trim(digits, "0123456789") == ""
	return hasDigits && !strings.HasPrefix(text, ".") && !strings.HasSuffix(text, ".")
}

func hasLeadingZeros(text string) bool {
	whole, _, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	return len(whole) > 1 && whole[0] == '0'
}

// naiveNumber returns a stored number. It is nil if it is infinite.
func naiveNumber(stored any) (*big.Rat, bool) {
	switch v := stored.(type) {
	case int64:
		return big.NewRat(v, 1), true
	case float64:
		return new(big.Rat).SetFloat64(v), true
	}
	return nil, false
}

// naiveFits reports whether a number is in the range of decimals.
func naiveFits(number *big.Rat) bool {
	limit, _ := new(big.Rat).SetString("1e38")
	return new(big.Rat).Abs(number).Cmp(limit) < 0
}

func naiveInRange(fieldType record.Type, n int64) bool {
	switch fieldType {
	case record.Int:
		return n >= -1<<31 && n < 1<<31
	case record.Byte:
		return n >= 0 && n < 256
	}
	return true
}

// compareNaive compares two values that can be read as the type.
func compareNaive(a, b MixedValue) int {
	switch a := a.(type) {
	case *big.Rat:
		return a.Cmp(b.(*big.Rat))
	case string:
		return strings.Compare(a, b.(string))
	case []byte:
		return bytes.Compare(a, b.([]byte))
	}
	if a == b {
		return 0
	}
	return 1
}

// MeetsMixed evaluates a condition on a value. fold is the form in which texts are compared.
func MeetsMixed(
	fieldType record.Type, stored any, op record.Operator, operands []MixedValue,
	fold func(string) string,
) bool {
	v, shown := ReadMixed(fieldType, stored)
	if op == record.IsNull {
		return shown == "null"
	}
	if op == record.IsNotNull {
		return shown != "null"
	}
	if v == nil {
		return false
	}

	lower := strings.ToLower(shown)
	compare := func(i int) int {
		if text, ok := v.(string); ok && fieldType == record.Text {
			return strings.Compare(fold(text), fold(operands[i].(string)))
		}
		return compareNaive(v, operands[i])
	}
	switch op {
	case record.Equal:
		return compare(0) == 0
	case record.NotEqualTo:
		return compare(0) != 0
	case record.GreaterThan:
		return compare(0) > 0
	case record.GreaterThanOrEqualTo:
		return compare(0) >= 0
	case record.LessThan:
		return compare(0) < 0
	case record.LessThanOrEqualTo:
		return compare(0) <= 0
	case record.Between:
		return compare(0) >= 0 && compare(1) <= 0
	case record.In:
		return compare(0) == 0 || compare(1) == 0
	case record.StartsWith:
		return strings.HasPrefix(lower, strings.ToLower(operands[0].(string)))
	case record.EndsWith:
		return strings.HasSuffix(lower, strings.ToLower(operands[0].(string)))
	case record.Contains:
		return strings.Contains(lower, strings.ToLower(operands[0].(string)))
	}
	panic(fmt.Sprintf("MeetsMixed does not know the operator %v", op))
}

// MixedTypes are the types of fields.
var MixedTypes = []record.Type{
	record.Text, record.Int, record.Byte, record.Long, record.Decimal, record.Double,
	record.Bool, record.DateTime, record.Guid, record.Bytes, record.TimeSpan,
}

// MixedFields are fields of these types, and of GUIDs in blobs.
func MixedFields() []record.Field {
	var fields []record.Field
	for _, t := range MixedTypes {
		fields = append(fields, record.Field{Type: t, Filter: t.Filter(), Null: record.Nullable})
	}
	for _, form := range []record.BlobForm{record.BlobNet, record.BlobRFC} {
		fields = append(fields, record.Field{
			Type:   record.Guid,
			Filter: record.GuidFilter,
			Null:   record.Nullable,
			Blob:   form,
		})
	}
	return fields
}

// UnpackGuids replaces the blobs of 16 bytes among stored values by the texts of their GUIDs. It
// shares no code with the implementation.
func UnpackGuids(stored map[int64]any, form record.BlobForm) {
	for id, v := range stored {
		b, isBlob := v.([]byte)
		if !isBlob || len(b) != 16 {
			continue
		}
		var order binary.ByteOrder = binary.BigEndian
		if form == record.BlobNet {
			order = binary.LittleEndian
		}
		stored[id] = fmt.Sprintf("%08x-%04x-%04x-%x-%x",
			order.Uint32(b), order.Uint16(b[4:]), order.Uint16(b[6:]), b[8:10], b[10:])
	}
}

// MixedOperand returns an operand of a condition in the form of ReadMixed.
func MixedOperand(fieldType record.Type, v wire.Value) MixedValue {
	switch fieldType {
	case record.Text, record.DateTime, record.Guid:
		return v.Text
	case record.Bytes:
		return v.Bytes
	case record.Bool:
		return v.Int == 1
	case record.Double:
		f, _ := strconv.ParseFloat(v.Text, 64)
		return new(big.Rat).SetFloat64(f)
	case record.Decimal:
		r, _ := new(big.Rat).SetString(v.Text)
		return r
	}
	return big.NewRat(v.Int, 1)
}

// StoredMixed returns the values of a column of a table by the ID of the row, as SQLite stores
// them: nil, int64, float64, string or []byte.
func StoredMixed(conn *sqlite.Conn, table, column string) (map[int64]any, error) {
	stored := make(map[int64]any)
	v := sqlite.Quote(column)
	exact := "CASE WHEN typeof(" + v + ") = 'real' THEN printf('%!.17g', " + v + ") ELSE " + v + " END"
	selected := "SELECT ID, typeof(" + v + "), hex(" + v + "), " + exact + " FROM " + sqlite.Quote(table)
	err := conn.Query(selected, func(s *sqlite.Stmt) (err error) {
		switch s.Text(1) {
		case "integer":
			stored[s.Int(0)] = s.Int(3)
		case "real":
			stored[s.Int(0)], err = strconv.ParseFloat(s.Text(3), 64)
		case "text":
			stored[s.Int(0)] = s.Text(3)
		case "blob":
			stored[s.Int(0)], err = hex.DecodeString(s.Text(2))
		default:
			stored[s.Int(0)] = nil
		}
		return err
	})
	return stored, err
}
