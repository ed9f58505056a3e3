package display

import "testing"

func TestShort(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 17: "17", 999: "999", 1000: "1.0k", 4550: "4.5k", 9949: "9.9k", 9950: "10k",
		999_499: "999k", 999_500: "1.0M", 12_400_000: "12M", 7_000_000_000: "7.0G",
	} {
		if got := Short(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
