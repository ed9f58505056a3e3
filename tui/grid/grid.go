// Package grid is the table widget of the screens. It draws only what is seen,
// so neither the number of rows nor that of columns matters; it scrolls by
// columns, keeps the first ones in place, and holds its selection by the id of
// a row while rows come and go. It knows nothing of messages: screens call its
// methods.
package grid

import "github.com/bizhook/whd/tui/theme"

// Grid is a table on the screen.
type Grid struct {
	look    *theme.Look
	columns []Column
	widths  []int          // what the rows seen so far take
	byHand  map[string]int // widths that somebody chose, by column name
	rows    Rows
	width   int
	height  int
	lines   bool // rows are selected, not cells

	at     int    // the selected row
	id     string // of it; empty while it is on its way
	top    int    // the first row shown
	column int    // the selected column
	left   int    // the first column shown beside the frozen ones
	frozen int
	follow bool
	sort   Sort
	marks  map[string]struct{}
	anchor int // where a range of marks begins, -1 for none

	fitted map[*Row][]string // cells as they were drawn
	layout []placed          // of the columns that are seen
	given  []int             // cells that columns have given to others
}

// New makes an empty grid. With lines, whole rows are selected, and there is no
// selected column.
func New(look *theme.Look, lines bool) *Grid {
	g := &Grid{look: look, rows: NewList(nil), byHand: make(map[string]int), marks: make(map[string]struct{}), anchor: -1, lines: lines}
	g.changed()
	return g
}

// SetColumns gives the grid other columns. Widths that were chosen by hand stay
// with the names of the columns.
func (g *Grid) SetColumns(columns []Column, frozen int) {
	g.columns = columns
	g.widths, g.given = make([]int, len(columns)), nil
	for i, c := range columns {
		g.widths[i] = max(g.titleWidth(c), c.Min)
	}
	g.frozen = max(0, min(frozen, len(columns)))
	g.column = max(0, min(g.column, len(columns)-1))
	g.left = g.frozen
	g.changed()
}

func (g *Grid) titleWidth(c Column) int {
	_, width := g.look.Inert(c.title(), c.max())
	return width
}

// Columns are the columns in their order.
func (g *Grid) Columns() []Column { return g.columns }

// SetSize says how many cells and lines the grid has, its titles included.
func (g *Grid) SetSize(width, height int) {
	g.width, g.height = max(0, width), max(0, height)
	g.changed()
	g.reveal()
	g.measure() // more rows are seen, maybe
}

// SetRows gives the grid other rows. The selection stays on its id.
func (g *Grid) SetRows(rows Rows) {
	g.rows = rows
	g.Sync()
}

// SetLook changes how the grid is drawn.
func (g *Grid) SetLook(look *theme.Look) {
	g.look = look
	g.changed()
}

// SetSort shows the order that the rows are in.
func (g *Grid) SetSort(s Sort) {
	g.sort = s
	g.changed()
	g.reveal()
}

// Sort is the order that is shown.
func (g *Grid) Sort() Sort { return g.sort }

// Freeze keeps the first columns in place.
func (g *Grid) Freeze(columns int) {
	g.frozen = max(0, min(columns, len(g.columns)))
	g.left = max(g.left, g.frozen)
	g.changed()
	g.reveal()
}

// Frozen is how many columns stay in place.
func (g *Grid) Frozen() int { return g.frozen }

// Follow keeps the selection on the first row, whatever comes.
func (g *Grid) Follow(on bool) {
	if g.follow = on; on {
		g.To(0)
	}
}

// Following reports whether the selection stays on the first row.
func (g *Grid) Following() bool { return g.follow }

// Sync takes note that rows came, changed or went. The selected row keeps its
// place on the screen wherever it is now.
func (g *Grid) Sync() {
	if g.id != "" && !g.follow && !g.selects(g.at) {
		if i := g.rows.Find(g.id); i >= 0 {
			g.top, g.at = g.top+i-g.at, i
		}
	}
	if g.follow {
		g.at = 0
	}
	g.at = max(0, min(g.at, g.rows.Len()-1))
	g.adopt()
	g.measure()
	g.reveal()
}

func (g *Grid) selects(i int) bool {
	row := g.rows.Row(i)
	return row != nil && row.ID == g.id
}

// adopt remembers the id of the selected row, once it is here.
func (g *Grid) adopt() {
	if row := g.rows.Row(g.at); row != nil {
		g.id = row.ID
	} else if g.rows.Len() == 0 {
		g.id = ""
	}
}

// measure widens columns to what the shown rows take. They never become
// narrower by themselves, which would make everything jump.
func (g *Grid) measure() {
	first, last := g.Window()
	wider := false
	for i := first; i <= last; i++ {
		row := g.rows.Row(i)
		if row == nil {
			continue
		}
		if _, known := g.fitted[row]; known {
			continue
		}
		for c := range min(len(g.columns), len(row.Cells)) {
			if most := g.columns[c].max(); g.widths[c] < most {
				if w := g.cellWidth(row.Cells[c], most); w > g.widths[c] {
					g.widths[c], wider = w, true
				}
			}
		}
	}
	if wider {
		g.changed()
	}
}

func (g *Grid) cellWidth(c Cell, most int) int {
	if c.Null {
		return 1
	}
	_, width := g.look.Inert(c.Text, most)
	return width
}

// changed forgets everything that was drawn.
func (g *Grid) changed() {
	g.fitted = make(map[*Row][]string)
	g.arrange()
}

// Row is the selected row, nil where there is none or it is on its way.
func (g *Grid) Row() *Row { return g.rows.Row(g.at) }

// At is the number of the selected row.
func (g *Grid) At() int { return g.at }

// Len is the number of rows.
func (g *Grid) Len() int { return g.rows.Len() }

// Column is the selected column, false where there is none.
func (g *Grid) Column() (Column, bool) {
	if g.column >= len(g.columns) {
		return Column{}, false
	}
	return g.columns[g.column], true
}

// Cell is the selected cell.
func (g *Grid) Cell() (Cell, bool) {
	row := g.Row()
	if row == nil || g.column >= len(row.Cells) {
		return Cell{}, false
	}
	return row.Cells[g.column], true
}

// Lines reports whether whole rows are selected.
func (g *Grid) Lines() bool { return g.lines }

// ColumnAt is the number of the selected column.
func (g *Grid) ColumnAt() int { return g.column }
