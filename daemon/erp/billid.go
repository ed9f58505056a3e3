package erp

import (
	"encoding/hex"
	"strings"
)

// idForm is a way to write the 32 digits of a guid.
type idForm struct {
	upper, hyphens, braces bool
}

// usualForm is the form of a new id where the ids that are there show none.
var usualForm = idForm{upper: true, hyphens: true}

// shortest is the smallest number of a guid's digits that still makes an id that
// will not be drawn twice.
const shortest = 16

// newID makes the id of a new row of random bytes, in the form that the ids of
// other rows have, of which it gets some. room is the number of characters that
// the column holds, 0 for any: older tables of the ERP have ids of twenty, for
// which a guid is cut. It reports whether there is enough room.
func newID(random [16]byte, others []string, room int) (id string, ok bool) {
	form := usualForm
	for _, other := range others {
		if seen, is := formOf(strings.TrimRight(other, " ")); is {
			form = seen
			break
		}
	}
	random[6] = random[6]&0x0f | 0x40 // version 4
	random[8] = random[8]&0x3f | 0x80 // its variant
	digits := hex.EncodeToString(random[:])
	if form.upper {
		digits = strings.ToUpper(digits)
	}
	id = form.write(digits)
	if room <= 0 || len(id) <= room {
		return id, true
	}
	return digits[:min(room, len(digits))], room >= shortest
}

// The places of the hyphens among a guid's digits.
var hyphens = [...]int{8, 12, 16, 20}

func (f idForm) write(digits string) string {
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

// formOf is the form of an id that is a guid. One without letters counts as
// upper case.
func formOf(id string) (f idForm, is bool) {
	inner := strings.TrimSuffix(strings.TrimPrefix(id, "{"), "}")
	f.hyphens, f.braces = strings.Contains(inner, "-"), inner != id
	digits := strings.ReplaceAll(inner, "-", "")
	f.upper = digits == strings.ToUpper(digits)
	_, err := hex.DecodeString(digits)
	cased := f.upper || digits == strings.ToLower(digits)
	return f, err == nil && len(digits) == 32 && cased && id == f.write(digits)
}
