package tsql

import (
	"bytes"
	"cmp"
)

// CompareDecimal compares decimal digits by value: 1.0 equals 1.00 and -0 equals 0. Text
// that is not a decimal sorts after all decimals, by its bytes, so that the order is
// total.
func CompareDecimal(a, b []byte) int {
	if bytes.Equal(a, b) {
		return 0
	}
	x, okX := parseDecimal(a)
	y, okY := parseDecimal(b)
	switch {
	case !okX && !okY:
		return bytes.Compare(a, b)
	case !okX:
		return 1
	case !okY:
		return -1
	case x.negative != y.negative:
		if x.negative {
			return -1
		}
		return 1
	case x.negative:
		return compareDigits(y, x)
	}
	return compareDigits(x, y)
}

// CompareDecimalStrings is CompareDecimal for strings.
func CompareDecimalStrings(a, b string) int { return CompareDecimal(view(a), view(b)) }

func compareDigits(x, y decimal) int {
	if c := cmp.Compare(len(x.whole), len(y.whole)); c != 0 {
		return c
	}
	if c := bytes.Compare(x.whole, y.whole); c != 0 {
		return c
	}
	return bytes.Compare(x.fraction, y.fraction)
}

// decimal contains the significant digits of a number, as slices of its text.
type decimal struct {
	negative bool   // false for zero
	whole    []byte // without leading zeros
	fraction []byte // without trailing zeros
	scale    int    // number of fractional digits as written
}

// parseDecimal parses an optional minus sign, digits, and an optional point followed by
// digits.
func parseDecimal(text []byte) (d decimal, ok bool) {
	if len(text) > 0 && text[0] == '-' {
		d.negative = true
		text = text[1:]
	}
	n := digits(text)
	if n == 0 {
		return d, false
	}
	d.whole = bytesAfterZeros(text[:n])
	text = text[n:]
	if len(text) > 0 {
		if text[0] != '.' || len(text) == 1 || digits(text[1:]) != len(text)-1 {
			return d, false
		}
		d.fraction = text[1:]
		d.scale = len(d.fraction)
		for n := len(d.fraction); n > 0 && d.fraction[n-1] == '0'; n-- {
			d.fraction = d.fraction[:n-1]
		}
	}
	if len(d.whole) == 0 && len(d.fraction) == 0 {
		d.negative = false
	}
	return d, true
}

// IsDecimal reports whether a text is a decimal.
func IsDecimal(text []byte) bool {
	_, ok := parseDecimal(text)
	return ok
}

// digits returns the number of leading digits of text.
func digits(text []byte) int {
	n := 0
	for n < len(text) && text[n]-'0' <= 9 {
		n++
	}
	return n
}

func bytesAfterZeros(text []byte) []byte {
	for len(text) > 0 && text[0] == '0' {
		text = text[1:]
	}
	return text
}
