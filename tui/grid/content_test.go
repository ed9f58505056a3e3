package grid

import (
	"slices"
	"strconv"
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

// copiesOf returns rows as a refreshed list has them: new ones with the same IDs and cells.
func copiesOf(rows []*Row) *List {
	copies := make([]*Row, len(rows))
	for i, r := range rows {
		refreshed := *r
		copies[i] = &refreshed
	}
	return NewList(copies)
}

// A list that is refreshed keeps the widths of its columns: its extreme text is still the only one.
func TestRefreshKeepsWidths(t *testing.T) {
	rows := numberedRows(12, 2)
	rows[4].Cells[0].Text = strings.Repeat("x", 38)
	g := New(plainTheme, true)
	g.Columns.Set(columns("Name", "Amount>", "Total>"), 0)
	g.SetRows(NewList(rows))
	g.SetSize(30, 20)
	before := g.View()
	for range 3 {
		g.SetRows(copiesOf(rows))
	}
	if got := g.View(); got != before {
		t.Errorf("after refreshing the list is\n%s\nwant\n%s", got, before)
	}
}

// A second extreme text sets the width, also if its row had a short one before.
func TestSecondExtremeCellSetsWidth(t *testing.T) {
	rows := numberedRows(12, 1)
	rows[4].Cells[0].Text = strings.Repeat("x", 38)
	g := New(plainTheme, true)
	g.Columns.Set(columns("Name"), 0)
	g.SetRows(NewList(rows))
	g.SetSize(60, 20)
	changed := row(rows[7].ID, strings.Repeat("y", 36))
	rows[7] = changed
	g.SetRows(NewList(rows))
	if got := g.Columns.widths[0].natural; got != 38 {
		t.Errorf("with two long texts the column is %d wide, want 38", got)
	}
}

// A list with few rows has no exceptions, however often it is refreshed.
func TestRefreshedRowsAreNoFurtherRows(t *testing.T) {
	rows := numberedRows(3, 1)
	g := New(plainTheme, true)
	g.Columns.Set(columns("Name"), 0)
	g.SetSize(60, 20)
	for range 3 {
		g.SetRows(copiesOf(rows))
	}
	rows = append(rows, row("new", strings.Repeat("x", 38)))
	g.SetRows(NewList(rows))
	if got := g.Columns.widths[0].natural; got != 38 {
		t.Errorf("the column of 4 rows is %d wide, want 38", got)
	}
}

// A column with a maximum of its own is as wide as its widest text up to that, also if it is the only
// long one: an error among many rows without one.
func TestMaximumAllowsExtremeCell(t *testing.T) {
	rows := numberedRows(12, 2)
	for _, r := range rows {
		r.Cells[1] = Cell{Text: "200"}
	}
	rows[4].Cells[1].Text = "connection refused"
	g := New(plainTheme, true)
	g.Columns.Set([]Column{{Name: "ID"}, {Name: "HTTP", Max: 20}}, 0)
	g.SetRows(NewList(rows))
	g.SetSize(60, 20)
	if got := g.Columns.widths[1].natural; got != 18 {
		t.Errorf("the column is %d wide, want 18", got)
	}
}

// Whether texts are cut in the middle depends on their common start in cells, not in bytes, and not on
// the order of their rows or on empty ones.
func TestStartAlike(t *testing.T) {
	for _, c := range []struct {
		texts []string
		cells int
		want  bool
	}{
		{[]string{"Заказ-поставщику-1", "Заказ-сборка-2"}, 10, false},
		{[]string{"Заказ-поставщику-1", "Заказ-сборка-2"}, 7, true},
		{[]string{"é1", "è2"}, 2, false}, // which share a byte
		{[]string{"", "XC2000001", "XC2000002"}, 8, true},
		{[]string{"XC2000001", "", "XC2000002"}, 8, true},
		{[]string{"XC2000001", "XC2000002", ""}, 8, true},
		{[]string{"XC2000001"}, 8, false},
		{[]string{"XC2000001", "XC2000001"}, 8, true},
	} {
		content := newContents(plainTheme, 1)
		for i, text := range c.texts {
			content.add(row(strconv.Itoa(i), text))
		}
		if got := content.columns[0].startAlike(c.cells); got != c.want {
			t.Errorf("%q look the same in %d cells: %t, want %t", c.texts, c.cells, got, c.want)
		}
	}
}

// Rows that were drawn before are cut like those that have become visible since.
func TestVisibleRowsAreCutAlike(t *testing.T) {
	for _, texts := range [][]string{
		{"", "XC20000000000001", "XC20000000000001"}, // cut in the middle from the second one on
		{"XC20000000000001", "XC20000000000002", "YA30000000000001"},
	} {
		g := New(plainTheme, true)
		g.Columns.Set([]Column{{Name: "ID", Max: 10}}, 0)
		var rows []*Row
		for i, text := range texts {
			rows = append(rows, row(strconv.Itoa(i), text))
		}
		g.SetRows(NewList(rows))
		g.SetSize(14, len(texts)) // all but the last one, below the title
		g.View()
		g.GoTo(len(texts) - 1)
		got := linesOf(g)[1:]
		g.Columns.invalidate()
		if want := linesOf(g)[1:]; !slices.Equal(got, want) {
			t.Errorf("after scrolling the rows are %q, want %q", got, want)
		}
	}
}

// A single row is cut at the same place after it has been refreshed.
func TestRefreshKeepsCut(t *testing.T) {
	rows := []*Row{row("1", "XC20000000000001")}
	g := New(plainTheme, true)
	g.Columns.Set([]Column{{Name: "ID", Max: 10}}, 0)
	g.SetRows(NewList(rows))
	g.SetSize(14, 3)
	before := g.View()
	g.SetRows(copiesOf(rows))
	if got := g.View(); got != before {
		t.Errorf("after refreshing the list is\n%s\nwant\n%s", got, before)
	}
}
