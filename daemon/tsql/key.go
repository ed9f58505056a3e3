package tsql

import "unicode/utf8"

// AppendTextKey appends bytes that are the same for texts that CompareText finds equal, and for
// no others.
func AppendTextKey(dst, text []byte) []byte {
	text = trimSpaces(text)
	for len(text) > 0 {
		r, size := foldNext(text)
		if r >= invalidBase {
			dst = append(dst, 0xFF, text[0]) // no rune contains the first of them
		} else {
			dst = utf8.AppendRune(dst, r)
		}
		text = text[size:]
	}
	return dst
}

// AppendDecimalKey appends bytes that are the same for texts that CompareDecimal finds equal, and
// for no others.
func AppendDecimalKey(dst, text []byte) []byte {
	d, ok := parseDecimal(text)
	if !ok {
		dst = append(dst, '?')
		return append(dst, text...)
	}
	sign := byte('+')
	if d.negative {
		sign = '-'
	}
	dst = append(dst, sign)
	dst = append(dst, d.whole...)
	dst = append(dst, '.')
	return append(dst, d.fraction...)
}
