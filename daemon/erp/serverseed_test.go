package erp

import (
	"iter"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"pgregory.net/rapid"
)

// TestColumnTypes: created tables have column types as narrow as those of an ERP.
func TestColumnTypes(t *testing.T) {
	kind := &record.Kind{Name: "K", Fields: []record.Field{
		{Name: "Key", Type: record.Text},
		{Name: "Note", Type: record.Text},
		{Name: "Long", Type: record.Text},
		{Name: "Money", Type: record.Decimal},
		{Name: "Fine", Type: record.Decimal},
		{Name: "Large", Type: record.Decimal},
		{Name: "Both", Type: record.Decimal},
		{Name: "When", Type: record.DateTime},
		{Name: "Raw", Type: record.Bytes},
		{Name: "Id", Type: record.Guid},
		{Name: "Is", Type: record.Bool},
	}}
	nines := strings.Repeat("9", 38)
	rows := func(*record.Kind) iter.Seq[[]any] {
		return slices.Values([][]any{
			{"a", "é", strings.Repeat("x", 400), "1.5", "0.123456", nines, nines, nil, nil, nil, nil},
			{strings.Repeat("x", 39), nil, "", "-123456789012345.6789", "1", "1", "0.0001", nil, nil, nil, int64(1)},
		})
	}
	var got []string
	for i, e := range measureColumns(kind, rows) {
		got = append(got, columnType(kind.Fields[i].Type, e).name)
	}
	want := []string{
		"varchar(40)", "nvarchar(40)", "varchar(max)",
		"decimal(19,4)", "decimal(21,6)", "decimal(38,0)", "decimal(38,19)",
		"datetime2(7)", "varbinary(max)", "uniqueidentifier", "bit",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got column types\n%q, want\n%q", got, want)
	}
}

func TestRoundToFit(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // in decimal(38,19)
	}{
		{"0", "0"},
		{"1.50", "1.50"},
		{"-0.0000", "-0.0000"},
		{strings.Repeat("9", 38), strings.Repeat("9", 19) + "." + strings.Repeat("9", 19)},
		{"-" + strings.Repeat("9", 20), "-" + strings.Repeat("9", 19) + "." + strings.Repeat("9", 19)},
		{"0." + strings.Repeat("0", 37) + "1", "0." + strings.Repeat("0", 18) + "1"},
		{"-0." + strings.Repeat("0", 37) + "1", "-0." + strings.Repeat("0", 18) + "1"},
		{"1." + strings.Repeat("1", 20), "1." + strings.Repeat("1", 19)},
	} {
		if got := roundToFit(c.text, 38, 19); got != c.want {
			t.Errorf("%s becomes %s, want %s", c.text, got, c.want)
		}
	}
}

// TestRoundToFitKeepsSign checks that each rounded number fits, and has its sign.
func TestRoundToFitKeepsSign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, err := wire.ParseDecimal(rapid.StringMatching(`-?[0-9]{1,25}\.?[0-9]{0,25}`).Draw(t, "text"))
		if err != nil {
			return
		}
		got := roundToFit(text, 38, 19)
		whole, fraction := digitsOf(got)
		if whole > 19 || fraction > 19 {
			t.Fatalf("%s becomes %s, want at most 19 digits before and after the point", text, got)
		}
		original, _ := new(big.Rat).SetString(text)
		rounded, ok := new(big.Rat).SetString(got)
		if !ok || original.Sign() != rounded.Sign() {
			t.Fatalf("%s becomes %s, want a number of the same sign", text, got)
		}
	})
}
