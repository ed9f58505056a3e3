package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
)

// Percent formats a share from 0 to 1. Only all is 100 %, and only none is 0 %.
func Percent(share float64) string { return display.Percent(share) + " %" }

// Took formats a duration with two or three digits: 0.6 ms, 27 ms, 1.2 s.
func Took(d time.Duration) string {
	switch {
	case d < 50*time.Microsecond:
		return "< 0.1 ms"
	case d < 10*time.Millisecond:
		return strings.Replace(fmt.Sprintf("%.1f ms", d.Seconds()*1000), ".0 ", " ", 1)
	case d.Round(time.Millisecond) < time.Second:
		return fmt.Sprintf("%.0f ms", d.Seconds()*1000)
	case d < 10*time.Second:
		return strings.Replace(fmt.Sprintf("%.1f s", d.Seconds()), ".0 ", " ", 1)
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// Size formats a number of bytes.
func Size(n int) string { return display.Size(int64(n)) }

// ticksPerMilli is the number of ticks of a TimeSpan in a millisecond.
const ticksPerMilli = 10_000

// DurationText formats a TimeSpan of the API in milliseconds.
func DurationText(text string) string {
	ticks, err := wire.ParseTimeSpan(text)
	if err != nil {
		return text
	}
	if ticks < ticksPerMilli {
		return "< 1 ms"
	}
	return display.Thousands(ticks/ticksPerMilli) + " ms"
}

// Milliseconds is DurationText with one decimal below 10 ms.
func Milliseconds(text string) string {
	ticks, err := wire.ParseTimeSpan(text)
	if err != nil {
		return text
	}
	return TicksText(ticks)
}

// TicksText formats a number of ticks in milliseconds, with one decimal below 10 ms.
func TicksText(ticks int64) string {
	if ticks < 10*ticksPerMilli {
		return fmt.Sprintf("%.1f ms", float64(ticks)/ticksPerMilli)
	}
	return display.Thousands(ticks/ticksPerMilli) + " ms"
}
