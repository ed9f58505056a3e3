package row

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// Date returns the date of a text in an embedded file, in the form of wire.DateLayout. Other
// programs also write days and times without fraction, with a blank for the T.
func Date(text []byte) (date []byte, ok bool) {
	const (
		day      = len("2006-01-02")
		minute   = len("2006-01-02T15:04")
		second   = len("2006-01-02T15:04:05")
		fraction = len("2006-01-02T15:04:05.")
	)
	if len(text) > len(wire.DateLayout) || len(text) < day {
		return nil, false
	}
	date = []byte("0001-01-01T00:00:00.0000000")
	copy(date, text)
	if n := len(text); n > day {
		isWhole := n == minute || n == second || n > fraction
		hasSeparator := text[day] == 'T' || text[day] == ' '
		if !isWhole || !hasSeparator {
			return nil, false
		}
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
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	for i := range len(wire.DateLayout) {
		c := wire.DateLayout[i]
		hasDigits := isDigit(c) && isDigit(date[i])
		if !hasDigits && date[i] != c {
			return false
		}
	}
	return true
}

// Guid returns a GUID with hyphens in lower case. Its text may be in lower or in upper case,
// so that an index finds both.
func Guid(text []byte) (guid []byte, ok bool) {
	lower := bytes.ToLower(text)
	isUniform := bytes.Equal(text, lower) || bytes.Equal(text, bytes.ToUpper(text))
	if len(text) != guidLength || !isUniform {
		return nil, false
	}
	parsed, err := wire.ParseGuid(string(lower))
	return lower, err == nil && parsed == string(lower)
}

const (
	guidLength = 36 // length of a GUID's text with hyphens
	guidSize   = 16 // number of bytes of a GUID
)

// guidBytes are the places of the bytes of a GUID's text in a blob. They are also the places of
// the bytes of a blob in the text, since both orders are their own inverse.
var guidBytes = map[record.BlobForm][guidSize]int{
	record.BlobNet: {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15},
	record.BlobRFC: {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
}

// AppendBlobGuid appends the text of a GUID that is stored as a blob. ok is false if the blob
// is none.
func AppendBlobGuid(dst, blob []byte, form record.BlobForm) (guid []byte, ok bool) {
	places, ok := guidBytes[form]
	if !ok || len(blob) != guidSize {
		return dst, false
	}
	for i, place := range places {
		switch i {
		case 4, 6, 8, 10:
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, blob[place:place+1])
	}
	return dst, true
}

// GuidBlob returns the blob of a GUID, which is the inverse of AppendBlobGuid. It panics if the
// form is unknown or the text is no GUID: requests are parsed before, and kinds are checked.
func GuidBlob(guid string, form record.BlobForm) []byte {
	places, ok := guidBytes[form]
	if !ok {
		panic(fmt.Sprintf("row: unknown form %q of a GUID in a blob", form))
	}
	text, err := hex.DecodeString(strings.ReplaceAll(guid, "-", ""))
	if err != nil || len(text) != guidSize {
		panic(fmt.Sprintf("row: %q is not a GUID", guid))
	}
	blob := make([]byte, guidSize)
	for i, place := range places {
		blob[place] = text[i]
	}
	return blob
}
