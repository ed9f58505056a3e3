package grid

import (
	"slices"

	"github.com/bizhook/whd/tui/theme"
)

// maxMeasured is the number of rows that are remembered as measured.
const maxMeasured = 1000

// contents measures the cells of the rows that have been visible.
type contents struct {
	theme   *theme.Theme
	rows    map[*Row]struct{} // rows that have been measured; a refreshed one is another
	ids     []string          // IDs of the first usualRows rows
	columns []columnContent
}

// newContents returns the measures of a number of columns, of no rows yet.
func newContents(t *theme.Theme, columns int) contents {
	return contents{
		theme:   t,
		rows:    make(map[*Row]struct{}),
		columns: make([]columnContent, columns),
	}
}

// has reports whether a row has been measured.
func (c *contents) has(row *Row) bool {
	_, ok := c.rows[row]
	return ok
}

// add measures the cells of a row. It reports whether the texts of a column have a shorter start in
// common now.
func (c *contents) add(row *Row) (hasShorterStart bool) {
	if len(c.rows) >= maxMeasured {
		clear(c.rows)
	}
	c.rows[row] = struct{}{}
	if len(c.ids) < usualRows && !slices.Contains(c.ids, row.ID) {
		c.ids = append(c.ids, row.ID)
	}
	for i := range min(len(c.columns), len(row.Cells)) {
		cell := row.Cells[i]
		column := &c.columns[i]
		column.addWidth(row.ID, c.cellWidth(cell))
		if !cell.Null && column.addText(cell.Text) {
			hasShorterStart = true
		}
	}
	return hasShorterStart
}

// cellWidth returns the width of a cell.
func (c *contents) cellWidth(cell Cell) int {
	if cell.Null || cell.Zero {
		return 1
	}
	_, width := c.theme.Sanitize(cell.Text, widest)
	return width
}

// A cell is extreme from this number of rows on if it is wider than all others by this factor and this
// number of cells on the screen.
const (
	usualRows    = 6
	extremeTimes = 2
	extremeMore  = 8
)

// width returns the width that the cells of a column need, up to its maximum. An extreme one is left
// out, except in numbers, which would be misread, and in columns with a maximum of their own, which
// allow it.
func (c *contents) width(i int, column Column) int {
	content := &c.columns[i]
	width := content.largest
	mayLeaveOut := !column.Right && column.Max == 0 && len(c.ids) >= usualRows
	if mayLeaveOut && content.hasExtreme() {
		width = content.second
	}
	return min(width, column.max())
}

// columnContent measures the cells of a column.
type columnContent struct {
	largest   int    // width of the widest cell seen so far
	second    int    // width of the widest one in another row
	largestID string // the row of the widest one

	texts       int    // number of texts seen so far
	start       string // the start that all of them have in common
	startLength int    // its width in cells
}

// addWidth adds the width of a cell in the row with an ID. A row that has been refreshed is the same.
func (c *columnContent) addWidth(id string, width int) {
	if id == c.largestID {
		c.largest = max(c.largest, width)
		return
	}
	if width <= c.largest {
		c.second = max(c.second, width)
		return
	}
	c.second = c.largest
	c.largest = width
	c.largestID = id
}

// hasExtreme reports whether a single cell is much wider than the others.
func (c *columnContent) hasExtreme() bool { return c.largest > extremeTimes*c.second+extremeMore }

// addText adds a text to the start that all have in common. It reports whether the start is shorter
// now.
func (c *columnContent) addText(text string) bool {
	if text == "" {
		return false
	}
	c.texts++
	if c.texts == 1 {
		c.start = text
		c.startLength = theme.Width(text)
		return false
	}
	common := 0
	for common < min(len(c.start), len(text)) && c.start[common] == text[common] {
		common++
	}
	if common == len(c.start) {
		return false
	}
	c.start = c.start[:common]
	c.startLength = theme.Width(c.start)
	return true
}

// startAlike reports whether texts that are cut at the end to a number of cells would all look the
// same.
func (c *columnContent) startAlike(cells int) bool { return c.texts > 1 && c.startLength >= cells-1 }
