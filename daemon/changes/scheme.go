package changes

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

// Scheme describes how entries of the shadow were made. Rows are compared with an entry by
// the scheme of the entry.
type Scheme struct {
	Hash   int      // the version of the hash, see hashes
	Fields []string // captured fields, each as "NAME FORM", with the form of blobs
	Kept   []string `json:",omitempty"` // the fields with values that are kept
	Stamp  string   `json:",omitempty"` // the field of stamps
}

func (s Scheme) equal(t Scheme) bool {
	if s.Hash != t.Hash || s.Stamp != t.Stamp {
		return false
	}
	return slices.Equal(s.Fields, t.Fields) && slices.Equal(s.Kept, t.Kept)
}

// check returns why a stored scheme cannot be used. Fields of later versions may have another form.
func (s Scheme) check() error {
	if hashes[s.Hash] == nil {
		return nil
	}
	for _, field := range s.Fields {
		_, form, _ := strings.Cut(field, " ")
		if form == "" {
			return fmt.Errorf("its field %q has no form", field)
		}
	}
	return nil
}

// hashes are the versions of the hash of a field. Those of old entries stay.
var hashes = map[int]func(key [2]uint64, value []byte) sum{1: siphash}

// hashVersion is the version of new entries.
var hashVersion = 1

// maxHashedFields is the number of captured fields up to which each has a hash of its own.
const maxHashedFields = 128

// hasher computes the hashes of one scheme for rows with certain columns.
type hasher struct {
	number int64 // number of the scheme
	hash   func(key [2]uint64, value []byte) sum
	fields []hashedField
	whole  bool    // all fields of the scheme are among the columns
	sums   []sum   // sums of the fields of the last row
	buffer [8]byte // bytes of a number to be hashed
}

// hashedField is a field of a scheme.
type hashedField struct {
	name   string
	form   form
	key    [2]uint64
	column int // index among the columns; -1 if it is not captured any more
}

// newHasher prepares a scheme; nil if it is of a later version. columnOf returns the index of a
// field's column, -1 for none.
func newHasher(secret []byte, number int64, s Scheme, columnOf func(field string) int) *hasher {
	hash := hashes[s.Hash]
	if hash == nil {
		return nil
	}
	h := &hasher{
		number: number,
		hash:   hash,
		fields: make([]hashedField, len(s.Fields)),
		whole:  true,
		sums:   make([]sum, len(s.Fields)),
	}
	for i, field := range s.Fields {
		name, forms, _ := strings.Cut(field, " ")
		f := hashedField{
			name:   name,
			form:   form(forms[0]), // exists, see check
			key:    hashKey(secret, s.Hash, field),
			column: columnOf(field),
		}
		if f.column < 0 {
			h.whole = false
		}
		h.fields[i] = f
	}
	return h
}

// hashKey returns the key of the hashes of a field: equal values of two fields have different ones.
func hashKey(secret []byte, version int, field string) [2]uint64 {
	text := slices.Clone(secret)
	text = strconv.AppendInt(text, int64(version), 10)
	text = append(text, ' ')
	text = append(text, field...)
	key := sha256.Sum256(text)
	return [2]uint64{binary.LittleEndian.Uint64(key[:]), binary.LittleEndian.Uint64(key[8:])}
}

// of computes the hashes of a row: that of all fields, and 4 bytes for each field unless
// there are too many.
func (h *hasher) of(cells []row.Cell) (total [16]byte, fields []byte) {
	total = h.total(cells)
	return total, h.fieldHashes()
}

// total computes the hash of all fields of a row. Null has the hash 0.
func (h *hasher) total(cells []row.Cell) (total [16]byte) {
	var all sum
	for i := range h.fields {
		f := &h.fields[i]
		h.sums[i] = sum{}
		if f.column < 0 || cells[f.column].Null {
			continue
		}
		cell := &cells[f.column]
		value := cell.Data
		switch {
		case cell.Misfit:
			value = append([]byte{0xff, byte(cell.Class)}, value...)
		case f.form == integers:
			binary.LittleEndian.PutUint64(h.buffer[:], uint64(cell.Int))
			value = h.buffer[:]
		case f.form == decimals:
			value = plainDecimal(value)
		case f.form == floats:
			if number, err := strconv.ParseFloat(string(value), 64); err == nil {
				binary.LittleEndian.PutUint64(h.buffer[:], math.Float64bits(number))
				value = h.buffer[:]
			}
		}
		h.sums[i] = h.hash(f.key, value)
		all = all.plus(h.sums[i])
	}
	binary.LittleEndian.PutUint64(total[:], all[0])
	binary.LittleEndian.PutUint64(total[8:], all[1])
	return total
}

// fieldHashes returns the hashes of the fields of the last row; nil if there are too many.
func (h *hasher) fieldHashes() []byte {
	if len(h.fields) > maxHashedFields {
		return nil
	}
	dst := make([]byte, 0, 4*len(h.fields))
	for _, s := range h.sums {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(s[0]))
	}
	return dst
}

// compare compares the hashes of a row with an entry of the scheme.
// changed are the fields that differ; nil if that is unknown. Fields that are not captured
// any more are not compared.
func (h *hasher) compare(e *Entry, total [16]byte, fields []byte) (same bool, changed []string) {
	if h.whole && e.Hash == total {
		return true, nil
	}
	if len(e.Fields) != len(fields) || fields == nil {
		return !h.whole, nil // without hashes of fields, a row of a narrower scheme is taken as it is
	}
	for i, f := range h.fields {
		if f.column >= 0 && !slices.Equal(e.Fields[4*i:4*i+4], fields[4*i:4*i+4]) {
			changed = append(changed, f.name)
		}
	}
	return !h.whole && changed == nil, changed
}

// schemeOf returns the scheme of new entries. It keeps the values of compared fields too.
func schemeOf(kind *record.Kind, captured []int, compared []string) Scheme {
	s := Scheme{Hash: hashVersion}
	for _, i := range captured {
		f := kind.Fields[i]
		name := f.Name + " " + string(formOf(f.Type))
		if f.Blob != "" {
			name += string(f.Blob) // GUIDs that were no GUIDs before are filled in without events
		}
		s.Fields = append(s.Fields, name)
	}
	before := slices.Concat(kind.Before, compared)
	for i, f := range kind.Fields {
		if containsName(before, f.Name) && slices.Contains(captured, i) {
			s.Kept = append(s.Kept, f.Name)
		}
	}
	return s
}
