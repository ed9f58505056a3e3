package changes

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

// wide returns a kind with a key and fields of some types.
func wide(types []record.Type) (*record.Kind, Table) {
	k := record.Kind{Name: "Wide", Fields: []record.Field{{Name: "ID", Type: record.Text}}}
	table := Table{Key: []int{0}, Stamp: -1}
	for i, typ := range types {
		k.Fields = append(k.Fields, record.Field{Name: fmt.Sprint("F", i), Type: typ, Null: true})
		table.Fields = append(table.Fields, i+1)
	}
	r, err := record.NewRegistry(k)
	if err != nil {
		panic(err)
	}
	return r.Kinds()[0], table
}

// TestChangedAndBefore draws changes of rows. Changed and Before are those of the values, by the
// scheme of the entry even if fields have come, gone or moved since.
func TestChangedAndBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		types := rapid.SliceOfN(rapid.SampledFrom(drawnTypes), 1, 9).Draw(t, "types")
		if rapid.IntRange(0, 9).Draw(t, "many") == 0 {
			types = slices.Repeat(types, 130/len(types)+1)
		}
		first, second := drawSchemes(t, types)
		for range 30 {
			change := drawTransition(t, types, first, second)
			want := change.wantChanges()
			if change.checkDifference(t, want) {
				change.checkBody(t, want)
			}
		}
	})
}

// drawSchemes returns the rows of a kind, and those after its captured fields may have changed.
func drawSchemes(t *rapid.T, types []record.Type) (first, second *rows) {
	kind, table := wide(types)
	choose := func(name string) (names []string) {
		for _, f := range kind.Fields[1:] {
			if rapid.Bool().Draw(t, name) {
				names = append(names, f.Name)
			}
		}
		return names
	}
	kind.CaptureFields = append(choose("captured"), "F0")
	kind.Before = choose("before")
	secret := []byte("s")
	first = newRows(kind, table, nil, secret, &State{})

	later := *kind
	if rapid.Bool().Draw(t, "other fields") {
		later.CaptureFields = append(choose("captured later"), "F0")
	}
	state := State{Scheme: 1, Schemes: map[int64]Scheme{1: first.scheme}}
	second = newRows(&later, table, nil, secret, &state)
	keepsNumber := second.current.number == 1
	if same := first.scheme.equal(second.scheme); same != keepsNumber {
		t.Fatalf("the scheme after a change of fields has number %d, and is equal to scheme 1: %v", second.current.number, same)
	}
	return first, second
}

// transition is a change of the values of a row between the schemes of two rows.
type transition struct {
	first, second *rows
	old, now      []row.Cell // of all fields
	entry         Entry      // of old by first
	difference    difference // of now by second
}

// drawTransition draws values of a row, and changes some.
func drawTransition(t *rapid.T, types []record.Type, first, second *rows) transition {
	old := []row.Cell{{Data: []byte("k")}}
	now := slices.Clone(old)
	for _, typ := range types {
		cell := drawNullable(t, typ)
		old = append(old, cell)
		if rapid.IntRange(0, 5).Draw(t, "change") == 0 {
			cell = drawNullable(t, typ)
		}
		now = append(now, cell)
	}

	before := first.entry([]byte("k"), pick(first, old))
	after := second.entry([]byte("k"), pick(second, now))
	return transition{
		first:      first,
		second:     second,
		old:        old,
		now:        now,
		entry:      before,
		difference: second.compare(&before, &after, pick(second, now)),
	}
}

// pick returns the cells of the columns.
func pick(r *rows, all []row.Cell) (cells []row.Cell) {
	for _, i := range r.columns {
		cells = append(cells, all[i])
	}
	return cells
}

func hasColumn(columns []column, name string) bool {
	return slices.ContainsFunc(columns, func(c column) bool { return c.Name == name })
}

// wantChanges returns the fields of both schemes that have other values.
func (c transition) wantChanges() []string {
	var names []string
	for _, field := range c.second.record[1:] {
		i, _ := c.second.kind.Column(field.Name)
		isChanged := canonical(field.Type, c.old[i]) != canonical(field.Type, c.now[i])
		if isChanged && hasColumn(c.first.record, field.Name) {
			names = append(names, field.Name)
		}
	}
	return names
}

// checkDifference compares the difference with the fields that have changed, and reports whether
// there is one. The first entry of a kind with many fields has no hashes of them: the changed
// fields are unknown, and without a field that has gone the entry cannot be compared.
func (c transition) checkDifference(t *rapid.T, changed []string) (differs bool) {
	got := c.difference
	hasHashes := len(c.first.record)-1 <= maxHashedFields
	fieldHasGone := slices.ContainsFunc(c.first.record, func(o column) bool { return !hasColumn(c.second.record, o.Name) })
	if !hasHashes && fieldHasGone {
		if !got.same {
			t.Fatalf("%v -> %v without hashes of fields: got a difference, want none", c.old, c.now)
		}
		return false
	}
	if wantSame := changed == nil; got.same != wantSame {
		t.Fatalf("%v -> %v: got same %v, want changes of %v", c.old, c.now, got.same, changed)
	}
	if !hasHashes {
		changed = nil
	}
	if !slices.Equal(got.changed, changed) {
		t.Fatalf("%v -> %v: got changes of %v, want %v", c.old, c.now, got.changed, changed)
	}
	return !got.same
}

// checkBody compares the body of the change with the fields that have changed.
func (c transition) checkBody(t *rapid.T, changed []string) {
	text := c.second.appendBody(nil, body{
		id:         7,
		op:         Updated,
		keyText:    "k",
		key:        c.old[:1],
		cells:      pick(c.second, c.now),
		changed:    c.difference.changed,
		before:     c.entry.Kept,
		capturedAt: time.Now(),
	})
	var read struct {
		Record, Before map[string]json.RawMessage
		Changed        []string
	}
	err := json.Unmarshal(text, &read)
	if err != nil {
		t.Fatalf("reading the body %s: %v", text, err)
	}
	if c.difference.changed == nil { // unknown
		changed = nil
	}
	if read.Changed == nil || !slices.Equal(read.Changed, changed) {
		t.Fatalf("%s: got Changed %v, want the list %v", text, read.Changed, changed)
	}
	for _, f := range c.first.kind.Fields {
		i, _ := c.first.kind.Column(f.Name)
		want := hasColumn(c.first.kept, f.Name) && !c.old[i].Null
		got, ok := read.Before[f.Name]
		if ok != want {
			t.Fatalf("%s: got Before.%s %v, want it %v, of %v", text, f.Name, ok, want, c.old[i])
		}
		if ok && f.Type == record.Decimal && string(got) != string(c.old[i].Data) {
			t.Fatalf("%s: got Before.%s %s, want %s", text, f.Name, got, c.old[i].Data)
		}
	}
}

func BenchmarkRow(b *testing.B) {
	text := func(s string) row.Cell { return row.Cell{Data: []byte(s)} }
	types := []record.Type{
		record.Int,
		record.Text,
		record.Decimal,
		record.DateTime,
		record.Bool,
		record.Text,
		record.Guid,
		record.Decimal,
	}
	cells := []row.Cell{
		text("k"), // the key
		{Int: 7},
		text("a customer"),
		text("17.50"),
		text("2026-11-26T10:00:00.0000000"),
		{Int: 1},
		text("note"),
		text("6F9619FF-8B86-D011-B42D-00C04FC964FF"),
		text("1000000.00"),
	}
	kind, table := wide(types)
	r := newRows(kind, table, nil, []byte("s"), &State{})
	b.ReportAllocs()
	for b.Loop() {
		r.entry(nil, cells)
	}
}
