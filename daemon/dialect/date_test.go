package dialect

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

func TestDate(t *testing.T) {
	old := Column{Type: "datetime"} // multiples of 1/300 s, shown as 0, 3 and 7 ms
	full := Column{Type: "datetime2"}
	for _, c := range []struct {
		column  Column
		op      record.Operator
		operand string
		castTo  string
		want    string // empty: the operand
	}{
		{full, record.Equal, "2019-05-01T10:11:12.1250000", "datetime2(7)", ""},
		{Column{}, record.GreaterThan, "2019-05-01T10:11:12.1250000", "datetime2(7)", ""},
		{old, record.Equal, "2019-05-01T10:11:12.1230000", "datetime", "2019-05-01T10:11:12.123"},
		{old, record.GreaterThan, "2019-05-01T10:11:12.1230000", "datetime", "2019-05-01T10:11:12.123"},
		{old, record.GreaterThan, "2019-05-01T10:11:12.1250000", "datetime", "2019-05-01T10:11:12.123"},
		{old, record.GreaterThanOrEqualTo, "2019-05-01T10:11:12.1250000", "datetime", "2019-05-01T10:11:12.127"},
		{old, record.LessThan, "2019-05-01T10:11:12.1299999", "datetime", "2019-05-01T10:11:12.130"},
		{old, record.LessThan, "2019-12-31T23:59:59.9999999", "datetime", "2020-01-01T00:00:00.000"},
		{old, record.LessThanOrEqualTo, "2019-05-01T10:11:12.1299999", "datetime", "2019-05-01T10:11:12.127"},
		{old, record.Equal, "2019-05-01T10:11:12.1230001", "datetime2(7)", "2019-05-01T10:11:12.0010000"},
		{old, record.NotEqualTo, "2019-05-01T10:11:12.1233333", "datetime2(7)", "2019-05-01T10:11:12.0010000"},
		{old, record.GreaterThan, "0001-01-01T00:00:00.0000000", "datetime2(7)", ""},
		{old, record.GreaterThan, "1752-12-31T23:59:59.9990000", "datetime2(7)", ""},
		{old, record.GreaterThanOrEqualTo, "1753-01-01T00:00:00.0000000", "datetime", "1753-01-01T00:00:00.000"},
		{old, record.LessThanOrEqualTo, "9999-12-31T23:59:59.9999999", "datetime2(7)", ""},
		{old, record.Equal, "9999-12-31T23:59:59.9970000", "datetime", "9999-12-31T23:59:59.997"},
		{old, record.GreaterThan, "9999-12-31T23:59:59.9970000", "datetime", "9999-12-31T23:59:59.997"},
	} {
		want := c.want
		if want == "" {
			want = c.operand
		}
		castTo, got := TSQL().Date(c.column, c.op, c.operand)
		if castTo != c.castTo || got != want {
			t.Errorf("%s %s %s: got %s as %s, want %s as %s",
				c.column.Type, c.op, c.operand, got, castTo, want, c.castTo)
		}
	}
}

// TestDateComparesAsShown: comparisons with a datetime column use its values as shown,
// although the server compares exact fractions.
func TestDateComparesAsShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		day := time.Date(2019, 5, 1, 0, 0, 0, 0, time.UTC)
		ticks := rapid.IntRange(0, 900).Draw(t, "ticks")
		exact := day.Add(time.Duration(ticks) * time.Second / 300).Truncate(100 * time.Nanosecond)
		shown := exact.Round(time.Millisecond)
		operand := day.Add(time.Duration(rapid.IntRange(0, 30_000_000).Draw(t, "operand")) * 100)
		if rapid.Bool().Draw(t, "as shown") {
			operand = shown
		}
		op := rapid.SampledFrom(comparisons).Draw(t, "operator")
		castTo, text := TSQL().Date(Column{Type: "datetime"}, op, operand.Format(wire.DateLayout))
		stored := shown // two datetimes are compared by ticks
		if strings.HasPrefix(castTo, "datetime2") {
			stored = exact
		}
		fitted, err := time.Parse("2006-01-02T15:04:05", text)
		if err != nil {
			t.Fatal(err)
		}
		got := holds(op, stored.Compare(fitted))
		if want := holds(op, shown.Compare(operand)); got != want {
			t.Fatalf("%s %s %s as %s: got %v, want %v", shown.Format(wire.DateLayout), op, text, castTo, got, want)
		}
	})
}

// comparisons are the operators that compare with one operand.
var comparisons = []record.Operator{
	record.Equal, record.NotEqualTo, record.GreaterThan, record.GreaterThanOrEqualTo,
	record.LessThan, record.LessThanOrEqualTo,
}

// holds reports whether a comparison holds, by the result of cmp.Compare.
func holds(op record.Operator, c int) bool {
	switch op {
	case record.Equal:
		return c == 0
	case record.NotEqualTo:
		return c != 0
	case record.GreaterThan:
		return c > 0
	case record.GreaterThanOrEqualTo:
		return c >= 0
	case record.LessThan:
		return c < 0
	case record.LessThanOrEqualTo:
		return c <= 0
	}
	return false
}
