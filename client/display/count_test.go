package display

import (
	"math"
	"testing"
)

func TestShort(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 17: "17", 999: "999", 1000: "1.0k", 4550: "4.5k", 9949: "9.9k", 9950: "10k",
		999_499: "999k", 999_500: "1.0M", 12_400_000: "12M", 7_000_000_000: "7.0G",
		999_499_999_999_999: "999T", 999_500_000_000_000: "1.0P", 1e18: "1.0E", math.MaxInt64: "9.2E",
		-17: "-17", -4550: "-4.5k", -999_500: "-1.0M", math.MinInt64: "-9.2E",
	} {
		if got := Short(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
