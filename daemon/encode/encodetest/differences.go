package encodetest

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"

	"github.com/bizhook/whd/client/record"
)

// most is the number of differences that are told.
const most = 20

// Differences reads a reply to a query for all columns of a kind and says where
// it is not what was stored, each value nil, string, int64 (also for bools) or
// []byte, as stores are loaded with.
func Differences(format string, body []byte, kind *record.Kind, stored [][]any) []string {
	rows, err := Rows(format, body, kind.FieldNames())
	if err != nil {
		return []string{err.Error()}
	}
	if len(rows) != len(stored) {
		return []string{fmt.Sprintf("%d rows, want %d", len(rows), len(stored))}
	}
	var found []string
	for i := 0; i < len(rows) && len(found) < most; i++ {
		found = append(found, rowDifferences(format, i+1, kind.Fields, rows[i], stored[i])...)
	}
	return found
}

func rowDifferences(format string, number int, fields []record.Field, row Row, stored []any) []string {
	var found []string
	for i, f := range fields {
		text, there := row[f.Name]
		want, wanted := seen(format, f.Type, stored[i] == nil, Text(f.Type, stored[i]))
		switch {
		case there != wanted:
			found = append(found, fmt.Sprintf("row %d: %s is there: %v, want %v", number, f.Name, there, wanted))
		case text != want:
			found = append(found, fmt.Sprintf("row %d: %s is %s, want %s", number, f.Name, Short(text), Short(want)))
		}
	}
	for name := range row {
		if !slices.ContainsFunc(fields, func(f record.Field) bool { return f.Name == name }) {
			found = append(found, fmt.Sprintf("row %d: there is no column %s", number, name))
		}
	}
	return found
}

// Text is a stored value as JSON has it, without quotes.
func Text(t record.Type, v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case int64:
		if t == record.Bool {
			return strconv.FormatBool(v != 0)
		}
		return strconv.FormatInt(v, 10)
	default:
		return v.(string)
	}
}

// Short is the beginning of a text, with its strange characters shown.
func Short(text string) string {
	if len(text) > 200 {
		return strconv.QuoteToASCII(text[:200]) + "..."
	}
	return strconv.QuoteToASCII(text)
}
