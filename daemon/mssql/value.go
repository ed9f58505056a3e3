package mssql

import "time"

// appendDate writes a date in wire.DateLayout, as it is in the database but
// for zones, of which records have none: those are UTC.
func appendDate(dst []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	dst = appendPadded(dst, year, 4)
	dst = appendPadded(append(dst, '-'), int(month), 2)
	dst = appendPadded(append(dst, '-'), day, 2)
	dst = appendPadded(append(dst, 'T'), hour, 2)
	dst = appendPadded(append(dst, ':'), minute, 2)
	dst = appendPadded(append(dst, ':'), second, 2)
	return appendPadded(append(dst, '.'), t.Nanosecond()/100, 7)
}

// appendPadded writes the last digits of n.
func appendPadded(dst []byte, n, digits int) []byte {
	var text [10]byte
	for i := digits - 1; i >= 0; i-- {
		text[i] = byte('0' + n%10)
		n /= 10
	}
	return append(dst, text[:digits]...)
}

// guidOrder is where the server keeps the bytes of a guid in the order in which
// they are written: the first three groups backwards.
var guidOrder = [16]int{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15}

// appendGuid writes 16 bytes of the server as 36 characters.
func appendGuid(dst, id []byte) []byte {
	const hexDigits = "0123456789abcdef"
	for i, at := range guidOrder {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexDigits[id[at]>>4], hexDigits[id[at]&15])
	}
	return dst
}
