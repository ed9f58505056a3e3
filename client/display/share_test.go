package display

import "testing"

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0", 1: "100", 0.996: "99.6", 0.9996: "99.9", 0.00001: "0.1", 0.5: "50.0",
	} {
		if got := Percent(share); got != want {
			t.Errorf("the share %v is %q, want %q", share, got, want)
		}
	}
}
