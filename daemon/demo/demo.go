// Package demo is a small business made up in code: a wholesaler of clothing,
// hardware and household goods, with about 50,000 records of every kind that
// the service knows. It is what --demo shows, and what tests query.
//
// It is the same every time. Each value depends only on its kind, its row and
// what it is for, so that a new field does not change the values of the others.
package demo

import (
	"hash/fnv"
	"iter"
	"math/rand/v2"

	"github.com/bizhook/whd/client/record"
)

// Rows yields the rows of a kind, each a fresh slice of values in the order of
// the kind's fields: nil, int64 for whole numbers and bools, []byte for byte[],
// and else the string that package wire writes. A kind that the business does
// not know has no rows; a field that it does not know is nil.
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

// Count is the number of rows of a kind.
func Count(kind string) int { return find(kind).rows }

// table is how the rows of one kind are made.
type table struct {
	kind   string
	rows   int // in all: first the ordinary ones, then the extreme ones
	fields []field
}

// field is how the values of one field are made. The extreme rows take theirs
// from extremes, each once, as far as there are any.
type field struct {
	name     string
	make     maker
	extremes []any
}

// maker makes one value.
type maker func(row) any

// row is a place in a kind that waits for a value.
type row struct {
	kind    string
	field   string
	n       int // from 0
	of      int // the number of rows
	extreme int // which extreme row, from 1; 0 is an ordinary one
}

func find(kind string) table {
	for _, tables := range [][]table{business, billTables} {
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

// extremes is the number of extreme rows: enough to show every extreme of
// every field, but never a quarter of the kind or more.
func (t table) extremes() int {
	most := 0
	for _, f := range t.fields {
		most = max(most, len(f.extremes))
	}
	return min(most, t.rows/4)
}

func (t table) row(n int, columns []field) []any {
	extremes := t.extremes()
	r := row{kind: t.kind, n: n, of: t.rows, extreme: max(0, n+1-(t.rows-extremes))}
	cells := make([]any, len(columns))
	for i, f := range columns {
		r.field = f.name
		if r.extreme > 0 {
			// Shifted by the column, so that a row has different texts.
			if turn := (r.extreme - 1 + i) % extremes; turn < len(f.extremes) {
				cells[i] = f.extremes[turn]
				continue
			}
		}
		cells[i] = f.make(r)
	}
	return cells
}

// dice are the random choices of a row for one purpose. They fall the same way
// whenever they are asked for, so fields that belong together can share them.
func (r row) dice(purpose string) *rand.Rand { return dice(r.kind+"."+purpose, r.n) }

// own are the dice of the field alone.
func (r row) own() *rand.Rand { return r.dice(r.field) }

func dice(purpose string, n int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	const golden = 0x9e3779b97f4a7c15 // spreads neighbouring rows over the seeds
	return rand.New(rand.NewPCG(h.Sum64(), uint64(n)*golden))
}

func pick[T any](d *rand.Rand, from []T) T { return from[d.IntN(len(from))] }
