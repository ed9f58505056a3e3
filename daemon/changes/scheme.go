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
	return s.Hash == t.Hash && s.Stamp == t.Stamp && slices.Equal(s.Fields, t.Fields) && slices.Equal(s.Kept, t.Kept)
}

// check returns why a stored scheme cannot be used.
func (s Scheme) check() error {
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
	number  int64 // of the scheme
	hash    func(key [2]uint64, value []byte) sum
	fields  []hashedField
	whole   bool // all fields of the scheme are among the columns
	sums    []sum
	number8 [8]byte
}

// hashedField is a field of a scheme.
type hashedField struct {
	name string
	form form
	key  [2]uint64
	at   int // index among the columns; -1 if it is not captured any more
}

// newHasher prepares a scheme. at returns the index of a field's column, -1 for none.
func newHasher(secret []byte, number int64, s Scheme, at func(field string) int) *hasher {
	h := &hasher{number: number, hash: hashes[s.Hash], whole: true, sums: make([]sum, len(s.Fields))}
	for _, field := range s.Fields {
		name, f, _ := strings.Cut(field, " ")
		text := append(slices.Clone(secret), strconv.Itoa(s.Hash)+" "+field...)
		key := sha256.Sum256(text)
		one := hashedField{name, form(f[0]), [2]uint64{binary.LittleEndian.Uint64(key[:]), binary.LittleEndian.Uint64(key[8:])}, at(field)}
		h.whole = h.whole && one.at >= 0
		h.fields = append(h.fields, one)
	}
	if h.hash == nil { // of a later version
		return nil
	}
	return h
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
		if f.at < 0 || cells[f.at].Null {
			continue
		}
		value := cells[f.at].Data
		switch {
		case cells[f.at].Misfit:
			value = append([]byte{0xff, byte(cells[f.at].Class)}, value...)
		case f.form == integers:
			binary.LittleEndian.PutUint64(h.number8[:], uint64(cells[f.at].Int))
			value = h.number8[:]
		case f.form == decimals:
			value = plainDecimal(value)
		case f.form == floats:
			if number, err := strconv.ParseFloat(string(value), 64); err == nil {
				binary.LittleEndian.PutUint64(h.number8[:], math.Float64bits(number))
				value = h.number8[:]
			}
		}
		h.sums[i] = h.hash(f.key, value)
		all = all.plus(h.sums[i])
	}
	binary.LittleEndian.PutUint64(total[:], all[0])
	binary.LittleEndian.PutUint64(total[8:], all[1])
	return total
}

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
		if f.at >= 0 && !slices.Equal(e.Fields[4*i:4*i+4], fields[4*i:4*i+4]) {
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
		if slices.ContainsFunc(before, func(name string) bool { return strings.EqualFold(name, f.Name) }) && slices.Contains(captured, i) {
			s.Kept = append(s.Kept, f.Name)
		}
	}
	return s
}
