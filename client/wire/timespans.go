package wire

import (
	"errors"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// A TimeSpan is a number of ticks, of 100 nanoseconds each.
const (
	ticksPerSecond = 10_000_000
	ticksPerMinute = 60 * ticksPerSecond
	ticksPerHour   = 60 * ticksPerMinute
	ticksPerDay    = 24 * ticksPerHour
)

// tickDigits are the digits of a fraction of a second.
const tickDigits = 7

// AppendTimeSpan writes a TimeSpan as ISO 8601 has it: PT0.0123S, P1DT2H, PT0S.
func AppendTimeSpan(dst []byte, ticks int64) []byte {
	left := uint64(ticks)
	if ticks < 0 {
		dst, left = append(dst, '-'), -left
	}
	dst = append(dst, 'P')
	dst, left = appendPart(dst, left, ticksPerDay, 'D')
	if left == 0 && ticks != 0 {
		return dst
	}
	dst = append(dst, 'T')
	dst, left = appendPart(dst, left, ticksPerHour, 'H')
	dst, left = appendPart(dst, left, ticksPerMinute, 'M')
	if left == 0 && ticks != 0 {
		return dst
	}
	dst = strconv.AppendUint(dst, left/ticksPerSecond, 10)
	return append(appendFraction(dst, left%ticksPerSecond), 'S')
}

func appendPart(dst []byte, ticks, unit uint64, letter byte) ([]byte, uint64) {
	if n := ticks / unit; n > 0 {
		dst = append(strconv.AppendUint(dst, n, 10), letter)
	}
	return dst, ticks % unit
}

// appendFraction writes the point and the digits of a part of a second, without
// zeros at the end.
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

var errTimeSpan = errors.New("must be a time span such as PT0.25S, P1DT2H or 00:00:01.5, exact to seven fraction digits")

// ParseTimeSpan reads a TimeSpan as ISO 8601 has it, with days as the largest
// unit, or as [d.]hh:mm:ss[.fffffff].
func ParseTimeSpan(text string) (int64, error) {
	text = strings.TrimSpace(text)
	unsigned, negative := strings.CutPrefix(text, "-")
	unsigned = strings.ToUpper(unsigned)
	parts, ok := isoParts(unsigned)
	if !ok {
		parts, ok = clockParts(unsigned)
	}
	var sum uint64
	for i, unit := range []uint64{ticksPerDay, ticksPerHour, ticksPerMinute, ticksPerSecond} {
		ok = ok && addPart(&sum, parts[i], unit)
	}
	switch {
	case !ok || sum > math.MaxInt64:
		return 0, errTimeSpan
	case negative:
		return -int64(sum), nil
	}
	return int64(sum), nil
}

// isoParts splits P1DT2H3M4.5S into the texts of its days, hours, minutes and
// seconds. At least one must be given, and one after the T.
func isoParts(text string) (parts [4]string, ok bool) {
	text, ok = strings.CutPrefix(text, "P")
	days, clock, timed := strings.Cut(text, "T")
	if !ok || text == "" || timed && clock == "" {
		return parts, false
	}
	if days != "" {
		if parts[0], ok = strings.CutSuffix(days, "D"); !ok || parts[0] == "" {
			return parts, false
		}
	}
	for i, letter := range []string{"H", "M", "S"} {
		before, after, found := strings.Cut(clock, letter)
		if !found {
			continue
		}
		if before == "" {
			return parts, false
		}
		parts[i+1], clock = before, after
	}
	return parts, clock == ""
}

// clockParts splits 1.02:03:04.5 in the same way.
func clockParts(text string) (parts [4]string, ok bool) {
	fields := strings.Split(text, ":")
	if len(fields) != 3 {
		return parts, false
	}
	days, hours, dotted := strings.Cut(fields[0], ".")
	if !dotted {
		days, hours = "0", days
	}
	parts = [4]string{days, hours, fields[1], fields[2]}
	for i, most := range []int{24, 60, 60} {
		whole, _, _ := strings.Cut(parts[i+1], ".")
		if n, err := strconv.Atoi(whole); err != nil || n >= most || len(whole) > 2 {
			return parts, false
		}
	}
	return parts, days != ""
}

// addPart adds digits of a unit to a sum. Only seconds have a fraction.
func addPart(sum *uint64, text string, unit uint64) bool {
	if text == "" {
		return true
	}
	whole, fraction, pointed := strings.Cut(text, ".")
	if pointed && (unit != ticksPerSecond || fraction == "") || !digitsOnly(whole) || !digitsOnly(fraction) {
		return false
	}
	n, err := strconv.ParseUint(whole, 10, 64)
	if err != nil {
		return false
	}
	high, ticks := bits.Mul64(n, unit)
	total, carry := bits.Add64(*sum, ticks, 0)
	part, exact := fractionTicks(fraction)
	*sum = total + part
	return high == 0 && carry == 0 && exact && total <= math.MaxInt64
}

// fractionTicks reads the digits after the point. Those after the seventh must
// be zeros.
func fractionTicks(digits string) (ticks uint64, exact bool) {
	seventh := min(len(digits), tickDigits)
	exact = strings.Trim(digits[seventh:], "0") == ""
	padded := digits[:seventh] + strings.Repeat("0", tickDigits-seventh)
	ticks, err := strconv.ParseUint(padded, 10, 64)
	return ticks, exact && err == nil
}
