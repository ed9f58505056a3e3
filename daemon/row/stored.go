package row

import (
	"bytes"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// Date returns the date of a text in an embedded file, in the form of wire.DateLayout. Other
// programs also write days and times without fraction, with a blank for the T.
func Date(text []byte) (date []byte, ok bool) {
	const day, minute, second, fraction = len("2006-01-02"), len("2006-01-02T15:04"), len("2006-01-02T15:04:05"), len("2006-01-02T15:04:05.")
	if len(text) > len(wire.DateLayout) || len(text) < day {
		return nil, false
	}
	date = []byte("0001-01-01T00:00:00.0000000")
	copy(date, text)
	switch n := len(text); {
	case n > day && text[day] != 'T' && text[day] != ' ':
		return nil, false
	case n > day && n != minute && n != second && n <= fraction:
		return nil, false
	}
	date[day] = 'T'
	if !hasForm(date) {
		return nil, false
	}
	_, err := time.Parse(wire.DateLayout, string(date))
	return date, err == nil
}

// hasForm reports whether a date has digits and separators in their places.
func hasForm(date []byte) bool {
	for i, c := range wire.DateLayout {
		isDigit := date[i] >= '0' && date[i] <= '9'
		if c >= '0' && c <= '9' {
			if !isDigit {
				return false
			}
		} else if date[i] != byte(c) {
			return false
		}
	}
	return true
}

// Guid returns a GUID with hyphens in lower case. Its text may be in lower or in upper case,
// so that an index finds both.
func Guid(text []byte) (guid []byte, ok bool) {
	lower := bytes.ToLower(text)
	if len(text) != 36 || !bytes.Equal(text, lower) && !bytes.Equal(text, bytes.ToUpper(text)) {
		return nil, false
	}
	parsed, err := wire.ParseGuid(string(lower))
	return lower, err == nil && parsed == string(lower)
}
