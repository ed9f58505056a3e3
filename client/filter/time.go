package filter

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// dateLayouts are the forms of a date, with or without a time.
var dateLayouts = []string{
	time.RFC3339Nano,
	"2006-01-02T15:04:05",
	"2006-01-02T15:04",
	"2006-01-02 15:04:05",
	"2006-01-02 15:04",
	time.DateOnly,
}

// Time parses a date, a time of day, a day such as today, or a duration before now. A
// time without zone is in the zone of now.
func Time(text string, now time.Time) (time.Time, error) {
	if at, ok := Shifted(strings.TrimPrefix(text, "-"), now, -1); ok {
		return at, nil
	}
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch text {
	case "now":
		return now, nil
	case "today":
		return today, nil
	case "yesterday":
		return today.AddDate(0, 0, -1), nil
	}
	for _, layout := range dateLayouts {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			return time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), at.Second(), 0,
				now.Location()), nil
		}
	}
	return time.Time{}, fmt.Errorf("must be a time such as 2h, 3d, today, 13:00, 2026-07-01 or 2026-07-01T10:00, not %q",
		text)
}

// tick is the unit of a TimeSpan.
const tick = 100 * time.Nanosecond

var errDuration = errors.New("must be a duration such as 250ms, 1s, 2m, PT0.25S or 00:00:01.5, " +
	"exact to 100 nanoseconds")

// timeSpan returns a duration such as 250ms in the form of the service. Other texts are returned
// unchanged.
func timeSpan(text string) string {
	duration, err := time.ParseDuration(text)
	isDuration := err == nil && duration%tick == 0
	hasUnit := strings.ContainsAny(text, "smh")
	if !isDuration || !hasUnit {
		return text
	}
	return string(wire.AppendTimeSpan(nil, int64(duration/tick)))
}

// Shifted returns the time before or after now by a duration such as 2h or 3d. direction is -1
// for before and 1 for after.
func Shifted(text string, now time.Time, direction int) (time.Time, bool) {
	if digits, isDays := strings.CutSuffix(text, "d"); isDays {
		days, err := strconv.ParseUint(digits, 10, 16)
		return now.AddDate(0, 0, direction*int(days)), err == nil
	}
	span, err := time.ParseDuration(text)
	return now.Add(time.Duration(direction) * span), err == nil && span >= 0
}
