package xlsx

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"time"
	"unicode/utf8"
)

// MaxDigits is the number of significant digits that spreadsheets store.
const MaxDigits = 15

// Exact reports whether spreadsheets store number, a decimal text, without loss: it has at
// most MaxDigits significant digits and no exponent.
func Exact(number []byte) bool {
	position := 0 // of the digit, from 1
	first := 0    // position of the first digit that is not zero
	last := 0     // position of the last one
	for _, c := range bytes.TrimPrefix(number, []byte("-")) {
		if c == '.' {
			continue
		}
		if c < '0' || c > '9' {
			return false
		}
		position++
		if c == '0' {
			continue
		}
		if first == 0 {
			first = position
		}
		last = position
	}
	return last-first < MaxDigits
}

// Spreadsheets count days from 1899-12-30. They treat 1900 as a leap year, so dates before
// 1900-03-01 would be displayed incorrectly.
var (
	dayZero  = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	firstDay = time.Date(1900, 3, 1, 0, 0, 0, 0, time.UTC)
	lastDay  = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Serial returns a date as a spreadsheet serial number, in days. ok is false if the date
// has fractions of a millisecond or is outside the range that spreadsheets display
// correctly. The zone of at is ignored.
func Serial(at time.Time) (days float64, ok bool) {
	at = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
	isInRange := !at.Before(firstDay) && at.Before(lastDay)
	if !isInRange || at.Nanosecond()%int(time.Millisecond) != 0 {
		return 0, false
	}
	const day = 24 * 60 * 60
	seconds := at.Unix() - dayZero.Unix()
	milliseconds := (seconds%day)*1000 + int64(at.Nanosecond())/int64(time.Millisecond)
	return float64(seconds/day) + float64(milliseconds)/(day*1000), true
}

// escape appends text as XML. Characters that are invalid in XML, and carriage returns,
// which XML parsers normalize, are written as _xHHHH_, which spreadsheets decode. An
// underscore that already starts such a sequence is escaped too, so that it is not decoded.
func escape(dst, text []byte) []byte {
	for {
		plain := 0
		for plain < len(text) && isPlain(text[plain]) {
			plain++
		}
		dst = append(dst, text[:plain]...)
		text = text[plain:]
		if len(text) == 0 {
			return dst
		}
		r, size := utf8.DecodeRune(text)
		switch {
		case r == '&':
			dst = append(dst, "&amp;"...)
		case r == '<':
			dst = append(dst, "&lt;"...)
		case r == '>':
			dst = append(dst, "&gt;"...)
		case isControl(r), looksEscaped(text):
			dst = fmt.Appendf(dst, "_x%04X_", r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
		text = text[size:]
	}
}

// needsPreserve reports whether a text has white space that readers may drop without
// xml:space="preserve": at its ends, or other than single spaces.
func needsPreserve(text []byte) bool {
	isAfterSpace := true
	for _, c := range text {
		isSpace := c <= ' '
		if isSpace && (isAfterSpace || c != ' ') {
			return true
		}
		isAfterSpace = isSpace
	}
	return isAfterSpace && len(text) > 0
}

// isPlain reports whether a byte is a character that always has the same form in XML.
func isPlain(c byte) bool {
	switch c {
	case '&', '<', '>', '_':
		return false
	}
	return c >= ' ' && c < utf8.RuneSelf
}

// isControl reports whether a character is invalid in XML or normalized by its parsers.
func isControl(r rune) bool {
	if r < ' ' {
		return r != '\t' && r != '\n'
	}
	return r == 0xfffe || r == 0xffff
}

// looksEscaped reports whether text starts with the form _x0041_.
func looksEscaped(text []byte) bool {
	hasFrame := len(text) >= 7 && text[0] == '_' && text[1] == 'x' && text[6] == '_'
	if !hasFrame {
		return false
	}
	_, err := hex.DecodeString(string(text[2:6]))
	return err == nil
}
