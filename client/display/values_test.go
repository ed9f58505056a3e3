package display

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                         "0s",
		30 * time.Second:          "30s",
		10 * time.Minute:          "10m",
		90 * time.Minute:          "1h30m",
		10 * time.Hour:            "10h",
		time.Hour + 5*time.Second: "1h0m5s",
		250 * time.Millisecond:    "250ms",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}
