package mssql

import "time"

// appendDate appends a date in wire.DateLayout. Dates of records have no zone; the driver
// returns them as UTC.
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

// appendPadded appends the last digits of n.
func appendPadded(dst []byte, n, decimal int) []byte {
	var text [10]byte
	for i := decimal - 1; i >= 0; i-- {
		text[i] = byte('0' + n%10)
		n /= 10
	}
	return append(dst, text[:decimal]...)
}

// guidOrder maps the bytes of a GUID in written order to SQL Server's order, which
// reverses the first three groups.
var guidOrder = [16]int{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15}

// appendGuid appends 16 bytes in the server's order as 36 characters.
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
