package changes

import (
	"encoding/binary"
	"errors"
)

// Encode returns the Scheme, Hash, Fields, Stamp and Kept of an entry. Number, Key and
// Deleted are stored separately.
//
// The encoding is the scheme as a varint, the hash, and each of the others with its length
// plus one as a varint before it; 0 is nil. Those at the end that are nil are left out.
func (e *Entry) Encode() []byte {
	parts := [...][]byte{e.Fields, e.Stamp, e.Kept}
	n := len(parts)
	for n > 0 && parts[n-1] == nil {
		n--
	}
	b := make([]byte, 0, binary.MaxVarintLen64*(1+n)+len(e.Hash)+len(e.Fields)+len(e.Stamp)+len(e.Kept))
	b = binary.AppendVarint(b, e.Scheme)
	b = append(b, e.Hash[:]...)
	for _, part := range parts[:n] {
		if part == nil {
			b = append(b, 0)
			continue
		}
		b = append(binary.AppendUvarint(b, uint64(len(part))+1), part...)
	}
	return b
}

// ErrEntry means that bytes are not an encoded entry.
var ErrEntry = errors.New("an entry of the shadow is damaged")

// DecodeEntry sets the fields that Encode has encoded. They refer to b.
func DecodeEntry(b []byte, e *Entry) error {
	scheme, n := binary.Varint(b)
	if n <= 0 || len(b)-n < len(e.Hash) {
		return ErrEntry
	}
	e.Scheme = scheme
	b = b[n:]
	b = b[copy(e.Hash[:], b):]
	for _, part := range [...]*[]byte{&e.Fields, &e.Stamp, &e.Kept} {
		*part = nil
		if len(b) == 0 {
			continue
		}
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n)+1 {
			return ErrEntry
		}
		b = b[n:]
		if size > 0 {
			*part = b[: size-1 : size-1]
			b = b[size-1:]
		}
	}
	if len(b) > 0 {
		return ErrEntry
	}
	return nil
}
