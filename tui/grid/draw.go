package grid

import (
	"strings"

	"github.com/bizhook/whd/tui/theme"
)

const (
	gutter   = 3 // cells before the first column: pointer and mark
	between  = 2 // cells between columns
	fence    = 5 // cells between the frozen columns and the others
	cutRoom  = 4 // cells from which on part of a column is worth showing
	keptRows = 4 // screens of rows whose cells stay drawn
)

// placed is a column that is seen.
type placed struct {
	column int
	width  int
	cut    bool // not all of it is seen
}

// arrange finds out which columns are seen, and how wide. Frozen columns take
// at most a third of the width, so that the others can be seen too.
func (g *Grid) arrange() {
	g.layout = g.layout[:0]
	room := g.width - gutter
	g.give(room)
	frozenRoom := room
	if g.frozen < len(g.columns) {
		frozenRoom = room / 3
	}
	for i := range g.frozen {
		used := g.place(i, frozenRoom)
		frozenRoom -= used
		room -= used
	}
	if g.fenced() {
		room -= fence - between
	}
	for i := max(g.left, g.frozen); i < len(g.columns) && room > 0; i++ {
		used := g.place(i, room)
		if used == 0 {
			return
		}
		room -= used
	}
}

// give takes cells from the widest of the columns that give way, until all
// columns fit or none has any to give.
func (g *Grid) give(room int) {
	g.given = make([]int, len(g.columns))
	over := -between - room
	for i, c := range g.columns {
		if g.width >= c.From {
			over += g.columnWidth(i) + between
		}
	}
	for ; over > 0; over-- {
		widest := -1
		for i, c := range g.columns {
			if c.Flex && g.columnWidth(i) > max(c.Min, narrowest) && (widest < 0 || g.columnWidth(i) > g.columnWidth(widest)) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		g.given[widest]++
	}
}

// fenced reports whether a line stands behind the frozen columns.
func (g *Grid) fenced() bool { return g.frozen > 0 && g.frozen < len(g.columns) }

// place puts a column where there is room, and gives what it takes with the
// blanks behind it.
func (g *Grid) place(i, room int) int {
	width := g.columnWidth(i)
	cut := width > room
	if cut {
		if width = room; width < cutRoom {
			return 0
		}
	}
	g.layout = append(g.layout, placed{i, width, cut})
	return width + between
}

// whole reports whether a column is seen from end to end.
func (g *Grid) whole(column int) bool {
	for _, p := range g.layout {
		if p.column == column {
			return !p.cut
		}
	}
	return false
}

// View draws the grid: exactly height lines of exactly width cells.
func (g *Grid) View() string {
	if g.height == 0 {
		return ""
	}
	out := make([]byte, 0, g.width*g.height*2)
	out = g.titles(out)
	if g.head() == 2 {
		out = g.rule(append(out, '\n'))
	}
	for i := range g.body() {
		out = g.line(append(out, '\n'), g.top+i)
	}
	g.prune()
	return string(out)
}

// prune keeps the drawn cells from becoming ever more.
func (g *Grid) prune() {
	if len(g.fitted) <= keptRows*max(1, g.body()) {
		return
	}
	seen := make(map[*Row][]string, g.body())
	for i := range g.body() {
		if row := g.rows.Row(g.top + i); row != nil && g.fitted[row] != nil {
			seen[row] = g.fitted[row]
		}
	}
	g.fitted = seen
}

// columnsOf draws one line: what stands before the columns, each column by
// cell, and blanks to the end.
func (g *Grid) columnsOf(out []byte, before string, under theme.Ink, cell func(out []byte, p placed) []byte) []byte {
	used := min(gutter, g.width)
	if used < gutter {
		before = theme.Blanks(used)
	}
	out = theme.AppendInk(out, under, "", before)
	for i, p := range g.layout {
		out = cell(out, p)
		used += p.width
		if g.fenced() && p.column == g.frozen-1 && i+1 < len(g.layout) {
			out = theme.AppendInk(out, g.look.Rule, "", "  "+g.look.Fence)
			used += fence - between
		}
		gap := min(between, g.width-used)
		out = theme.AppendInk(out, under, "", theme.Blanks(gap))
		used += gap
	}
	return theme.AppendInk(out, under, "", theme.Blanks(g.width-used))
}

// titles draws the line of titles.
func (g *Grid) titles(out []byte) []byte {
	return g.columnsOf(out, theme.Blanks(gutter), "", func(out []byte, p placed) []byte {
		return theme.AppendInk(out, g.look.Title, "", g.title(p))
	})
}

// title is a column's title with the mark of the order, which stays when the
// title is cut.
func (g *Grid) title(p placed) string {
	c := g.columns[p.column]
	if g.sort.Column == "" || g.sort.Column != c.Name {
		return g.look.Fit(c.title(), p.width, c.Right)
	}
	mark := " " + g.look.Up
	if g.sort.Descending {
		mark = " " + g.look.Down
	}
	text, used := g.look.Inert(c.title(), p.width-2)
	if c.Right {
		return theme.Blanks(p.width-2-used) + text + mark
	}
	return text + mark + theme.Blanks(p.width-2-used)
}

// rule draws the line below the titles.
func (g *Grid) rule(out []byte) []byte {
	line := strings.Repeat(g.look.Line, g.width)
	if at := g.fenceAt(); at > 0 && at < g.width {
		line = strings.Repeat(g.look.Line, at) + g.look.Cross + strings.Repeat(g.look.Line, g.width-at-1)
	}
	return theme.AppendInk(out, g.look.Rule, "", line)
}

// fenceAt is the cell of the line behind the frozen columns, 0 where there is
// none.
func (g *Grid) fenceAt() int {
	at := gutter
	for i, p := range g.layout {
		if p.column == g.frozen-1 && g.fenced() && i+1 < len(g.layout) {
			return at + p.width + 2
		}
		at += p.width + between
	}
	return 0
}

// line draws one row.
func (g *Grid) line(out []byte, i int) []byte {
	if i >= g.rows.Len() {
		return append(out, theme.Blanks(g.width)...)
	}
	row := g.rows.Row(i)
	if row == nil {
		return g.waiting(out, i)
	}
	cells := g.cells(row)
	under := g.under(row, i == g.at)
	n := 0
	return g.columnsOf(out, g.pointer(i == g.at, g.Marked(row.ID)), under, func(out []byte, p placed) []byte {
		text, over := cells[n], theme.Ink("")
		n++
		if p.column < len(row.Cells) {
			over = row.Cells[p.column].Ink
			if row.Cells[p.column].Null {
				over = g.look.Null
			}
		}
		if i == g.at && p.column == g.column && !g.lines {
			over = g.look.Cursor
		}
		return theme.AppendInk(out, under, over, text)
	})
}

// under is the ink of a whole line.
func (g *Grid) under(row *Row, selected bool) theme.Ink {
	switch {
	case selected:
		return g.look.Selected
	case g.Marked(row.ID):
		return g.look.Marked
	}
	return row.Ink
}

// pointer is what stands before a row.
func (g *Grid) pointer(selected, marked bool) string {
	switch {
	case selected && marked:
		return g.look.Pointer + g.look.Mark + " "
	case selected:
		return " " + g.look.Pointer + " "
	case marked:
		return " " + g.look.Mark + " "
	}
	return theme.Blanks(gutter)
}

// waiting draws a row that is on its way.
func (g *Grid) waiting(out []byte, i int) []byte {
	under := g.look.Wait
	return g.columnsOf(out, g.pointer(i == g.at, false), under, func(out []byte, p placed) []byte {
		return theme.AppendInk(out, under, "", g.look.Fit(strings.TrimSpace(strings.Repeat(g.look.Loading+" ", 3)), p.width, g.columns[p.column].Right))
	})
}

// cells are the texts of the columns that are seen, each as wide as its column.
func (g *Grid) cells(row *Row) []string {
	if cells, ok := g.fitted[row]; ok {
		return cells
	}
	cells := make([]string, len(g.layout))
	for i, p := range g.layout {
		var c Cell
		if p.column < len(row.Cells) {
			c = row.Cells[p.column]
		}
		if c.Null {
			c.Text = g.look.Nothing
		}
		if g.columns[p.column].Both {
			c.Text = g.look.Middle(c.Text, p.width)
		}
		cells[i] = g.look.Fit(c.Text, p.width, g.columns[p.column].Right)
	}
	g.fitted[row] = cells
	return cells
}
