package grid

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

// columnAt is the column that is drawn at a cell, with the blanks behind it.
func (g *Grid) columnAt(x int) int {
	at := gutter
	for i, p := range g.layout {
		next := at + p.width + between
		if g.fenced() && p.column == g.frozen-1 && i+1 < len(g.layout) {
			next += fence - between
		}
		if x >= at && x < next {
			return p.column
		}
		at = next
	}
	return -1
}
