package grid

import (
	"strings"

	"github.com/bizhook/whd/tui/theme"
)

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
	if len(g.drawn) <= keptRows*max(1, g.body()) {
		return
	}
	seen := make(map[*Row][]string, g.body())
	for i := range g.body() {
		if row := g.rows.Row(g.top + i); row != nil && g.drawn[row] != nil {
			seen[row] = g.drawn[row]
		}
	}
	g.drawn = seen
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
		text, over := cells[n], theme.Plain
		n++
		if p.column < len(row.Cells) {
			over = row.Cells[p.column].Role
			if row.Cells[p.column].Null {
				over = theme.Null
			}
		}
		if i == g.at && p.column == g.column && !g.lines {
			over = theme.Cursor
		}
		return g.theme.Append(out, under, over, text)
	})
}

// under is the style of a whole line.
func (g *Grid) under(row *Row, selected bool) theme.Role {
	switch {
	case selected:
		return theme.Selected
	case g.Marked(row.ID):
		return theme.Marked
	}
	return row.Role
}

// pointer is what stands before a row.
func (g *Grid) pointer(selected, marked bool) string {
	switch {
	case selected && marked:
		return g.theme.Pointer + g.theme.Mark + " "
	case selected:
		return " " + g.theme.Pointer + " "
	case marked:
		return " " + g.theme.Mark + " "
	}
	return theme.Blanks(gutter)
}

// waiting draws a row that is on its way.
func (g *Grid) waiting(out []byte, i int) []byte {
	return g.columnsOf(out, g.pointer(i == g.at, false), theme.Faded, func(out []byte, p placed) []byte {
		return g.theme.Append(out, theme.Faded, theme.Plain, g.theme.Fit(strings.TrimSpace(strings.Repeat(g.theme.Loading+" ", 3)), p.width, g.columns[p.column].Right))
	})
}

// columnsOf draws one line: what stands before the columns, each column by
// cell, and blanks to the end.
func (l *layout) columnsOf(out []byte, before string, under theme.Role, cell func(out []byte, p placed) []byte) []byte {
	used := min(gutter, l.width)
	if used < gutter {
		before = theme.Blanks(used)
	}
	out = l.theme.Append(out, under, theme.Plain, before)
	for i, p := range l.seen {
		out = cell(out, p)
		used += p.width
		if l.fenced() && p.column == l.frozen-1 && i+1 < len(l.seen) {
			out = l.theme.Append(out, theme.Rule, theme.Plain, "  "+l.theme.Fence)
			used += fence - between
		}
		gap := min(between, l.width-used)
		out = l.theme.Append(out, under, theme.Plain, theme.Blanks(gap))
		used += gap
	}
	return l.theme.Append(out, under, theme.Plain, theme.Blanks(l.width-used))
}

// titles draws the line of titles.
func (l *layout) titles(out []byte) []byte {
	return l.columnsOf(out, theme.Blanks(gutter), theme.Plain, func(out []byte, p placed) []byte {
		return l.theme.Append(out, theme.Title, theme.Plain, l.title(p))
	})
}

// title is a column's title with the mark of the order, which stays when the
// title is cut.
func (l *layout) title(p placed) string {
	c := l.columns[p.column]
	if l.sort.Column == "" || l.sort.Column != c.Name {
		return l.theme.Fit(c.title(), p.width, c.Right)
	}
	mark := " " + l.theme.Up
	if l.sort.Descending {
		mark = " " + l.theme.Down
	}
	text, used := l.theme.Inert(c.title(), p.width-2)
	if c.Right {
		return theme.Blanks(p.width-2-used) + text + mark
	}
	return text + mark + theme.Blanks(p.width-2-used)
}

// rule draws the line below the titles.
func (l *layout) rule(out []byte) []byte {
	line := strings.Repeat(l.theme.Line, l.width)
	if at := l.fenceAt(); at > 0 && at < l.width {
		line = strings.Repeat(l.theme.Line, at) + l.theme.Cross + strings.Repeat(l.theme.Line, l.width-at-1)
	}
	return l.theme.Append(out, theme.Rule, theme.Plain, line)
}

// fenceAt is the cell of the line behind the frozen columns, 0 where there is
// none.
func (l *layout) fenceAt() int {
	at := gutter
	for i, p := range l.seen {
		if p.column == l.frozen-1 && l.fenced() && i+1 < len(l.seen) {
			return at + p.width + 2
		}
		at += p.width + between
	}
	return 0
}

// cells are the texts of the columns that are seen, each as wide as its column.
func (l *layout) cells(row *Row) []string {
	if cells, ok := l.drawn[row]; ok {
		return cells
	}
	cells := make([]string, len(l.seen))
	for i, p := range l.seen {
		var c Cell
		if p.column < len(row.Cells) {
			c = row.Cells[p.column]
		}
		if c.Null {
			c.Text = theme.Nothing
		}
		if l.columns[p.column].Both {
			c.Text = l.theme.Middle(c.Text, p.width)
		}
		cells[i] = l.theme.Fit(c.Text, p.width, l.columns[p.column].Right)
	}
	l.drawn[row] = cells
	return cells
}
