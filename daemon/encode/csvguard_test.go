package encode

import (
	"testing"

	"github.com/bizhook/whd/client/csv/csvtest"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/row"
)

// TestCSVCells: the service writes cells as whctl and the screens do, with the same guard.
func TestCSVCells(t *testing.T) {
	line := func(w csvWriter, fieldType record.Type, cell row.Cell) string {
		return string(w.rows(Shape{Columns: []Column{
			{Name: "Text", Type: fieldType},
			{Name: "N", Type: record.Int},
		}}).Row(nil, []row.Cell{cell, {Int: -1}}))
	}

	for _, c := range csvtest.Cells {
		cell := row.Cell{Data: []byte(c.Text)}
		if got, want := line(csvWriter{}, record.Text, cell), c.CSV+",-1\r\n"; got != want {
			t.Errorf("%q: got %q, want %q", c.Text, got, want)
		}
		if got, want := line(csvWriter{guard: true}, record.Text, cell), c.Guarded+",-1\r\n"; got != want {
			t.Errorf("%q, guarded: got %q, want %q", c.Text, got, want)
		}
	}

	for _, c := range []struct {
		fieldType record.Type
		cell      row.Cell
		want      string
	}{
		{record.Bytes, row.Cell{Data: []byte{0xf8, 0x0d, 0x76}}, "'+A12,-1\r\n"},
		{record.TimeSpan, row.Cell{Int: -10_000_000}, "'-PT1S,-1\r\n"},
		{record.Decimal, row.Cell{Data: []byte("-1.50")}, "-1.50,-1\r\n"},
		{record.Decimal, row.Cell{Data: []byte("=1+1")}, "'=1+1,-1\r\n"},
		{record.Double, row.Cell{Data: []byte("-1e+300")}, "-1e+300,-1\r\n"},
		{record.Double, row.Cell{Data: []byte("-Inf")}, "'-Inf,-1\r\n"},
		{record.Int, row.Cell{Misfit: true, Data: []byte("+1+1")}, "'+1+1,-1\r\n"},
	} {
		if got := line(csvWriter{guard: true}, c.fieldType, c.cell); got != c.want {
			t.Errorf("%v of %v, guarded: got %q, want %q", c.cell, c.fieldType, got, c.want)
		}
	}
}
