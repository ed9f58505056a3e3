package ui_test

import (
	"testing"
	"time"

	"github.com/bizhook/whd/tui/ui"
)

func TestMillisecondsFormat(t *testing.T) {
	for text, want := range map[string]string{
		"PT0S":         "0.0 ms",
		"PT0.0003985S": "0.4 ms",
		"PT0.00999S":   "10.0 ms",
		"PT0.01S":      "10 ms",
		"PT0.0123S":    "12 ms",
		"PT30S":        "30,000 ms",
		"PT1H0S":       "3,600,000 ms",
		"soon":         "soon",
	} {
		if got := ui.Milliseconds(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

// A duration below a millisecond is not called none.
func TestDurationsInMilliseconds(t *testing.T) {
	for text, want := range map[string]string{
		"PT0S":      "< 1 ms",
		"PT0.0009S": "< 1 ms",
		"PT0.001S":  "1 ms",
		"PT1.5S":    "1,500 ms",
		"soon":      "soon",
	} {
		if got := ui.DurationText(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

// Shares and durations are short, and never rounded to all or nothing.
func TestShortNumbers(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0 %", 1: "100 %", 0.996: "99.6 %", 0.99999: "99.9 %", 0.00001: "0.1 %", 0.5: "50.0 %",
	} {
		if got := ui.Percent(share); got != want {
			t.Errorf("the share %v is %q, want %q", share, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0:                          "< 0.1 ms",
		50 * time.Microsecond:      "0.1 ms",
		649_800 * time.Nanosecond:  "0.6 ms",
		4 * time.Millisecond:       "4 ms",
		9_960 * time.Microsecond:   "10 ms",
		27 * time.Millisecond:      "27 ms",
		999_400 * time.Microsecond: "999 ms",
		999_600 * time.Microsecond: "1 s",
		1200 * time.Millisecond:    "1.2 s",
		15 * time.Second:           "15 s",
	} {
		if got := ui.Took(d); got != want {
			t.Errorf("the duration %v is %q, want %q", d, got, want)
		}
	}
}
