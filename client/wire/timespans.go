package wire

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// A TimeSpan is a number of ticks of 100 nanoseconds.
const (
	ticksPerSecond = 10_000_000
	ticksPerMinute = 60 * ticksPerSecond
	ticksPerHour   = 60 * ticksPerMinute
	ticksPerDay    = 24 * ticksPerHour
)

// tickDigits is the number of digits of a fraction of a second.
const tickDigits = 7

// AppendTimeSpan appends a TimeSpan in ISO 8601: PT0.0123S, P1DT2H, PT0S.
func AppendTimeSpan(dst []byte, ticks int64) []byte {
	remaining := uint64(ticks)
	if ticks < 0 {
		dst = append(dst, '-')
		remaining = -remaining // as unsigned numbers, because -math.MinInt64 overflows
	}
	dst = append(dst, 'P')
	dst, remaining = appendPart(dst, remaining, ticksPerDay, 'D')
	if remaining == 0 && ticks != 0 {
		return dst
	}
	dst = append(dst, 'T')
	dst, remaining = appendPart(dst, remaining, ticksPerHour, 'H')
	dst, remaining = appendPart(dst, remaining, ticksPerMinute, 'M')
	if remaining == 0 && ticks != 0 {
		return dst
	}
	dst = strconv.AppendUint(dst, remaining/ticksPerSecond, 10)
	dst = appendFraction(dst, remaining%ticksPerSecond)
	return append(dst, 'S')
}

// appendPart appends the number of whole units, unless it is 0. It returns the remaining ticks.
func appendPart(dst []byte, ticks, unit uint64, letter byte) ([]byte, uint64) {
	if n := ticks / unit; n > 0 {
		dst = append(strconv.AppendUint(dst, n, 10), letter)
	}
	return dst, ticks % unit
}

// appendFraction appends the point and the digits of a fraction of a second, without
// trailing zeros.
func appendFraction(dst []byte, ticks uint64) []byte {
	if ticks == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := uint64(ticksPerSecond / 10); ticks > 0; unit /= 10 {
		dst = append(dst, byte('0'+ticks/unit))
		ticks %= unit
	}
	return dst
}

var errTimeSpan = errors.New("must be a time span such as PT0.25S, P1DT2H or 00:00:01.5, " +
	"exact to seven fraction digits")

// Forms of time spans: days, hours, minutes, seconds and fraction digits.
var timeSpans = []*regexp.Regexp{
	regexp.MustCompile(`^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?$`),
	regexp.MustCompile(`^(?:(\d+)\.)?([01]?\d|2[0-3]):([0-5]?\d):([0-5]?\d)(?:\.(\d+))?$`),
}

// ParseTimeSpan parses a TimeSpan in ISO 8601, with days as the largest unit, or as
// [d.]hh:mm:ss[.fffffff].
func ParseTimeSpan(text string) (int64, error) {
	unsigned, negative := strings.CutPrefix(strings.TrimSpace(text), "-")
	unsigned = strings.ToUpper(unsigned)
	hasNoParts := strings.HasSuffix(unsigned, "P") || strings.HasSuffix(unsigned, "T")
	if hasNoParts {
		return 0, errTimeSpan
	}
	for _, form := range timeSpans {
		parts := form.FindStringSubmatch(unsigned)
		if parts == nil {
			continue
		}
		ticks, err := addTicks(parts[1:])
		if negative {
			ticks = -ticks
		}
		return ticks, err
	}
	return 0, errTimeSpan
}

// addTicks adds days, hours, minutes, seconds and a fraction. Fraction digits after the
// seventh must be zeros.
func addTicks(parts []string) (sum int64, err error) {
	fraction := parts[4]
	exact := min(len(fraction), tickDigits)
	parts[4] = fraction[:exact] + strings.Repeat("0", tickDigits-exact)
	for i, unit := range []int64{ticksPerDay, ticksPerHour, ticksPerMinute, ticksPerSecond, 1} {
		n, err := strconv.ParseInt("0"+parts[i], 10, 64)
		if err != nil || n > (math.MaxInt64-sum)/unit {
			return 0, errTimeSpan
		}
		sum += n * unit
	}
	if strings.Trim(fraction[exact:], "0") != "" {
		return 0, errTimeSpan
	}
	return sum, nil
}
