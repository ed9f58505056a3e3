package grid

import "testing"

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
