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

// Short formats a number in at most four characters, such as 4.5k.
func Short(n int64) string {
	units := [...]string{"", "k", "M", "G", "T"}
	value := float64(n)
	unit := 0
	for value >= 999.5 && unit < len(units)-1 {
		value /= 1000
		unit++
	}
	if unit > 0 && value < 9.95 {
		return fmt.Sprintf("%.1f%s", value, units[unit])
	}
	return fmt.Sprintf("%.0f%s", value, units[unit])
}

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
