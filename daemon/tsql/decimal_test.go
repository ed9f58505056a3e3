package tsql

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCompareDecimal(t *testing.T) {
	// In ascending order; the texts of one line are equal.
	order := [][]string{
		{"-99999999999999999999999999999999999999"},
		{"-10", "-10.0", "-010"},
		{"-9.99"},
		{"-1.001"},
		{"-1"},
		{"-0.0001", "-0.00010"},
		{"0", "-0", "0.00", "-0.00", "000"},
		{"0.00000000000000000000000000000000000001"},
		{"0.1", "0.10"},
		{"0.11"},
		{"1", "1.0", "1.00", "01"},
		{"1.5"},
		{"9"},
		{"10"},
		{"12345678901234567890.1234567890"},
		{"12345678901234567890.1234567891"},
		{""}, // not decimals, sorted by bytes
		{"-"},
		{"."},
		{".5"},
		{"1."},
		{"1.2.3"},
		{"1e5"},
		{"NaN"},
	}
	for i, line := range order {
		for j, other := range order {
			for _, a := range line {
				for _, b := range other {
					want := 0
					if i < j {
						want = -1
					} else if i > j {
						want = 1
					}
					if got := CompareDecimalStrings(a, b); got != want {
						t.Errorf("CompareDecimal(%q, %q) = %d, want %d", a, b, got, want)
					}
				}
			}
		}
	}
}

// number generates decimal digits, some of them invalid.
func number() *rapid.Generator[string] {
	return rapid.StringMatching(`-?[0-3]{1,4}(\.[0-2]{1,4})?|-?[0-9]{20,38}\.[0-9]{0,18}|[-.0-1e]{0,3}`)
}

// rational returns the value as computed by math/big, nil if text is not a decimal.
func rational(text string) *big.Rat {
	if _, ok := parseDecimal([]byte(text)); !ok {
		return nil
	}
	r, _ := new(big.Rat).SetString(text)
	return r
}

func TestCompareDecimalIsAnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkOrder(t, CompareDecimalStrings, number().Draw(t, "a"), number().Draw(t, "b"), number().Draw(t, "c"))
	})
}

func FuzzCompareDecimal(f *testing.F) {
	for _, seed := range [][2]string{{"1.0", "1.00"}, {"-0", "0"}, {"12.5", "-3"}, {"", "1."}, {"0.10", "0.1000001"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 200 || len(b) > 200 {
			return
		}
		x := rational(a)
		y := rational(b)
		var want int
		switch {
		case x != nil && y != nil:
			want = x.Cmp(y)
		case x != nil:
			want = -1
		case y != nil:
			want = 1
		default:
			want = strings.Compare(a, b)
		}
		if got := CompareDecimalStrings(a, b); got != want {
			t.Errorf("CompareDecimal(%q, %q) = %d, want %d", a, b, got, want)
		}
	})
}

func BenchmarkCompareDecimal(b *testing.B) {
	x, y := []byte("12345.6700"), []byte("12345.6800")
	b.ReportAllocs()
	for b.Loop() {
		CompareDecimal(x, y)
	}
}
