package erp

import (
	"encoding/hex"
	"strings"
)

// idNotation is a notation of the 32 digits of a GUID.
type idNotation struct {
	upper, hyphens, braces bool
}

// defaultNotation is the notation of a new ID if no existing ID shows one.
var defaultNotation = idNotation{upper: true, hyphens: true}

// minIDDigits is the minimum number of GUID digits that makes an ID practically unique.
const minIDDigits = 16

// newID returns a new ID made of random bytes, in the notation of existing, a sample of the
// existing IDs. maxLength is the length of the column in characters, 0 if unlimited: older
// ERP tables have IDs of 20 characters, for which the GUID is truncated. ok is false
// if the column is too short.
func newID(random [16]byte, existing []string, maxLength int) (id string, ok bool) {
	notation := defaultNotation
	for _, text := range existing {
		if n, ok := notationOf(strings.TrimRight(text, " ")); ok {
			notation = n
			break
		}
	}
	random[6] = random[6]&0x0f | 0x40 // version 4
	random[8] = random[8]&0x3f | 0x80 // RFC 9562 variant
	digits := hex.EncodeToString(random[:])
	if notation.upper {
		digits = strings.ToUpper(digits)
	}
	id = notation.write(digits)
	if maxLength <= 0 || len(id) <= maxLength {
		return id, true
	}
	return digits[:min(maxLength, len(digits))], maxLength >= minIDDigits
}

// hyphens are the positions of the hyphens among the digits of a GUID.
var hyphens = [...]int{8, 12, 16, 20}

func (n idNotation) write(digits string) string {
	if n.hyphens {
		for i, position := range hyphens {
			position += i // the hyphens before it
			digits = digits[:position] + "-" + digits[position:]
		}
	}
	if n.braces {
		return "{" + digits + "}"
	}
	return digits
}

// notationOf returns the notation of an ID, and whether the ID is a GUID. An ID without
// letters counts as upper case.
func notationOf(id string) (n idNotation, ok bool) {
	inner := strings.TrimSuffix(strings.TrimPrefix(id, "{"), "}")
	digits := strings.ReplaceAll(inner, "-", "")
	n = idNotation{
		upper:   digits == strings.ToUpper(digits),
		hyphens: strings.Contains(inner, "-"),
		braces:  inner != id,
	}
	_, err := hex.DecodeString(digits)
	isGUID := err == nil && len(digits) == 32
	isUniform := n.upper || digits == strings.ToLower(digits)
	return n, isGUID && isUniform && id == n.write(digits)
}
