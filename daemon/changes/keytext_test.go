package changes

import (
	"bytes"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

// TestKeysOfTheSameText compares the ways in which an embedded file can hold a key that are the
// same in JSON with those that are not.
func TestKeysOfTheSameText(t *testing.T) {
	plain := func(text string) row.Cell { return row.Cell{Data: []byte(text)} }
	classed := func(class row.Class, text string, n int64) row.Cell {
		return row.Cell{Class: class, Data: []byte(text), Int: n}
	}
	misfit := func(class row.Class, text string) row.Cell {
		return row.Cell{Class: class, Misfit: true, Data: []byte(text)}
	}
	misfitNumber := row.Cell{Class: row.Integer, Misfit: true, Int: 20260102, Data: []byte("20260102")}
	const guid = "0f8fad5b-d9cb-469f-a165-70867728950e"
	for _, c := range []struct {
		typ      record.Type
		a, b     row.Cell
		wantSame bool
	}{
		{record.Text, plain("abc"), classed(row.Blob, "abc", 0), true},
		{record.Text, plain("abc"), classed(row.Blob, "abd", 0), false},
		{record.Text, plain("10"), classed(row.Integer, "10", 10), true},
		{record.Text, plain("010"), classed(row.Integer, "10", 10), false},
		{record.Text, plain("2.5"), classed(row.Real, "2.5", 0), true},
		{record.Text, plain("ff"), misfit(row.Blob, "ff"), true},
		{record.Int, row.Cell{Int: 10}, classed(row.Text, "10", 10), true},
		{record.Int, row.Cell{Int: 10}, classed(row.Text, "11", 11), false},
		{record.Int, row.Cell{Int: 10}, misfit(row.Text, "10A"), false},
		{record.Int, misfit(row.Text, "10a0"), misfit(row.Blob, "10a0"), true},
		{record.TimeSpan, row.Cell{Int: 36610000000}, classed(row.Text, "36610000000", 36610000000), true},
		{record.Double, plain("2.5"), classed(row.Text, "2.5", 0), true},
		{record.Decimal, plain("2.5"), classed(row.Real, "2.5", 0), true},
		{record.Decimal, plain("2.50"), classed(row.Real, "2.5", 0), true},
		{record.Decimal, plain("2.51"), classed(row.Real, "2.5", 0), false},
		{record.Int, row.Cell{Int: 5}, misfit(row.Text, "+5"), false},
		{record.DateTime, plain("20260102"), misfitNumber, true},
		{record.Guid, plain(guid), classed(row.Blob, guid, 0), true},
		{record.Bytes, plain("abc"), misfit(row.Text, "YWJj"), true},
		{record.Bytes, plain("abc"), misfit(row.Text, "abc"), false},
	} {
		kind, table := wide([]record.Type{c.typ})
		table.Key = []int{1}
		r := newRows(kind, table, nil, []byte("s"), &State{})
		for _, pair := range [][2]row.Cell{{c.a, c.b}, {c.b, c.a}} {
			key := []row.Cell{pair[0]}
			other := []row.Cell{pair[1]}
			want, err := appendKey(nil, r.types(), other)
			if err != nil {
				t.Fatal(err)
			}
			same := false
			alike, ok := keyTexts(r.key).inForm(key, formOfKey(other))
			if ok && bytes.Equal(keyTexts(r.key).object(alike), keyTexts(r.key).object(key)) {
				got, err := appendKey(nil, r.types(), alike)
				if err != nil {
					t.Fatal(err)
				}
				same = bytes.Equal(got, want)
			}
			if same != c.wantSame {
				t.Errorf("%v: %+v is found from %+v: got %v, want %v", c.typ, pair[1], pair[0], same, c.wantSame)
			}
		}
	}
}
