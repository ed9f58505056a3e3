package grid

import "github.com/bizhook/whd/tui/theme"

// Row is one row as it is shown. It does not change: another row takes the
// place of one that did.
type Row struct {
	ID    string     // by which the row is told apart from all others
	Cells []Cell     // one for each column
	Role  theme.Role // of the whole line
}

// Cell is one value as it is shown.
type Cell struct {
	Text string
	Role theme.Role
	Null bool // there is no value; Text is empty
}

// Rows are what a grid shows.
type Rows interface {
	Len() int
	Row(i int) *Row     // nil while it is on its way
	Find(id string) int // the row of that id, -1 where it is not here
}

// List is rows that are all here.
type List struct {
	rows  []*Row
	index map[string]int
}

// NewList makes a list.
func NewList(rows []*Row) *List {
	l := &List{rows: rows, index: make(map[string]int, len(rows))}
	for i := len(rows) - 1; i >= 0; i-- {
		l.index[rows[i].ID] = i // of rows with the same id the first
	}
	return l
}

// Len is Rows'.
func (l *List) Len() int { return len(l.rows) }

// Row is Rows'.
func (l *List) Row(i int) *Row {
	if i < 0 || i >= len(l.rows) {
		return nil
	}
	return l.rows[i]
}

// Find is Rows'.
func (l *List) Find(id string) int {
	if i, ok := l.index[id]; ok {
		return i
	}
	return -1
}
