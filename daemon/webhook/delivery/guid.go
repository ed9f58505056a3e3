package delivery

import (
	"crypto/rand"
	"encoding/hex"
	"time"
)

// newGUID makes a guid of RFC 9562's version 7: it begins with the time, so
// that an index of them grows at its end, and goes on with 74 random bits.
func newGUID(at time.Time) string {
	var b [16]byte
	_, _ = rand.Read(b[6:]) // never fails
	ms := uint64(at.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	var text [36]byte
	from := 0
	for i, part := range [5]int{4, 2, 2, 2, 6} {
		at := 2*from + i
		hex.Encode(text[at:], b[from:from+part])
		if from += part; i < 4 {
			text[at+2*part] = '-'
		}
	}
	return string(text[:])
}
