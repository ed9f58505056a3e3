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
	for i := range g.body() {
		out = g.line(append(out, '\n'), g.top+i)
	}
	g.pruneDrawn()
	return string(out)
}

// Panel returns the panel of the grid.
func (g *Grid) Panel() theme.Panel {
	return theme.Panel{Width: g.Columns.width, Height: g.height, Lines: strings.Split(g.View(), "\n")}
}

// pruneDrawn limits the size of the cell cache.
func (g *Grid) pruneDrawn() {
	if len(g.Columns.cellCache) <= cachedScreens*max(1, g.body()) {
		return
	}
	visible := make(map[*Row][]string, g.body())
	for i := range g.body() {
		row := g.rows.Row(g.top + i)
		if cells, ok := g.Columns.cellCache[row]; ok {
			visible[row] = cells
		}
	}
	g.Columns.cellCache = visible
}

// line draws row i.
func (g *Grid) line(out []byte, i int) []byte {
	if i >= g.rows.Len() {
		return g.blankLine(out, i)
	}
	row := g.rows.Row(i)
	if row == nil {
		return g.loadingLine(out, i)
	}
	selected := i == g.index
	cells := g.Columns.cells(row)
	base := g.rowRole(row, selected)
	prefix := g.rowPrefix(selected, g.Marks.Has(row.ID))
	return g.Columns.drawLine(out, prefix, base, func(out []byte, n int) []byte {
		column := g.Columns.visible[n].column
		override := row.cellRole(column)
		if selected && column == g.Columns.column && !g.Columns.rowMode {
			override = theme.CursorCell
		}
		return g.Columns.drawCell(out, base, override, cells[n], row.cellBar(column))
	})
}

// drawCell draws a cell, and its bar dimly. A bar that is cut is drawn as text.
func (l *Layout) drawCell(out []byte, base, role theme.Role, cell, bar string) []byte {
	if bar == "" {
		return l.theme.Append(out, base, role, cell)
	}
	before, after, isWhole := strings.Cut(cell, bar)
	if !isWhole {
		return l.theme.Append(out, base, role, cell)
	}
	out = l.theme.Append(out, base, theme.Plain, before)
	out = l.theme.Append(out, base, theme.Dim, bar)
	return l.theme.Append(out, base, role, after)
}

// emptyLine is the line of the text of a grid without rows, below a blank one.
const emptyLine = 1

// blankLine draws a line below the rows.
func (g *Grid) blankLine(out []byte, i int) []byte {
	if g.rows.Len() > 0 || i != emptyLine || g.Empty == nil {
		return append(out, theme.Spaces(g.Columns.width)...)
	}
	text := theme.Spaces(prefixWidth) + g.Empty()
	return g.Columns.theme.Append(out, theme.Dim, theme.Plain, g.Columns.theme.Fit(text, g.Columns.width, false))
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
	return pointer + mark + " "
}

// loadingLine draws a row that is loading.
func (g *Grid) loadingLine(out []byte, i int) []byte {
	t := g.Columns.theme
	placeholder := strings.TrimSpace(strings.Repeat(t.Loading+" ", 3))
	prefix := g.rowPrefix(i == g.index, false)
	return g.Columns.drawLine(out, prefix, theme.Faded, func(out []byte, n int) []byte {
		visible := g.Columns.visible[n]
		text := t.Fit(placeholder, visible.width, g.Columns.columns[visible.column].Right)
		return t.Append(out, theme.Faded, theme.Plain, text)
	})
}

// drawLine draws one line: a prefix, the visible columns, and padding. cell draws the visible
// column with index n.
func (l *Layout) drawLine(
	out []byte, prefix string, base theme.Role, cell func(out []byte, n int) []byte,
) []byte {
	used := min(prefixWidth, l.width)
	if used < prefixWidth {
		prefix = theme.Spaces(used)
	}
	out = l.theme.Append(out, base, theme.Accent, prefix)
	for i, visible := range l.visible {
		out = cell(out, i)
		used += visible.width
		if l.separatorAfter(i) {
			out = l.theme.Append(out, base, theme.Rule, "  "+l.theme.Separator)
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
	return l.drawLine(out, theme.Spaces(prefixWidth), theme.Plain, func(out []byte, n int) []byte {
		role := theme.Column
		if l.sort.Column != "" && l.columns[l.visible[n].column].Name == l.sort.Column {
			role = theme.Title
		}
		return l.theme.Append(out, role, theme.Plain, l.title(l.visible[n]))
	})
}

// title returns the title of a column. If it is truncated, the sort arrow remains.
func (l *Layout) title(visible visibleColumn) string {
	c := l.columns[visible.column]
	if l.sort.Column == "" || l.sort.Column != c.Name {
		return l.theme.Fit(c.title(), visible.width, c.Right)
	}
	arrow := " " + l.theme.Up
	if l.sort.Descending {
		arrow = " " + l.theme.Down
	}
	room := visible.width - sortArrowWidth
	text, used := l.theme.Sanitize(c.title(), room)
	if c.Right {
		return theme.Spaces(room-used) + text + arrow
	}
	return text + arrow + theme.Spaces(room-used)
}

// cells returns the drawn cells of a row, each as wide as its column.
func (l *Layout) cells(row *Row) []string {
	if cells, ok := l.cellCache[row]; ok {
		return cells
	}
	cells := make([]string, len(l.visible))
	for i, visible := range l.visible {
		column := l.columns[visible.column]
		var cell Cell
		if visible.column < len(row.Cells) {
			cell = row.Cells[visible.column]
		}
		if cell.Null {
			cell.Text = l.theme.Null
		}
		if cell.Zero {
			cell.Text = l.theme.Zero
		}
		if column.TruncateMiddle || l.content.columns[visible.column].startAlike(visible.width) {
			cell.Text = l.theme.TruncateMiddle(cell.Text, visible.width)
		}
		cells[i] = l.theme.Fit(cell.Text, visible.width, column.Right)
	}
	l.cellCache[row] = cells
	return cells
}
