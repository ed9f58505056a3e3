package grid

import (
	"strings"

	"github.com/bizhook/whd/tui/theme"
)

// View draws the grid as exactly height lines of exactly width cells.
func (g *Grid) View() string {
	if g.height == 0 {
		return ""
	}
	out := make([]byte, 0, g.Columns.width*g.height*2)
	out = g.Columns.titles(out)
	if g.head() == 2 {
		out = g.Columns.rule(append(out, '\n'))
	}
	for i := range g.body() {
		out = g.line(append(out, '\n'), g.top+i)
	}
	g.pruneDrawn()
	return string(out)
}

// pruneDrawn limits the size of the cell cache.
func (g *Grid) pruneDrawn() {
	if len(g.Columns.cellCache) <= cachedScreens*max(1, g.body()) {
		return
	}
	seen := make(map[*Row][]string, g.body())
	for i := range g.body() {
		if row := g.rows.Row(g.top + i); row != nil && g.Columns.cellCache[row] != nil {
			seen[row] = g.Columns.cellCache[row]
		}
	}
	g.Columns.cellCache = seen
}

// line draws row i.
func (g *Grid) line(out []byte, i int) []byte {
	if i >= g.rows.Len() {
		return append(out, theme.Spaces(g.Columns.width)...)
	}
	row := g.rows.Row(i)
	if row == nil {
		return g.loadingLine(out, i)
	}
	cells := g.Columns.cells(row)
	base := g.rowRole(row, i == g.index)
	n := 0
	return g.Columns.drawLine(out, g.rowPrefix(i == g.index, g.Marks.Has(row.ID)), base, func(out []byte, p visibleColumn) []byte {
		text, override := cells[n], theme.Plain
		n++
		if p.column < len(row.Cells) {
			override = row.Cells[p.column].Role
			if row.Cells[p.column].Null {
				override = theme.Null
			}
		}
		if i == g.index && p.column == g.Columns.column && !g.Columns.rowMode {
			override = theme.Cursor
		}
		return g.Columns.theme.Append(out, base, override, text)
	})
}

// rowRole returns the style of a row.
func (g *Grid) rowRole(row *Row, selected bool) theme.Role {
	if selected {
		return theme.Selected
	}
	if g.Marks.Has(row.ID) {
		return theme.Marked
	}
	return row.Role
}

// rowPrefix returns the pointer and the mark of a row.
func (g *Grid) rowPrefix(selected, marked bool) string {
	pointer, mark := " ", " "
	if selected {
		pointer = g.Columns.theme.Pointer
	}
	if marked {
		mark = g.Columns.theme.Mark
	}
	return mark + pointer + " "
}

// loadingLine draws a row that is loading.
func (g *Grid) loadingLine(out []byte, i int) []byte {
	return g.Columns.drawLine(out, g.rowPrefix(i == g.index, false), theme.Faded, func(out []byte, p visibleColumn) []byte {
		return g.Columns.theme.Append(out, theme.Faded, theme.Plain,
			g.Columns.theme.Fit(strings.TrimSpace(strings.Repeat(g.Columns.theme.Loading+" ", 3)),
				p.width, g.Columns.columns[p.column].Right))
	})
}

// drawLine draws one line: a prefix, each visible column by cell, and padding.
func (l *Layout) drawLine(
	out []byte, before string, base theme.Role, cell func(out []byte, p visibleColumn) []byte,
) []byte {
	used := min(prefixWidth, l.width)
	if used < prefixWidth {
		before = theme.Spaces(used)
	}
	out = l.theme.Append(out, base, theme.Plain, before)
	for i, p := range l.visible {
		out = cell(out, p)
		used += p.width
		if l.separatorAfter(i) {
			out = l.theme.Append(out, theme.Rule, theme.Plain, "  "+l.theme.Separator)
			used += separatorWidth - columnGap
		}
		gap := min(columnGap, l.width-used)
		out = l.theme.Append(out, base, theme.Plain, theme.Spaces(gap))
		used += gap
	}
	return l.theme.Append(out, base, theme.Plain, theme.Spaces(l.width-used))
}

// titles draws the title line.
func (l *Layout) titles(out []byte) []byte {
	return l.drawLine(out, theme.Spaces(prefixWidth), theme.Plain, func(out []byte, p visibleColumn) []byte {
		return l.theme.Append(out, theme.Title, theme.Plain, l.title(p))
	})
}

// title returns the title of a column. If it is truncated, the sort arrow remains.
func (l *Layout) title(p visibleColumn) string {
	c := l.columns[p.column]
	if l.sort.Column == "" || l.sort.Column != c.Name {
		return l.theme.Fit(c.title(), p.width, c.Right)
	}
	mark := " " + l.theme.Up
	if l.sort.Descending {
		mark = " " + l.theme.Down
	}
	text, used := l.theme.Sanitize(c.title(), p.width-2)
	if c.Right {
		return theme.Spaces(p.width-2-used) + text + mark
	}
	return text + mark + theme.Spaces(p.width-2-used)
}

// rule draws the line below the titles.
func (l *Layout) rule(out []byte) []byte {
	line := strings.Repeat(l.theme.Line, l.width)
	if x := l.separatorAt(); x > 0 && x < l.width {
		line = strings.Repeat(l.theme.Line, x) + l.theme.Cross + strings.Repeat(l.theme.Line, l.width-x-1)
	}
	return l.theme.Append(out, theme.Rule, theme.Plain, line)
}

// separatorAt returns the position of the line after the frozen columns, 0 if there is
// none.
func (l *Layout) separatorAt() int {
	x := prefixWidth
	for i, p := range l.visible {
		if l.separatorAfter(i) {
			return x + p.width + 2
		}
		x += p.width + columnGap
	}
	return 0
}

// cells returns the drawn cells of a row, each as wide as its column.
func (l *Layout) cells(row *Row) []string {
	if cells, ok := l.cellCache[row]; ok {
		return cells
	}
	cells := make([]string, len(l.visible))
	for i, p := range l.visible {
		var c Cell
		if p.column < len(row.Cells) {
			c = row.Cells[p.column]
		}
		if c.Null {
			c.Text = theme.NullText
		}
		if l.columns[p.column].TruncateMiddle {
			c.Text = l.theme.TruncateMiddle(c.Text, p.width)
		}
		cells[i] = l.theme.Fit(c.Text, p.width, l.columns[p.column].Right)
	}
	l.cellCache[row] = cells
	return cells
}
