package grid

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// linesOf returns the lines of a grid without styles.
func linesOf(g *Grid) []string { return strings.Split(ansi.Strip(g.View()), "\n") }

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

// Free room goes to the column that is cut most, beyond its maximum.
func TestFreeRoomGoesToCutColumn(t *testing.T) {
	g := New(plainTheme, true)
	g.Columns.Set(columns("A", "B"), 0)
	long := strings.Repeat("long ", 12)
	g.SetRows(NewList([]*Row{row("1", "a", long), row("2", "b", "short")}))
	g.SetSize(50, 4)
	if got := linesOf(g)[1]; !strings.HasSuffix(got, "lo~ ") {
		t.Errorf("in 50 cells the row is %q, want it cut", got)
	}
	g.SetSize(90, 4)
	if got := linesOf(g)[1]; !strings.Contains(got, strings.TrimSpace(long)) {
		t.Errorf("in 90 cells the row is %q, want all of it", got)
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
