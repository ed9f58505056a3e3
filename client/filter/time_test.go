package filter

import (
	"strings"
	"testing"
	"time"
)

func TestTimeForms(t *testing.T) {
	zone := time.FixedZone("", 10*3600)
	now := time.Date(2026, 7, 8, 13, 30, 0, 0, zone)
	at := func(day, hour, minute, second int) time.Time {
		return time.Date(2026, 7, day, hour, minute, second, 0, zone)
	}
	for text, want := range map[string]time.Time{
		"now":                    now,
		"today":                  at(8, 0, 0, 0),
		"yesterday":              at(7, 0, 0, 0),
		"2h":                     at(8, 11, 30, 0),
		"-2h":                    at(8, 11, 30, 0),
		"1h30m":                  at(8, 12, 0, 0),
		"3d":                     at(5, 13, 30, 0),
		"-3d":                    at(5, 13, 30, 0),
		"13:00":                  at(8, 13, 0, 0),
		"9:05:07":                at(8, 9, 5, 7),
		"23:59":                  at(8, 23, 59, 0),
		"2026-07-01":             at(1, 0, 0, 0),
		"2026-07-01 13:00":       at(1, 13, 0, 0),
		"2026-07-01T13:00:05":    at(1, 13, 0, 5),
		"2026-07-01T13:00:00Z":   at(1, 23, 0, 0),
		"2026-07-01T13:00+10:00": {},
		"25:00":                  {},
		"--2h":                   {},
		"-":                      {},
		"":                       {},
		"noon":                   {},
	} {
		got, err := Time(text, now)
		if want.IsZero() {
			if err == nil || !strings.Contains(err.Error(), "must be a time such as 2h") {
				t.Errorf("Time(%q) = %s, %v; want an error", text, got, err)
			}
			continue
		}
		if err != nil || !got.Equal(want) {
			t.Errorf("Time(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
}
