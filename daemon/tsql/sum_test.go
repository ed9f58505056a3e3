package tsql

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func sumOf(t *testing.T, values ...string) *Sum {
	t.Helper()
	var s Sum
	for _, v := range values {
		if err := s.Add([]byte(v)); err != nil {
			t.Fatalf("Add(%q): %v", v, err)
		}
	}
	return &s
}

func TestSum(t *testing.T) {
	nines := strings.Repeat("9", 38)
	for _, c := range []struct{ values, sum, avg string }{
		{"5", "5", "5.000000"},
		{"1.50 2.25", "3.75", "1.875000"},
		{"1.5 2.25 3", "6.75", "2.250000"},
		{"1 1 0", "2", "0.666666"},
		{"-1 -1 0", "-2", "-0.666666"},
		{"0.00 0.0", "0.00", "0.000000"},
		{"-0.0", "0.0", "0.000000"},
		{"1 -1", "0", "0.000000"},
		{"1 -2", "-1", "-0.500000"},
		{"-0.01 0", "-0.01", "-0.005000"},
		{"0.12345678 0", "0.12345678", "0.06172839"},
		{nines + " " + nines, "1" + nines[1:] + "8", nines + ".000000"},
		{"0." + nines + " 1", "1." + nines, "0." + nines},
		{
			"-" + nines + " 0." + nines,
			"-" + nines[1:] + "8." + strings.Repeat("0", 37) + "1",
			"-4" + nines[1:] + "." + strings.Repeat("0", 38),
		},
	} {
		s := sumOf(t, strings.Fields(c.values)...)
		if got := string(s.AppendSum(nil)); got != c.sum {
			t.Errorf("the sum of %s is %s, want %s", c.values, got, c.sum)
		}
		if got, err := s.AppendAvg(nil); err != nil || string(got) != c.avg {
			t.Errorf("the average of %s is %s, %v, want %s", c.values, got, err, c.avg)
		}
	}
}

func TestSumErrors(t *testing.T) {
	s := sumOf(t, "1.5")
	for text, want := range map[string]error{
		"":                                  ErrNotDecimal,
		"1e3":                               ErrNotDecimal,
		"0x1":                               ErrNotDecimal,
		"1,5":                               ErrNotDecimal,
		strings.Repeat("9", 80):             ErrOverflow,
		"0." + strings.Repeat("0", 77) + "": ErrOverflow,
	} {
		if err := s.Add([]byte(text)); !errors.Is(err, want) {
			t.Errorf("Add(%q) = %v, want %v", text, err, want)
		}
	}
	if got := string(s.AppendSum(nil)); got != "1.5" || s.Count() != 1 {
		t.Errorf("after errors: got sum %s of %d values, want 1.5 of 1", got, s.Count())
	}
	if _, err := new(Sum).AppendAvg(nil); err == nil {
		t.Error("the average of an empty sum is not an error")
	}
}

func TestSumAgainstBig(t *testing.T) {
	decimals := rapid.StringMatching(`-?[0-9]{1,20}(\.[0-9]{1,18})?`)
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(decimals, 1, 20).Draw(t, "values")
		var s Sum
		want, scale := new(big.Rat), 0
		for _, v := range values {
			if err := s.Add([]byte(v)); err != nil {
				t.Fatal(err)
			}
			want.Add(want, rational(v))
			if i := strings.IndexByte(v, '.'); i >= 0 {
				scale = max(scale, len(v)-i-1)
			}
		}
		if got := string(s.AppendSum(nil)); got != truncated(want, scale) {
			t.Fatalf("the sum is %s, want %s", got, truncated(want, scale))
		}
		want.Quo(want, new(big.Rat).SetInt64(int64(len(values))))
		got, err := s.AppendAvg(nil)
		if want := truncated(want, max(6, scale)); err != nil || string(got) != want {
			t.Fatalf("the average is %s, %v, want %s", got, err, want)
		}
	})
}

// truncated formats r with scale fractional digits, without rounding.
func truncated(r *big.Rat, scale int) string {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	units := new(big.Int).Quo(new(big.Int).Mul(r.Num(), power), r.Denom())
	return new(big.Rat).SetFrac(units, power).FloatString(scale)
}

func BenchmarkSum(b *testing.B) {
	var s Sum
	text := []byte("12345.6789")
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Add(text); err != nil {
			b.Fatal(err)
		}
	}
}
