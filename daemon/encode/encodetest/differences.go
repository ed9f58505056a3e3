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

// maxDifferences is the number of differences that are reported.
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
	var found []string
	for i := 0; i < len(rows) && len(found) < maxDifferences; i++ {
		found = append(found, rowDifferences(format, i+1, kind.Fields, rows[i], stored[i])...)
	}
	return found
}

func rowDifferences(format string, number int, fields []record.Field, row Row, stored []any) []string {
	var found []string
	for i, f := range fields {
		text, present := row[f.Name]
		want, wanted := expected(format, f.Type, stored[i] == nil, Text(f.Type, stored[i]))
		if present != wanted {
			found = append(found, fmt.Sprintf("row %d: %s present: %v, want %v", number, f.Name, present, wanted))
		} else if text != want {
			found = append(found, fmt.Sprintf("row %d: %s is %s, want %s", number, f.Name, Short(text), Short(want)))
		}
	}
	for name := range row {
		if !slices.ContainsFunc(fields, func(f record.Field) bool { return f.Name == name }) {
			found = append(found, fmt.Sprintf("row %d: unknown column %s", number, name))
		}
	}
	return found
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
	if len(text) > 200 {
		return strconv.QuoteToASCII(text[:200]) + "..."
	}
	return strconv.QuoteToASCII(text)
}
