package display

import (
	"fmt"
	"math"
	"strings"
)

// Count formats a number with its noun.
func Count[N int | int64](n N, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return Thousands(n) + " " + plural
}

// Thousands formats a number with thousands separators, for messages, not for data.
func Thousands[N int | int64](n N) string { return Grouped(fmt.Sprint(n)) }

// Short formats a number in at most four characters, such as 4.5k, and a sign if it is negative.
func Short(n int64) string {
	units := [...]string{"", "k", "M", "G", "T", "P", "E"}
	sign := ""
	if n < 0 {
		sign = "-"
	}
	value := math.Abs(float64(n))
	unit := 0
	for value >= 999.5 && unit < len(units)-1 {
		value /= 1000
		unit++
	}
	if unit > 0 && value < 9.95 {
		return fmt.Sprintf("%s%.1f%s", sign, value, units[unit])
	}
	return fmt.Sprintf("%s%.0f%s", sign, value, units[unit])
}

// Grouped inserts thousands separators into a decimal number.
func Grouped(text string) string {
	digits, isNegative := strings.CutPrefix(text, "-")
	whole, fraction, hasFraction := strings.Cut(digits, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if hasFraction {
		whole += "." + fraction
	}
	if isNegative {
		return "-" + whole
	}
	return whole
}
