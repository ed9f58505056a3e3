package query

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/bizhook/whd/client/wire"
)

// timeOfDay returns the text of a time of day. ok is false if the value is not within a day.
func timeOfDay(v wire.Value) (text string, ok bool) {
	const day = int64(24 * time.Hour / 100) // in units of 100 ns
	text = time.Time{}.Add(time.Duration(v.Int) * 100).Format("15:04:05.0000000")
	return text, v.Int >= 0 && v.Int < day
}

// decimalDigits returns the number of digits before and after the point.
func decimalDigits(text string) (whole, fraction int) {
	before, after, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	return len(strings.TrimLeft(before, "0")), len(after)
}

// decimalType returns the smallest decimal type with the given numbers of digits.
func decimalType(whole, fraction int) string {
	return "decimal(" + strconv.Itoa(max(1, whole+fraction)) + "," + strconv.Itoa(fraction) + ")"
}

// utf16Length returns the length of text in UTF-16 code units.
func utf16Length(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}
