package erp

import (
	"encoding/hex"
	"strings"
)

// idNotation is a notation of the 32 digits of a GUID.
type idNotation struct {
	upper, hyphens, braces bool
}

// defaultNotation is the notation of a new id if no existing id shows one.
var defaultNotation = idNotation{upper: true, hyphens: true}

// minIDDigits is the minimum number of GUID digits that makes an id practically unique.
const minIDDigits = 16

// newID returns a new id made of random bytes, in the notation of existing, a sample of the
// existing ids. maxLength is the length of the column in characters, 0 if unlimited: older
// ERP tables have ids of 20 characters, for which the GUID is truncated. ok is false
// if the column is too short.
func newID(random [16]byte, existing []string, maxLength int) (id string, ok bool) {
	form := defaultNotation
	for _, other := range existing {
		if seen, ok := notationOf(strings.TrimRight(other, " ")); ok {
			form = seen
			break
		}
	}
	random[6] = random[6]&0x0f | 0x40 // version 4
	random[8] = random[8]&0x3f | 0x80 // RFC 9562 variant
	digits := hex.EncodeToString(random[:])
	if form.upper {
		digits = strings.ToUpper(digits)
	}
	id = form.write(digits)
	if maxLength <= 0 || len(id) <= maxLength {
		return id, true
	}
	return digits[:min(maxLength, len(digits))], maxLength >= minIDDigits
}

// hyphens are the positions of the hyphens among the digits of a GUID.
var hyphens = [...]int{8, 12, 16, 20}

func (f idNotation) write(digits string) string {
	if f.hyphens {
		for i, at := range hyphens {
			digits = digits[:at+i] + "-" + digits[at+i:]
		}
	}
	if f.braces {
		return "{" + digits + "}"
	}
	return digits
}

// notationOf returns the notation of an id, and whether the id is a GUID. An id without
// letters counts as upper case.
func notationOf(id string) (f idNotation, ok bool) {
	inner := strings.TrimSuffix(strings.TrimPrefix(id, "{"), "}")
	f.hyphens, f.braces = strings.Contains(inner, "-"), inner != id
	digits := strings.ReplaceAll(inner, "-", "")
	f.upper = digits == strings.ToUpper(digits)
	_, err := hex.DecodeString(digits)
	cased := f.upper || digits == strings.ToLower(digits)
	return f, err == nil && len(digits) == 32 && cased && id == f.write(digits)
}
