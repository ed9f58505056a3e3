package grid

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/bizhook/whd/tui/theme"
)

// linesOf returns the lines of a grid without styles.
func linesOf(g *Grid) []string { return strings.Split(ansi.Strip(g.View()), "\n") }

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

// A column that was narrowed for others gets the room back if one of these does not fit after all.
func TestRoomOfHiddenColumnIsUsed(t *testing.T) {
	g := New(plainTheme, true)
	g.Columns.Set([]Column{{Name: "Event", Flex: true}, {Name: "N", Right: true}}, 0)
	g.SetRows(NewList([]*Row{row("1", "salesorder.created", strings.Repeat("9", 20))}))
	g.SetSize(22, 4)
	if got := linesOf(g)[1]; !strings.Contains(got, "salesorder.created") {
		t.Errorf("in 22 cells the row is %q, want all of the event", got)
	}
}

// A column that is hidden in a narrow grid does not give way for others: it has no room.
func TestHiddenColumnDoesNotGiveWay(t *testing.T) {
	g := New(plainTheme, true)
	g.Columns.Set([]Column{
		{Name: "Area", Flex: true, Min: 4},
		{Name: "Rows", Right: true},
		{Name: "Summary", Flex: true, Max: 100, MinGridWidth: 90},
	}, 0)
	g.SetRows(NewList([]*Row{row("1", "Bills of materials", "6,000,000", strings.Repeat("s", 60))}))
	g.SetSize(24, 3)
	if got := linesOf(g)[1]; !strings.Contains(got, "6,000,000") {
		t.Errorf("in 24 cells the row is %q, want the number in it", got)
	}
}

// The bar of a cell is drawn dimly, and its text in the style of the cell, also if this is the
// selected one.
func TestBarIsDim(t *testing.T) {
	g := New(colourTheme, false)
	g.Columns.Set([]Column{{Name: "Count", Right: true}}, 0)
	bar := Row{ID: "1", Cells: []Cell{{Text: "##  12", Bar: "##"}}}
	g.SetRows(NewList([]*Row{&bar}))
	g.SetSize(20, 3)
	want := string(colourTheme.Append(nil, theme.Selected, theme.Dim, "##")) +
		string(colourTheme.Append(nil, theme.Selected, theme.CursorCell, "  12"))
	if got := g.View(); !strings.Contains(got, want) {
		t.Errorf("the grid is %q, want %q in it", got, want)
	}
}

// In a list of rows, scrolling ends at the last column that a grid of this width shows.
func TestScrollEndsAtLastShownColumn(t *testing.T) {
	g := New(plainTheme, true)
	g.Columns.Set([]Column{{Name: "A"}, {Name: "B"}, {Name: "C", MinGridWidth: 90}}, 0)
	g.SetRows(NewList([]*Row{row("1", "first", "second", "third")}))
	g.SetSize(30, 3)
	for range 5 {
		g.Columns.Scroll(1)
	}
	if got := linesOf(g)[1]; !strings.Contains(got, "first  second") {
		t.Errorf("after scrolling the row is %q, want both columns", got)
	}
}

// A number is shown whole if it fits the screen alone: titles and texts give way, or its column is left
// out. The selected column is not left out.
func TestNumbersAreNotCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := New(plainTheme, rapid.Bool().Draw(t, "lines"))
		count := rapid.IntRange(1, 6).Draw(t, "columns")
		width := rapid.IntRange(20, 90).Draw(t, "width")
		g.Columns.Set(columnsOfNumbers(t, count), rapid.IntRange(0, count-1).Draw(t, "frozen"))
		g.SetSize(width, rapid.IntRange(2, 12).Draw(t, "height"))
		g.SetRows(NewList(rowsOfNumbers(t, g.Columns.List())))
		for _, move := range rapid.SliceOfN(rapid.SampledFrom(arrangingMoves), 0, 8).Draw(t, "moves") {
			move(g)
		}
		checkNumbers(t, g)
	})
}

// arrangingMoves are those that change which columns and rows are visible, except the widths that users
// set.
var arrangingMoves = []func(*Grid){
	func(g *Grid) { g.Move(g.PageSize()) },
	func(g *Grid) { g.Columns.Move(1) },
	func(g *Grid) { g.Columns.Move(-1) },
	func(g *Grid) { g.Columns.GoTo(99) },
	func(g *Grid) {
		if g.Columns.RowMode() {
			g.Columns.Scroll(1)
		}
	},
	func(g *Grid) { g.SetSize(g.Columns.width+10, g.height) },
	func(g *Grid) { g.Columns.SetSort(Sort{Column: g.Columns.List()[0].Name}) },
}

// columnsOfNumbers draws columns of numbers, which are aligned at the right, and of texts.
func columnsOfNumbers(t *rapid.T, count int) []Column {
	all := make([]Column, count)
	for i := range all {
		all[i] = Column{
			Name:  strings.Repeat("n", rapid.IntRange(0, 15).Draw(t, "title")) + fmt.Sprint(i),
			Right: rapid.Bool().Draw(t, "right"),
			Flex:  rapid.Bool().Draw(t, "flex"),
			Min:   rapid.IntRange(0, 12).Draw(t, "min"),
		}
	}
	return all
}

// rowsOfNumbers draws rows with texts and numbers of all lengths.
func rowsOfNumbers(t *rapid.T, columns []Column) []*Row {
	rows := make([]*Row, rapid.IntRange(1, 30).Draw(t, "rows"))
	for i := range rows {
		rows[i] = &Row{ID: fmt.Sprint(i)}
		for range columns {
			digits := rapid.IntRange(1, 40).Draw(t, "digits")
			rows[i].Cells = append(rows[i].Cells, Cell{Text: strings.Repeat("7", digits)})
		}
	}
	return rows
}

// checkNumbers checks that the numbers on the screen are whole, and that the selected column is visible.
func checkNumbers(t *rapid.T, g *Grid) {
	room := g.Columns.width - prefixWidth - rightMargin
	first, last := g.Window()
	selectedIsVisible := g.Columns.RowMode() || g.Columns.Index() < g.Columns.Frozen()
	for n, visible := range g.Columns.visible {
		column := g.Columns.columns[visible.column]
		selectedIsVisible = selectedIsVisible || visible.column == g.Columns.Index()
		fits := g.Columns.content.columns[visible.column].largest <= room
		for i := first; i <= last && column.Right && fits; i++ {
			row := g.rows.Row(i)
			got := strings.TrimSpace(g.Columns.cells(row)[n])
			if want := row.Cells[visible.column].Text; got != want {
				t.Fatalf("the number %s is shown as %q in %d of %d cells:\n%s",
					want, got, visible.width, g.Columns.width, ansi.Strip(g.View()))
			}
		}
	}
	if !selectedIsVisible {
		t.Fatalf("the selected column %d is not visible:\n%s", g.Columns.Index(), ansi.Strip(g.View()))
	}
}

// A frozen column that a grid of this width hides is only drawn while it is selected, as another one.
// The line after the frozen columns remains.
func TestHiddenFrozenColumnIsNotDrawn(t *testing.T) {
	g := New(plainTheme, false)
	g.Columns.Set([]Column{{Name: "A"}, {Name: "B", MinGridWidth: 60}, {Name: "C"}}, 2)
	g.SetRows(NewList([]*Row{row("1", "first", "second", "third")}))
	g.SetSize(40, 3)
	for column, want := range []string{"first  |  third", "first  second  |  third", "first  |  third"} {
		g.Columns.GoTo(column)
		if got := linesOf(g)[1]; !strings.Contains(got, want) {
			t.Errorf("in column %d the row is %q, want %q in it", column, got, want)
		}
	}
}
