// Package demo generates the records of a fictional wholesaler of clothing, hardware and
// household goods: about 50,000 records of all kinds. They are shown by --demo and queried
// by tests. Values that programs often handle incorrectly are in a kind of their own, Extremes.
//
// The records are deterministic. Each value depends only on its kind, row and purpose, so
// that a new field does not change other values.
package demo

import (
	"iter"
	"math/rand/v2"

	"github.com/bizhook/whd/client/record"
)

// Rows returns the rows of a kind, each a new slice of values in the order of the kind's
// fields: nil, int64 for integers and bools, []byte for byte[], and otherwise a string
// formatted by package wire. An unknown kind has no rows; an unknown field is nil.
func Rows(kind *record.Kind) iter.Seq[[]any] {
	t := find(kind.Name)
	columns := make([]field, len(kind.Fields))
	for i, f := range kind.Fields {
		columns[i] = t.field(f.Name)
	}
	return func(yield func([]any) bool) {
		for n := range t.rows {
			if !yield(t.row(n, columns)) {
				return
			}
		}
	}
}

// Count returns the number of rows of a kind.
func Count(kind string) int { return find(kind).rows }

// table defines how the rows of one kind are generated.
type table struct {
	kind   string
	rows   int
	fields []field
}

// field defines how the values of one field are generated.
type field struct {
	name string
	make maker
}

// maker generates a value.
type maker func(row) any

// row identifies the row and field to generate.
type row struct {
	kind  string
	field string
	n     int // index, from 0
	of    int // number of rows
}

func find(kind string) table {
	for _, tables := range [][]table{business, billTables, extremes} {
		for _, t := range tables {
			if t.kind == kind {
				return t
			}
		}
	}
	return table{}
}

func (t table) field(name string) field {
	for _, f := range t.fields {
		if f.name == name {
			return f
		}
	}
	return field{name: name, make: func(row) any { return nil }}
}

func (t table) row(n int, columns []field) []any {
	r := row{kind: t.kind, n: n, of: t.rows}
	cells := make([]any, len(columns))
	for i, f := range columns {
		r.field = f.name
		cells[i] = f.make(r)
	}
	return cells
}

// random returns a random source for a row and a purpose. It is seeded by these, so that
// related fields can use the same random numbers.
func (r row) random(purpose string) *rand.Rand {
	return seeded(hash(hash(hash(hashOfNothing, r.kind), "."), purpose), r.n)
}

// fieldRandom returns the random source of the field.
func (r row) fieldRandom() *rand.Rand { return r.random(r.field) }

func random(purpose string, n int) *rand.Rand { return seeded(hash(hashOfNothing, purpose), n) }

func seeded(seed uint64, n int) *rand.Rand {
	const golden = 0x9e3779b97f4a7c15 // spreads the seeds of adjacent rows
	return rand.New(rand.NewPCG(seed, uint64(n)*golden))
}

// hashOfNothing is the FNV-1a hash of an empty text.
const hashOfNothing = 14695981039346656037

// hash continues an FNV-1a hash. Unlike hash/fnv it allocates nothing: it is called for most
// values of a demo.
func hash(sum uint64, text string) uint64 {
	const prime = 1099511628211
	for i := range len(text) {
		sum = (sum ^ uint64(text[i])) * prime
	}
	return sum
}

func pick[T any](d *rand.Rand, from []T) T { return from[d.IntN(len(from))] }
