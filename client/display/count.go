package display

import (
	"fmt"
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

// Grouped inserts thousands separators into a decimal number.
func Grouped(text string) string {
	digits, sign := strings.CutPrefix(text, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if point {
		whole += "." + fraction
	}
	if sign {
		return "-" + whole
	}
	return whole
}
