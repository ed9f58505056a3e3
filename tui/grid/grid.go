// Package grid provides the table widget of the screens. It draws only the visible
// cells, so its cost does not depend on the number of rows and columns. It scrolls by
// columns, supports frozen columns, and keeps the selection on the ID of a row when
// rows are added and removed. It handles no messages; screens call its methods.
package grid

import (
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/tui/theme"
)

// Grid is a table. Its columns and the marks of its rows are parts that callers address; a
// grid itself has the rows, the selected one and the visible ones.
type Grid struct {
	Columns Layout
	Marks   Marks

	// Empty returns the text in place of the rows if there are none: the reason, and the key that
	// changes it. It is nil for no text.
	Empty func() string

	rows      Rows
	height    int
	index     int    // the selected row
	id        string // ID of the selected row; empty while it is loading
	top       int    // first visible row
	following bool   // new rows at the top are shown
}

// New returns an empty grid. In row mode, whole rows are selected instead of cells.
func New(t *theme.Theme, rowMode bool) *Grid {
	g := &Grid{
		Columns: Layout{theme: t, manual: make(map[string]int), rowMode: rowMode},
		Marks:   Marks{ids: make(map[string]struct{})},
		rows:    NewList(nil),
	}
	g.Columns.invalidate()
	return g
}

// SetSize sets the size in cells, including the title lines.
func (g *Grid) SetSize(width, height int) {
	g.Columns.width = max(0, width)
	g.height = max(0, height)
	g.Columns.invalidate()
	g.show()
}

// Width returns the width in cells.
func (g *Grid) Width() int { return g.Columns.width }

// SetRows replaces the rows. The selection stays on its ID.
func (g *Grid) SetRows(rows Rows) {
	g.rows = rows
	g.Sync()
}

// Follow selects the first row, and shows rows that are added above it, until another row is
// selected by the user.
func (g *Grid) Follow(on bool) {
	g.following = on
	if on {
		g.GoTo(0)
	}
}

// Following reports whether rows that are added at the top are shown.
func (g *Grid) Following() bool { return g.following }

// Sync updates the grid after rows were added, changed or removed. The selected row
// keeps its place on the screen, unless rows above it are followed.
func (g *Grid) Sync() {
	if g.following {
		g.index = 0
	} else {
		g.restoreSelection()
	}
	g.index = max(0, min(g.index, g.rows.Len()-1))
	g.rememberID()
	g.show()
}

// restoreSelection selects the row with the ID of the selected one where it is now. If it is not loaded,
// the row that has taken its place is selected.
func (g *Grid) restoreSelection() {
	if g.id == "" || g.isSelected(g.index) {
		return
	}
	i := g.rows.Find(g.id)
	if i < 0 {
		return
	}
	if !g.following {
		g.top += i - g.index
	}
	g.index = i
}

func (g *Grid) isSelected(i int) bool {
	row := g.rows.Row(i)
	return row != nil && row.ID == g.id
}

// rememberID stores the ID of the selected row if it is loaded.
func (g *Grid) rememberID() {
	if row := g.rows.Row(g.index); row != nil {
		g.id = row.ID
	} else if g.rows.Len() == 0 {
		g.id = ""
	}
}

// show scrolls to the selected row and column. The columns are measured in between: which rows are
// visible decides how wide they are, and their widths decide which of them are visible.
func (g *Grid) show() {
	g.scroll()
	g.measure()
	g.Columns.revealColumn()
}

// scroll makes the selected row visible, with no more blank lines below the rows than necessary.
func (g *Grid) scroll() {
	body := max(1, g.body())
	g.top = min(g.top, g.index)
	g.top = max(g.top, g.index-body+1)
	g.top = max(0, min(g.top, g.rows.Len()-body))
}

// measure widens columns to fit the visible rows. It never narrows them, to avoid
// jumps, but room that was free goes to another column if that is cut more.
func (g *Grid) measure() {
	first, last := g.Window()
	hasAdded := false
	for i := first; i <= last; i++ {
		row := g.rows.Row(i)
		if row == nil || g.Columns.content.has(row) {
			continue
		}
		hasAdded = true
		if g.Columns.content.add(row) {
			clear(g.Columns.cellCache)
		}
	}
	if hasAdded {
		g.Columns.adjust()
	}
}

// Row returns the selected row, nil if there is none or it is loading.
func (g *Grid) Row() *Row { return g.rows.Row(g.index) }

// Index returns the index of the selected row.
func (g *Grid) Index() int { return g.index }

// Len returns the number of rows.
func (g *Grid) Len() int { return g.rows.Len() }

// body returns the number of visible rows.
func (g *Grid) body() int { return max(0, g.height-g.head()) }

// head returns the number of title lines.
func (g *Grid) head() int { return min(1, g.height) }

// Window returns the first and the last visible row. last is less than first if there
// are no rows.
func (g *Grid) Window() (first, last int) {
	return g.top, min(g.top+max(1, g.body()), g.rows.Len()) - 1
}

// Move moves the selection down by n rows.
func (g *Grid) Move(n int) { g.GoTo(g.index + n) }

// PageSize returns the number of rows that a page key moves.
func (g *Grid) PageSize() int { return max(1, g.body()-1) }

// GoTo selects a row by index.
func (g *Grid) GoTo(i int) {
	g.index = max(0, min(i, g.rows.Len()-1))
	if g.index != 0 {
		g.following = false
	}
	g.id = ""
	g.rememberID()
	g.show()
}

// Select selects a row by ID and reports whether it is loaded.
func (g *Grid) Select(id string) bool {
	i := g.rows.Find(id)
	if i >= 0 {
		g.GoTo(i)
	}
	return i >= 0
}

// SelectAt selects the cell at a position and reports whether it is a row or a title.
func (g *Grid) SelectAt(x, y int) (row, title bool) {
	isInside := x >= 0 && x < g.Columns.width && y >= 0 && y < g.height
	if !isInside {
		return false, false
	}
	i := g.top + y - g.head()
	title = y < g.head()
	if !title && i >= g.rows.Len() {
		return false, false
	}

	column := g.Columns.columnAt(x)
	if column >= 0 {
		g.Columns.GoTo(column)
	}
	if title {
		return false, column >= 0
	}
	g.GoTo(i)
	return true, false
}

// Count returns the number of the selected row and the number of rows, "" without rows.
func (g *Grid) Count() string {
	if g.rows.Len() == 0 {
		return ""
	}
	return display.Thousands(g.index+1) + " of " + display.Thousands(g.rows.Len())
}

// PositionText describes the visible columns, "" if all of them are visible or there are no rows.
func (g *Grid) PositionText() string {
	if g.rows.Len() == 0 {
		return ""
	}
	return g.Columns.positionText()
}
