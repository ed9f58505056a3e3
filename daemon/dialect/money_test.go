package dialect

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
)

func TestMoney(t *testing.T) {
	for _, c := range []struct {
		column  string
		op      record.Operator
		operand string
		castTo  string // empty: its own digits
		want    string
	}{
		{"money", record.Equal, "12.5", "money", "12.5000"},
		{"money", record.Equal, "-7", "money", "-7.0000"},
		{"money", record.Equal, "1.000100", "money", "1.0001"},
		{"money", record.Equal, "1.00005", "", "1.00005"},
		{"money", record.NotEqualTo, "1.00005", "", "1.00005"},
		{"money", record.GreaterThan, "1.00005", "money", "1.0000"},
		{"money", record.GreaterThanOrEqualTo, "1.00005", "money", "1.0001"},
		{"money", record.LessThan, "-0.00005", "money", "0.0000"},
		{"money", record.LessThanOrEqualTo, "-0.00005", "money", "-0.0001"},
		{"money", record.Equal, "922337203685477.5807", "money", "922337203685477.5807"},
		{"money", record.Equal, "-922337203685477.5808", "money", "-922337203685477.5808"},
		{"money", record.Equal, "922337203685477.5808", "", "922337203685477.5808"},
		{"money", record.GreaterThanOrEqualTo, "922337203685477.58071", "", "922337203685477.58071"},
		{"money", record.LessThanOrEqualTo, "-922337203685477.58081", "", "-922337203685477.58081"},
		{"smallmoney", record.LessThan, "-214748.3648", "smallmoney", "-214748.3648"},
		{"smallmoney", record.LessThan, "214748.36471", "", "214748.36471"},
		{"smallmoney", record.Equal, "300000", "", "300000"},
		{"decimal(19,4)", record.Equal, "12.5", "", "12.5"},
		{"", record.Equal, "12.5", "", "12.5"},
	} {
		castTo, got := TSQL().Operand(record.Decimal, Column{Type: c.column}, c.op, c.operand)
		if castTo != c.castTo || got != c.want {
			t.Errorf("%s %s %s: got %s as %q, want %s as %q", c.column, c.op, c.operand, got, castTo, c.want, c.castTo)
		}
	}
}

// TestMoneyComparesExactly: a comparison with the fitted operand has the result of one with
// the operand itself, for every value of the column.
func TestMoneyComparesExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.Int64().Draw(t, "units")
		column := Column{Type: "money"}
		if rapid.Bool().Draw(t, "small") {
			column.Type = "smallmoney"
			units = int64(int32(units))
		}
		value := big.NewRat(units, 10_000)
		distance := big.NewRat(rapid.Int64Range(-30, 30).Draw(t, "distance"), 100_000)
		operand := new(big.Rat).Add(value, distance)
		op := rapid.SampledFrom(comparisons).Draw(t, "operator")
		castTo, text := TSQL().Operand(record.Decimal, column, op, operand.FloatString(5))
		fitted, ok := new(big.Rat).SetString(text)
		isCast := castTo != ""
		if !ok || (isCast && castTo != column.Type) {
			t.Fatalf("got operand %s as %q, want a number, and %s or no type", text, castTo, column.Type)
		}
		inUnits := new(big.Rat).Mul(fitted, big.NewRat(10_000, 1))
		if isCast && !inUnits.IsInt() {
			t.Fatalf("%s has more digits than %s", text, castTo)
		}
		got := holds(op, value.Cmp(fitted))
		if want := holds(op, value.Cmp(operand)); got != want {
			t.Fatalf("%s %s %s as %s: got %v, want %v", value.FloatString(4), op, text, castTo, got, want)
		}
	})
}
