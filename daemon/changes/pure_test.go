package changes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/row"
)

// drawCell draws a value as a source would have it.
func drawCell(t *rapid.T, typ record.Type, null bool) row.Cell {
	text := func(s string) row.Cell { return row.Cell{Data: []byte(s)} }
	switch {
	case null && rapid.IntRange(0, 4).Draw(t, "null") == 0:
		return row.Cell{Null: true}
	case typ.Integer():
		lo, hi := typ.Range()
		return row.Cell{Int: rapid.Int64Range(lo, hi).Draw(t, "int")}
	}
	switch typ {
	case record.Bool:
		return row.Cell{Int: rapid.Int64Range(0, 1).Draw(t, "bool")}
	case record.Decimal:
		return text(big.NewRat(rapid.Int64Range(-3000, 3000).Draw(t, "decimal"), 100).FloatString(rapid.IntRange(2, 4).Draw(t, "scale")))
	case record.Double:
		return text(strconv.FormatFloat(rapid.Float64().Draw(t, "double"), 'g', -1, 64))
	case record.DateTime:
		return text(time.Unix(rapid.Int64Range(0, 3).Draw(t, "s"), 100*rapid.Int64Range(0, 3).Draw(t, "100 ns")).UTC().Format(wire.DateLayout))
	case record.Guid:
		return text(fmt.Sprintf("%08X-0000-0000-0000-%012X", rapid.IntRange(0, 9).Draw(t, "a"), rapid.IntRange(0, 9).Draw(t, "b")))
	}
	return text(rapid.SampledFrom([]string{"", "a", "A", "a ", "ab", "co-op", "coop", "\x00", "é", "e\u0301"}).Draw(t, "text"))
}

var drawnTypes = []record.Type{record.Text, record.Int, record.Long, record.Decimal, record.Bool, record.DateTime, record.Guid, record.Double, record.Bytes}

// value returns a text that is the same for the same values.
func value(typ record.Type, c row.Cell) string {
	switch {
	case c.Null:
		return "null"
	case typ == record.Decimal:
		r, _ := new(big.Rat).SetString(string(c.Data))
		return r.String()
	case typ == record.Double:
		f, _ := strconv.ParseFloat(string(c.Data), 64)
		return fmt.Sprint(math.Float64bits(f))
	}
	return fmt.Sprintf("%d %q", c.Int, c.Data)
}

func sameValues(types []record.Type, a, b []row.Cell) bool {
	for i, typ := range types {
		if value(typ, a[i]) != value(typ, b[i]) {
			return false
		}
	}
	return true
}

func TestKeysAreEqualIfTheirValuesAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		types := rapid.SliceOfN(rapid.SampledFrom(drawnTypes[:7]), 1, 3).Draw(t, "types")
		draw := func() (cells []row.Cell) {
			for _, typ := range types {
				cells = append(cells, drawCell(t, typ, false))
			}
			return cells
		}
		a, b := draw(), draw()
		first, err := appendKey(nil, types, a)
		second, err2 := appendKey(nil, types, b)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if bytes.Equal(first, second) != sameValues(types, a, b) {
			t.Fatalf("%v and %v are encoded as %q and %q", a, b, first, second)
		}
		read, err := readKey(first)
		if err != nil || !sameValues(types, a, read) {
			t.Fatalf("%v is read as %v: %v", a, read, err)
		}
		for n := range len(first) {
			if cells, err := readKey(first[:n]); err == nil && len(cells) >= len(types) {
				t.Fatalf("%d bytes of %q are read as %v", n, first, cells)
			}
		}
	})
}

func TestKeysWithNullHaveNone(t *testing.T) {
	if _, err := appendKey(nil, []record.Type{record.Int, record.Text}, []row.Cell{{Int: 1}, {Null: true}}); err != errNullKey {
		t.Error(err)
	}
}

func TestKeyText(t *testing.T) {
	types := []record.Type{record.Text, record.Long, record.Decimal}
	cells := func(s string) []row.Cell { return []row.Cell{{Data: []byte(s)}, {Int: -5}, {Data: []byte("1.50")}} }
	for _, c := range []struct {
		types []record.Type
		cells []row.Cell
		want  string
	}{
		{types[:1], cells(`D"1`), `D"1`},
		{types[1:2], cells("")[1:], "-5"},
		{types, cells(`D"1`), `["D\"1",-5,1.50]`},
		{types[:1], cells(strings.Repeat("ü", 128)), strings.Repeat("ü", 128)},
		{types[:1], cells(strings.Repeat("a", 129)), strings.Repeat("a", 90) + "~c12cb024a2e5551cca0e08fce8f1c5e3"},
		{types[:1], cells(""), "~e3b0c44298fc1c149afbf4c8996fb924"},
		{types[:1], cells("\x00a\tb\x7f"), "ab~28f34dceee01908633ffc03832c8037c"},
		{types, cells("a\tb"), `["a\tb",-5,1.50]`},
	} {
		if got := KeyText(c.types, c.cells); got != c.want || utf8.RuneCountInString(got) > 128 {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

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

// In random transitions, Changed and Before are those of the values, by the scheme of the
// entry even if fields have come, gone or moved since.
func TestChangedAndBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		types := rapid.SliceOfN(rapid.SampledFrom(drawnTypes), 1, 9).Draw(t, "types")
		if rapid.IntRange(0, 9).Draw(t, "many") == 0 {
			types = slices.Repeat(types, 130/len(types)+1)
		}
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
		first := newRows(kind, table, nil, secret, &State{})
		state := State{Scheme: 1, Schemes: map[int64]Scheme{1: first.scheme}}
		later := *kind
		if rapid.Bool().Draw(t, "other fields") {
			later.CaptureFields = append(choose("captured later"), "F0")
		}
		second := newRows(&later, table, nil, secret, &state)
		if same := first.scheme.equal(second.scheme); same != (second.current.number == 1) {
			t.Fatalf("the scheme has number %d", second.current.number)
		}
		for range 100 {
			old, cells := []row.Cell{{Data: []byte("k")}}, []row.Cell{{Data: []byte("k")}}
			for i, typ := range types {
				old = append(old, drawCell(t, typ, true))
				if cells = append(cells, old[i+1]); rapid.IntRange(0, 5).Draw(t, "change") == 0 {
					cells[i+1] = drawCell(t, typ, true)
				}
			}
			check(t, first, second, old, cells)
		}
	})
}

// pick returns the cells of the columns.
func pick(r *rows, all []row.Cell) (cells []row.Cell) {
	for _, i := range r.columns {
		cells = append(cells, all[i])
	}
	return cells
}

func check(t *rapid.T, first, second *rows, old, now []row.Cell) {
	before := first.entry([]byte("k"), pick(first, old))
	after := second.entry([]byte("k"), pick(second, now))
	d := second.compare(&before, &after, pick(second, now))
	var want []string
	for _, c := range second.record[1:] {
		i, _ := second.kind.Column(c.Name)
		if value(c.Type, old[i]) != value(c.Type, now[i]) && slices.ContainsFunc(first.record, func(o column) bool { return o.Name == c.Name }) {
			want = append(want, c.Name)
		}
	}
	gone := slices.ContainsFunc(first.record, func(o column) bool {
		return !slices.ContainsFunc(second.record, func(c column) bool { return c.Name == o.Name })
	})
	switch hashed := len(first.record)-1 <= maxHashedFields; {
	case !hashed && gone: // is taken as it is
		if !d.same {
			t.Fatalf("%v -> %v differs without hashes of fields", old, now)
		}
		return
	case d.same != (want == nil):
		t.Fatalf("%v -> %v: same is %v, want changes of %v", old, now, d.same, want)
	case !hashed:
		want = nil
	}
	if !slices.Equal(d.changed, want) {
		t.Fatalf("%v -> %v: %v, want %v", old, now, d.changed, want)
	}
	if d.same {
		return
	}
	body := second.appendBody(nil, body{
		id:         7,
		op:         Updated,
		keyText:    "k",
		key:        old[:1],
		cells:      pick(second, now),
		changed:    d.changed,
		before:     before.Kept,
		capturedAt: time.Now(),
	})
	var read struct {
		Record, Before map[string]json.RawMessage
		Changed        []string
	}
	if err := json.Unmarshal(body, &read); err != nil || read.Changed == nil || !slices.Equal(read.Changed, append([]string{}, want...)) {
		t.Fatalf("%s: %v", body, err)
	}
	for _, f := range first.kind.Fields {
		i, _ := first.kind.Column(f.Name)
		known := slices.ContainsFunc(first.kept, func(c column) bool { return c.Name == f.Name })
		if _, has := read.Before[f.Name]; has != (known && !old[i].Null) {
			t.Fatalf("%s: Before.%s, of %v", body, f.Name, old[i])
		}
		if got, has := read.Before[f.Name]; has && f.Type == record.Decimal && string(got) != string(old[i].Data) {
			t.Fatalf("%s: Before.%s, want %s", body, f.Name, old[i].Data)
		}
	}
}

func BenchmarkRow(b *testing.B) {
	types := []record.Type{record.Int, record.Text, record.Decimal, record.DateTime, record.Bool, record.Text, record.Guid, record.Decimal}
	kind, table := wide(types)
	r := newRows(kind, table, nil, []byte("s"), &State{})
	text := func(s string) row.Cell { return row.Cell{Data: []byte(s)} }
	cells := []row.Cell{text("k"), {Int: 7}, text("a customer"), text("17.50"), text("2026-11-26T10:00:00.0000000"), {Int: 1}, text("note"), text("6F9619FF-8B86-D011-B42D-00C04FC964FF"), text("1000000.00")}
	b.ReportAllocs()
	for b.Loop() {
		r.entry(nil, cells)
	}
}
