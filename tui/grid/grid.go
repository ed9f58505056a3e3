// Package grid is the table widget of the screens. It draws only what is seen,
// so neither the number of rows nor that of columns matters; it scrolls by
// columns, keeps the first ones in place, and holds its selection by the id of
// a row while rows come and go. It knows nothing of messages: screens call its
// methods.
package grid

import (
	"fmt"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/tui/theme"
)

// Grid is a table on the screen.
type Grid struct {
	layout
	marks
	rows      Rows
	height    int
	index     int    // the selected row
	id        string // of it; empty while it is loading
	top       int    // the first row shown
	following bool
}

// New makes an empty grid. With lines, whole rows are selected, and there is no
// selected column.
func New(t *theme.Theme, rowMode bool) *Grid {
	g := &Grid{
		layout: layout{theme: t, manual: make(map[string]int), rowMode: rowMode},
		marks:  marks{ids: make(map[string]struct{}), anchor: -1},
		rows:   NewList(nil),
	}
	g.invalidate()
	return g
}

// SetSize says how many cells and lines the grid has, its titles included.
func (g *Grid) SetSize(width, height int) {
	g.width, g.height = max(0, width), max(0, height)
	g.invalidate()
	g.reveal()
	g.measure() // more rows are seen, maybe
}

// SetRows gives the grid other rows. The selection stays on its id.
func (g *Grid) SetRows(rows Rows) {
	g.rows = rows
	g.Sync()
}

// Follow keeps the selection on the first row, whatever comes.
func (g *Grid) Follow(on bool) {
	if g.following = on; on {
		g.GoTo(0)
	}
}

// Following reports whether the selection stays on the first row.
func (g *Grid) Following() bool { return g.following }

// Sync takes note that rows came, changed or went. The selected row keeps its
// place on the screen wherever it is now.
func (g *Grid) Sync() {
	if g.id != "" && !g.following && !g.isSelected(g.index) {
		if i := g.rows.Find(g.id); i >= 0 {
			g.top, g.index = g.top+i-g.index, i
		}
	}
	if g.following {
		g.index = 0
	}
	g.index = max(0, min(g.index, g.rows.Len()-1))
	g.rememberID()
	g.measure()
	g.reveal()
}

func (g *Grid) isSelected(i int) bool {
	row := g.rows.Row(i)
	return row != nil && row.ID == g.id
}

// rememberID remembers the id of the selected row, once it is here.
func (g *Grid) rememberID() {
	if row := g.rows.Row(g.index); row != nil {
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
		if _, known := g.cellCache[row]; known {
			continue
		}
		for c := range min(len(g.columns), len(row.Cells)) {
			if limit := g.columns[c].max(); g.widths[c].natural < limit {
				if w := g.cellWidth(row.Cells[c], limit); w > g.widths[c].natural {
					g.widths[c].natural, wider = w, true
				}
			}
		}
	}
	if wider {
		g.invalidate()
	}
}

// Row is the selected row, nil where there is none or it is on its way.
func (g *Grid) Row() *Row { return g.rows.Row(g.index) }

// Index is the number of the selected row.
func (g *Grid) Index() int { return g.index }

// Len is the number of rows.
func (g *Grid) Len() int { return g.rows.Len() }

// Cell is the selected cell.
func (g *Grid) Cell() (Cell, bool) {
	row := g.Row()
	if row == nil || g.column >= len(row.Cells) {
		return Cell{}, false
	}
	return row.Cells[g.column], true
}

// body is how many rows are shown at once.
func (g *Grid) body() int { return max(0, g.height-g.head()) }

// head is how many lines the titles take, with the rule below them where there
// is room.
func (g *Grid) head() int {
	if g.height >= 6 {
		return 2
	}
	return min(1, g.height)
}

// Window is the first and the last row that are seen. The last one is before
// the first where there are none.
func (g *Grid) Window() (first, last int) {
	return g.top, min(g.top+max(1, g.body()), g.rows.Len()) - 1
}

// Move goes down by n rows, or up.
func (g *Grid) Move(n int) { g.GoTo(g.index + n) }

// PageSize is how far a page up or down goes.
func (g *Grid) PageSize() int { return max(1, g.body()-1) }

// GoTo selects a row by its number.
func (g *Grid) GoTo(i int) {
	g.index = max(0, min(i, g.rows.Len()-1))
	if g.index != 0 {
		g.following = false
	}
	g.id = ""
	g.rememberID()
	g.reveal()
	g.measure()
}

// Select selects the row of an id. It is false where that is not here.
func (g *Grid) Select(id string) bool {
	i := g.rows.Find(id)
	if i >= 0 {
		g.GoTo(i)
	}
	return i >= 0
}

// reveal scrolls so that the selected row and column are seen.
func (g *Grid) reveal() {
	body := max(1, g.body())
	g.top = min(g.top, g.index)
	g.top = max(g.top, g.index-body+1)
	g.top = max(0, min(g.top, g.rows.Len()-body))
	g.revealColumn()
}

// Hit finds what is drawn at a cell of the grid: the number of a row, -1 for
// the titles, and the number of a column, -1 for none. It is false where
// nothing is.
func (g *Grid) Hit(x, y int) (row, column int, on bool) {
	if x < 0 || y < 0 || x >= g.width || y >= g.height {
		return 0, 0, false
	}
	row = g.top + y - g.head()
	if y < g.head() {
		row = -1
	}
	return row, g.columnAt(x), row < g.rows.Len()
}

// Mark marks the selected row, or takes its mark away, and goes on to the next.
func (g *Grid) Mark() {
	row := g.Row()
	if row == nil {
		return
	}
	if _, marked := g.ids[row.ID]; marked {
		delete(g.ids, row.ID)
	} else {
		g.ids[row.ID] = struct{}{}
	}
	g.anchor = g.index
	g.Move(1)
}

// MarkRange marks everything between the row that was marked last and the
// selected one. Rows that are on their way cannot be marked; it tells how many
// those were.
func (g *Grid) MarkRange() (missing int) {
	if g.anchor < 0 {
		g.anchor = g.index
	}
	for i := min(g.anchor, g.index); i <= max(g.anchor, g.index); i++ {
		if row := g.rows.Row(i); row != nil {
			g.ids[row.ID] = struct{}{}
		} else {
			missing++
		}
	}
	g.anchor = g.index
	return missing
}

// MarkedRows lists the marked rows that are here, in their order.
func (g *Grid) MarkedRows() []*Row {
	var rows []*Row
	for i := range g.rows.Len() {
		if len(rows) == len(g.ids) {
			break
		}
		if row := g.rows.Row(i); row != nil && g.Marked(row.ID) {
			rows = append(rows, row)
		}
	}
	return rows
}

// PositionText says which row is selected and which columns are seen.
func (g *Grid) PositionText() string {
	if g.rows.Len() == 0 {
		return "no rows"
	}
	text := fmt.Sprintf("row %s of %s", display.Thousands(g.index+1), display.Thousands(g.rows.Len()))
	if g.rowMode || len(g.columns) == 0 {
		return text
	}
	first, last := g.scrolledRange()
	if first > last {
		return text
	}
	less, more := "", ""
	if first > g.frozen {
		less = g.theme.Less + " "
	}
	if last < len(g.columns)-1 {
		more = " " + g.theme.More
	}
	return text + fmt.Sprintf("   %scols %d-%d of %d%s", less, first+1, last+1, len(g.columns), more)
}
