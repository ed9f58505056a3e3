package tsql

import (
	"bytes"
	"cmp"
)

// CompareDecimal orders the digits of decimals by value: 1.0 equals 1.00 and -0
// equals 0. Text that is no decimal comes behind every decimal, in the order of
// its bytes, so that the order is total whatever is stored.
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

// decimal is the significant digits of a number, as parts of its text.
type decimal struct {
	negative bool   // never for zero
	whole    []byte // without leading zeros
	fraction []byte // without trailing zeros
	scale    int    // digits behind the point as written
}

// parseDecimal reads an optional minus, digits, and an optional point with more
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
	if text = text[n:]; len(text) > 0 {
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

// digits is the length of the run of digits that text starts with.
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
