package grid

import (
	"slices"
	"unicode/utf8"

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

// add measures the cells of a row. It reports whether texts that were cut before may be cut at another
// place now.
func (c *contents) add(row *Row) (cutsMove bool) {
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
		isShown := !cell.Null && !cell.Zero
		if isShown && column.addText(row.ID, cell.Text) {
			cutsMove = true
		}
	}
	return cutsMove
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
	startID     string // the row of the first one
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

// addText adds the text of a cell in the row with an ID. It reports whether texts that were cut before
// may be cut at another place now.
func (c *columnContent) addText(id, text string) bool {
	if text == "" {
		return false
	}
	if c.texts == 0 {
		c.texts = 1
		c.startID = id
		c.setStart(text)
		return false
	}
	isFirst := id == c.startID && text == c.start
	if c.texts == 1 && isFirst {
		return false // the row has been refreshed
	}
	c.texts++
	common := commonStart(c.start, text)
	isShorter := common < len(c.start)
	if isShorter {
		c.setStart(c.start[:common])
	}
	return isShorter || c.texts == 2
}

func (c *columnContent) setStart(start string) {
	c.start = start
	c.startLength = theme.Width(start)
}

// startAlike reports whether texts that are cut at the end to a number of cells would all look the
// same.
func (c *columnContent) startAlike(cells int) bool { return c.texts > 1 && c.startLength >= cells-1 }

// commonStart returns how many bytes at the start of two texts are the same whole characters.
func commonStart(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return n
}
