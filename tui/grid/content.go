package grid

import "github.com/bizhook/whd/tui/theme"

// maxMeasured is the number of rows that are remembered as measured.
const maxMeasured = 1000

// contents measures the cells of the rows that have been visible.
type contents struct {
	theme   *theme.Theme
	rows    map[*Row]struct{} // rows that have been measured
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
	for i := range min(len(c.columns), len(row.Cells)) {
		cell := row.Cells[i]
		column := &c.columns[i]
		column.addWidth(row, c.width(cell))
		if !cell.Null && column.addText(cell.Text) {
			hasShorterStart = true
		}
	}
	return hasShorterStart
}

// width returns the width of a cell.
func (c *contents) width(cell Cell) int {
	if cell.Null || cell.Zero {
		return 1
	}
	_, width := c.theme.Sanitize(cell.Text, widest)
	return width
}

// columnContent measures the cells of a column.
type columnContent struct {
	cells     int // number of cells seen so far
	largest   int // width of the widest of them
	second    int // width of the widest but one
	largestIn *Row

	texts       int    // number of texts seen so far
	start       string // the start that all of them have in common
	startLength int    // its width in cells
}

// Cells count as exceptions from this number on if they are longer than all others by this
// factor and this number of characters.
const (
	usualCells   = 6
	extremeTimes = 2
	extremeMore  = 8
)

// addWidth adds the width of a cell in a row.
func (c *columnContent) addWidth(row *Row, width int) {
	if row == c.largestIn {
		return
	}
	c.cells++
	if width > c.largest {
		c.second = c.largest
		c.largest = width
		c.largestIn = row
		return
	}
	c.second = max(c.second, width)
}

// width returns the width that the cells need. A single extreme one is left out, except in
// numbers, which would be misread.
func (c *columnContent) width(isNumber bool) int {
	isExtreme := c.cells >= usualCells && c.largest > extremeTimes*c.second+extremeMore
	if isExtreme && !isNumber {
		return c.second
	}
	return c.largest
}

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
