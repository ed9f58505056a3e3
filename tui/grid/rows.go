package grid

import "github.com/bizhook/whd/tui/theme"

// Row is one displayed row. It is immutable: a changed row is replaced.
type Row struct {
	ID    string     // identifies the row
	Cells []Cell     // one per column
	Role  theme.Role // style of the whole line
}

// Cell is one displayed value.
type Cell struct {
	Text string
	Bar  string // the start of Text that is drawn as a bar; "" for none
	Role theme.Role
	Null bool // no value; Text is not shown
	Zero bool // the number zero, which is shown as a sign; Text is not shown
}

// cellRole returns the style of the cell in a column, Plain if the row has no such cell.
func (r *Row) cellRole(column int) theme.Role {
	if column >= len(r.Cells) {
		return theme.Plain
	}
	if r.Cells[column].Null || r.Cells[column].Zero {
		return theme.Null
	}
	return r.Cells[column].Role
}

// cellBar returns the bar of the cell in a column, "" if the row has no such cell.
func (r *Row) cellBar(column int) string {
	if column >= len(r.Cells) {
		return ""
	}
	return r.Cells[column].Bar
}

// Rows is the data of a grid.
type Rows interface {
	Len() int
	Row(i int) *Row     // nil while it is loading
	Find(id string) int // index of the row with an ID, -1 if it is not loaded
}

// List is rows that are all loaded.
type List struct {
	rows  []*Row
	index map[string]int
}

// NewList returns a list of rows.
func NewList(rows []*Row) *List {
	l := &List{rows: rows, index: make(map[string]int, len(rows))}
	for i := len(rows) - 1; i >= 0; i-- {
		l.index[rows[i].ID] = i // the first row with an ID wins
	}
	return l
}

func (l *List) Len() int { return len(l.rows) }

func (l *List) Row(i int) *Row {
	if i < 0 || i >= len(l.rows) {
		return nil
	}
	return l.rows[i]
}

func (l *List) Find(id string) int {
	if i, ok := l.index[id]; ok {
		return i
	}
	return -1
}
