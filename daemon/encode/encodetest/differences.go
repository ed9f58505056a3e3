package encodetest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// maxDifferences is the number of differences after which no more rows are compared.
const maxDifferences = 20

// Differences reads the response to a query for all columns of a kind and returns
// its differences from the stored values, which are nil, string, int64 (also for
// bools), float64 or []byte, as in the data that stores are loaded with.
func Differences(format string, body []byte, kind *record.Kind, stored [][]any) []string {
	rows, err := Rows(format, body, kind.FieldNames())
	if err != nil {
		return []string{err.Error()}
	}
	if len(rows) != len(stored) {
		return []string{fmt.Sprintf("%d rows, want %d", len(rows), len(stored))}
	}
	var differences []string
	for i, row := range rows {
		differences = append(differences, rowDifferences(format, i+1, kind.Fields, row, stored[i])...)
		if len(differences) >= maxDifferences {
			break
		}
	}
	return differences
}

// rowDifferences returns the differences of the row with a number, from 1.
func rowDifferences(format string, number int, fields []record.Field, row Row, stored []any) []string {
	var differences []string
	add := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		differences = append(differences, fmt.Sprintf("row %d: %s", number, text))
	}
	for i, f := range fields {
		text, isPresent := row[f.Name]
		want, mustBePresent := expected(format, f.Type, stored[i] == nil, Text(f.Type, stored[i]))
		if isPresent != mustBePresent {
			add("%s present: %v, want %v", f.Name, isPresent, mustBePresent)
		} else if text != want {
			add("%s is %s, want %s", f.Name, Short(text), Short(want))
		}
	}
	for name := range row {
		hasName := func(f record.Field) bool { return f.Name == name }
		if !slices.ContainsFunc(fields, hasName) {
			add("unknown column %s", name)
		}
	}
	return differences
}

// Text returns a stored value in its JSON form, without quotes.
func Text(t record.Type, v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case float64:
		text, _ := json.Marshal(v)
		return string(text)
	case int64:
		if t == record.Bool {
			return strconv.FormatBool(v != 0)
		}
		if t == record.TimeSpan {
			return string(wire.AppendTimeSpan(nil, v))
		}
		return strconv.FormatInt(v, 10)
	default:
		return v.(string)
	}
}

// Short returns the start of a text as a quoted string.
func Short(text string) string {
	const maxLength = 200
	if len(text) > maxLength {
		return strconv.QuoteToASCII(text[:maxLength]) + "..."
	}
	return strconv.QuoteToASCII(text)
}
