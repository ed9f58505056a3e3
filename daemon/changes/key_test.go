package changes

import (
	"bytes"
	"encoding/json"
	"errors"
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
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/row"
)

// drawNullable draws a value that may be null.
func drawNullable(t *rapid.T, typ record.Type) row.Cell {
	if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		return row.Cell{Null: true}
	}
	return drawCell(t, typ)
}

// drawCell draws a value as a source would have it.
func drawCell(t *rapid.T, typ record.Type) row.Cell {
	text := func(s string) row.Cell { return row.Cell{Data: []byte(s)} }
	if typ.Integer() {
		lo, hi := typ.Range()
		return row.Cell{Int: rapid.Int64Range(lo, hi).Draw(t, "int")}
	}
	switch typ {
	case record.Bool:
		return row.Cell{Int: rapid.Int64Range(0, 1).Draw(t, "bool")}
	case record.Decimal:
		number := big.NewRat(rapid.Int64Range(-3000, 3000).Draw(t, "decimal"), 100)
		return text(number.FloatString(rapid.IntRange(2, 4).Draw(t, "scale")))
	case record.Double:
		return text(strconv.FormatFloat(rapid.Float64().Draw(t, "double"), 'g', -1, 64))
	case record.DateTime:
		seconds := rapid.Int64Range(0, 3).Draw(t, "s")
		nanoseconds := 100 * rapid.Int64Range(0, 3).Draw(t, "100 ns")
		return text(time.Unix(seconds, nanoseconds).UTC().Format(wire.DateLayout))
	case record.Guid:
		start := rapid.IntRange(0, 9).Draw(t, "a")
		end := rapid.IntRange(0, 9).Draw(t, "b")
		return text(fmt.Sprintf("%08X-0000-0000-0000-%012X", start, end))
	}
	texts := []string{"", "a", "A", "a ", "ab", "co-op", "coop", "\x00", "é", "e\u0301"}
	return text(rapid.SampledFrom(texts).Draw(t, "text"))
}

// keyTypes are the drawn types that a key may have.
var keyTypes = []record.Type{
	record.Text, record.Int, record.Long, record.Decimal, record.Bool, record.DateTime, record.Guid,
}

var drawnTypes = append(slices.Clip(keyTypes), record.Double, record.Bytes)

// canonical returns a text that is the same for the same values.
func canonical(typ record.Type, c row.Cell) string {
	switch {
	case c.Null:
		return "null"
	case typ == record.Decimal:
		number, _ := new(big.Rat).SetString(string(c.Data))
		return number.String()
	case typ == record.Double:
		number, _ := strconv.ParseFloat(string(c.Data), 64)
		return fmt.Sprint(math.Float64bits(number))
	}
	return fmt.Sprintf("%d %q", c.Int, c.Data)
}

func sameValues(types []record.Type, a, b []row.Cell) bool {
	for i, typ := range types {
		if canonical(typ, a[i]) != canonical(typ, b[i]) {
			return false
		}
	}
	return true
}

func TestKeysAreEqualIfTheirValuesAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		types := rapid.SliceOfN(rapid.SampledFrom(keyTypes), 1, 3).Draw(t, "types")
		draw := func() (cells []row.Cell) {
			for _, typ := range types {
				cells = append(cells, drawCell(t, typ))
			}
			return cells
		}
		encode := func(cells []row.Cell) []byte {
			key, err := appendKey(nil, types, cells)
			if err != nil {
				t.Fatalf("encoding the key %v: %v", cells, err)
			}
			return key
		}
		a, b := draw(), draw()
		first, second := encode(a), encode(b)
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
	types := []record.Type{record.Int, record.Text}
	key, err := appendKey(nil, types, []row.Cell{{Int: 1}, {Null: true}})
	if !errors.Is(err, errNullKey) {
		t.Errorf("encoding a key with a null: got %q, %v, want the error %q", key, err, errNullKey)
	}
}

func TestKeyText(t *testing.T) {
	text := func(s string) row.Cell { return row.Cell{Data: []byte(s)} }
	number := row.Cell{Int: -5}
	decimal := row.Cell{Data: []byte("1.50")}
	single := []record.Type{record.Text}
	several := []record.Type{record.Text, record.Long, record.Decimal}
	for _, c := range []struct {
		name  string
		types []record.Type
		cells []row.Cell
		want  string
	}{
		{"a text", single, []row.Cell{text(`D"1`)}, `D"1`},
		{"an integer", []record.Type{record.Long}, []row.Cell{number}, "-5"},
		{"several fields", several, []row.Cell{text(`D"1`), number, decimal}, `["D\"1",-5,1.50]`},
		{"the longest text", single, []row.Cell{text(strings.Repeat("ü", 128))}, strings.Repeat("ü", 128)},
		{
			"a longer text",
			single,
			[]row.Cell{text(strings.Repeat("a", 129))},
			strings.Repeat("a", 90) + "~c12cb024a2e5551cca0e08fce8f1c5e3",
		},
		{"an empty text", single, []row.Cell{text("")}, "~e3b0c44298fc1c149afbf4c8996fb924"},
		{"control characters", single, []row.Cell{text("\x00a\tb\x7f")}, "ab~28f34dceee01908633ffc03832c8037c"},
		{"a tab of several fields", several, []row.Cell{text("a\tb"), number, decimal}, `["a\tb",-5,1.50]`},
	} {
		got := KeyText(c.types, c.cells)
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if n := utf8.RuneCountInString(got); n > 128 {
			t.Errorf("%s: got %d characters, want at most 128", c.name, n)
		}
	}
}

// TestKeyTextOfJSON checks that a page of a record finds the events of the record by its row in JSON.
func TestKeyTextOfJSON(t *testing.T) {
	text := func(s string) row.Cell { return row.Cell{Data: []byte(s)} }
	types := []record.Type{record.Text, record.Decimal, record.Long, record.Bool, record.Guid, record.DateTime, record.Bytes}
	cells := []row.Cell{
		text(`D"1`), text("1.50"), {Int: -5}, {Int: 1}, text("6f9619ff-8b86-d011-b42d-00cf4fc964ff"),
		text("2019-05-01T10:11:12.1230000"), text("\x00\xff"),
	}
	check := func(types []record.Type, cells ...row.Cell) {
		t.Helper()
		key, err := appendKey(nil, types, cells)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := readKey(key)
		if err != nil {
			t.Fatal(err)
		}
		values := make([]json.RawMessage, len(cells))
		for i, c := range cells {
			values[i] = encode.AppendJSON(nil, types[i], c)
		}
		if got, want := KeyTextOfJSON(types, values), KeyText(types, stored); got != want {
			t.Errorf("the key of %s is %q, that of its events %q", values, got, want)
		}
	}
	for i, c := range cells {
		check(types[i:i+1], c)
	}
	check(types, cells...)
	check(types[1:2], text("-0.00"))
	check(types[1:3], text("100.00"), row.Cell{Int: 7})
	for _, long := range []string{strings.Repeat("ü", 128), strings.Repeat("ü", 129), "", "a\tb"} {
		check(types[:1], text(long))
		check(types[:2], text(long), text("0"))
	}
}
