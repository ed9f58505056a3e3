package grid

import (
	"slices"
	"testing"
)

func TestMarkRange(t *testing.T) {
	g := New(plainTheme, true)
	g.Columns.Set(columns("ID"), 1)
	g.SetSize(20, 12)
	g.SetRows(NewList(numberedRows(10, 1)))
	g.GoTo(2)
	g.Mark()
	g.GoTo(5)
	if missing := g.MarkRange(); missing != 0 || g.Marks.Len() != 4 || !g.Marks.Has("D00004") {
		t.Errorf("%d rows are marked, %d were missing; want 4 and none", g.Marks.Len(), missing)
	}
	g.SetRows(NewList(numberedRows(10, 1)[3:]))
	if rows := g.MarkedRows(); len(rows) != 3 || rows[0].ID != "D00003" {
		t.Errorf("%d marked rows are loaded, want 3", len(rows))
	}
	g.Marks.Clear()
	if g.Marks.Len() != 0 {
		t.Error("marks remain")
	}
}

// markGrid returns a grid with rows that have one cell, their ID.
func markGrid(rows []*Row) *Grid {
	g := New(plainTheme, true)
	g.Columns.Set(columns("ID"), 1)
	g.SetSize(20, 12)
	g.SetRows(NewList(rows))
	return g
}

// TestMarkRangeStartsAtMovedRow checks that a range starts at the row that was marked, although rows
// were added above it since.
func TestMarkRangeStartsAtMovedRow(t *testing.T) {
	rows := numberedRows(10, 1)
	g := markGrid(rows)
	g.GoTo(2)
	g.Mark()
	g.SetRows(NewList(slices.Concat([]*Row{row("X", "X"), row("Y", "Y")}, rows)))
	g.GoTo(7)
	g.MarkRange()
	want := []string{"D00002", "D00003", "D00004", "D00005"}
	if got := g.Marks.IDs(); !slices.Equal(got, want) {
		t.Errorf("row 2 was marked and moved to 4: the range to row 7 is %v, want %v", got, want)
	}
}

// TestMarkRangeWithoutStart checks that a range is only the selected row if the row that was marked
// last is gone.
func TestMarkRangeWithoutStart(t *testing.T) {
	rows := numberedRows(10, 1)
	g := markGrid(rows)
	g.GoTo(2)
	g.Mark()
	g.Marks.Remove("D00002")
	g.SetRows(NewList(slices.Delete(slices.Clone(rows), 2, 3)))
	g.GoTo(6)
	g.MarkRange()
	if got, want := g.Marks.IDs(), []string{"D00007"}; !slices.Equal(got, want) {
		t.Errorf("the row that was marked is gone: the range is %v, want %v", got, want)
	}
}

// TestMarkRangeOfNoRows checks that an empty grid has no row that is loading.
func TestMarkRangeOfNoRows(t *testing.T) {
	g := markGrid(nil)
	if missing := g.MarkRange(); missing != 0 {
		t.Errorf("without rows, %d are missing from the range, want 0", missing)
	}
}

// countingRows counts how often rows are read.
type countingRows struct {
	*List
	reads int
}

func (c *countingRows) Row(i int) *Row {
	c.reads++
	return c.List.Row(i)
}

// TestMarkedRowsReadsMarkedRows checks that marked rows are found by their IDs, in the order of the
// grid, also if one of them is not loaded.
func TestMarkedRowsReadsMarkedRows(t *testing.T) {
	g := markGrid(nil)
	rows := &countingRows{List: NewList(numberedRows(1000, 1))}
	g.SetRows(rows)
	g.Marks.Set([]string{"D00700", "D00020", "not loaded"})
	rows.reads = 0
	var got []string
	for _, row := range g.MarkedRows() {
		got = append(got, row.ID)
	}
	want := []string{"D00020", "D00700"}
	if !slices.Equal(got, want) || rows.reads > len(want) {
		t.Errorf("the marked rows are %v after %d reads, want %v after %d", got, rows.reads, want, len(want))
	}
}

// TestMarkedRowOnTwoPages checks that a row which moved to a page that is loaded again is returned
// once, while the stale page still has it.
func TestMarkedRowOnTwoPages(t *testing.T) {
	p := NewPages()
	rows := numberedRows(2*PageRows, 1)
	p.Put(p.Generation(), 0, rows[:PageRows])
	p.Put(p.Generation(), 1, rows[PageRows:])
	g := markGrid(nil)
	g.SetRows(p)
	last := rows[PageRows-1].ID
	end := rows[2*PageRows-2].ID
	g.Marks.Set([]string{last, end})

	p.MarkStale()
	p.Put(p.Generation(), 1, rows[PageRows-1:2*PageRows-1]) // a row was added to page 0
	var got []string
	for _, row := range g.MarkedRows() {
		got = append(got, row.ID)
	}
	if want := []string{last, end}; !slices.Equal(got, want) {
		t.Errorf("the marked rows are %v, want %v", got, want)
	}
}
