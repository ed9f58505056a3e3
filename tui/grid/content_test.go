package grid

import (
	"strings"
	"testing"
)

// One extreme text does not set the width of a column while others need the room; numbers are
// always shown whole.
func TestExtremeCellDoesNotSetWidth(t *testing.T) {
	rows := numberedRows(12, 3)
	rows[4].Cells[0].Text = strings.Repeat("x", 38)
	rows[5].Cells[1].Text = "123456789012345678901234567890"
	g := New(plainTheme, true)
	g.Columns.Set(columns("Name", "Amount>", "Total>"), 0)
	g.SetRows(NewList(rows))
	g.SetSize(60, 20)
	_ = g.View()
	for i, want := range []int{6, 30, 5} {
		if got := g.Columns.columnWidth(i) - g.Columns.widths[i].grown; got != want {
			t.Errorf("column %d is %d wide without free room, want %d:\n%s", i, got, want, g.View())
		}
	}
}

// Texts that start alike are cut in the middle, so that they differ.
func TestTextsThatStartAlikeDiffer(t *testing.T) {
	g := New(plainTheme, true)
	g.Columns.Set([]Column{{Name: "ID", Max: 10}, {Name: "Name", Max: 10}}, 0)
	g.SetRows(NewList([]*Row{
		row("1", "XC20000000000001", "name of the first"),
		row("2", "XC20000000000002", "another name"),
	}))
	g.SetSize(26, 4)
	got := linesOf(g)
	for line, want := range map[int]string{1: "XC20~00001  name of t~", 2: "XC20~00002  another n~"} {
		if !strings.Contains(got[line], want) {
			t.Errorf("line %d is %q, want %q in it", line, got[line], want)
		}
	}
}

// Zeros and missing values are signs, which do not set the width of a column.
func TestZeroIsSign(t *testing.T) {
	g := New(plainTheme, true)
	g.Columns.Set([]Column{{Name: "N", Right: true}}, 0)
	g.SetRows(NewList([]*Row{
		{ID: "1", Cells: []Cell{{Text: "0.000000", Zero: true}}},
		{ID: "2", Cells: []Cell{{Null: true}}},
		{ID: "3", Cells: []Cell{{Text: "12"}}},
	}))
	g.SetSize(10, 4)
	want := []string{"    N     ", ">   .     ", "    -     ", "   12     "}
	if got := linesOf(g); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
