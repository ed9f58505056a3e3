package grid

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
func (g *Grid) Move(n int) { g.To(g.at + n) }

// Screen is how far a page up or down goes.
func (g *Grid) Screen() int { return max(1, g.body()-1) }

// To selects a row by its number.
func (g *Grid) To(i int) {
	g.at = max(0, min(i, g.rows.Len()-1))
	if g.at != 0 {
		g.follow = false
	}
	g.id = ""
	g.adopt()
	g.reveal()
	g.measure()
}

// Select selects the row of an id. It is false where that is not here.
func (g *Grid) Select(id string) bool {
	i := g.rows.Find(id)
	if i >= 0 {
		g.To(i)
	}
	return i >= 0
}

// reveal scrolls so that the selected row and column are seen.
func (g *Grid) reveal() {
	body := max(1, g.body())
	g.top = min(g.top, g.at)
	g.top = max(g.top, g.at-body+1)
	g.top = max(0, min(g.top, g.rows.Len()-body))
	g.revealColumn()
}

// MoveColumn goes to the right by n columns, or to the left.
func (g *Grid) MoveColumn(n int) { g.ToColumn(g.column + n) }

// ToColumn selects a column by its number.
func (g *Grid) ToColumn(i int) {
	g.column = max(0, min(i, len(g.columns)-1))
	g.revealColumn()
}

// revealColumn scrolls until the selected column is seen as a whole, or is the
// only one beside the frozen ones.
func (g *Grid) revealColumn() {
	if g.lines || len(g.columns) == 0 {
		return
	}
	before := g.left
	g.left = max(g.left, g.frozen)
	if g.column >= g.frozen {
		g.left = min(g.left, g.column)
	}
	g.arrange()
	for g.column >= g.frozen && g.left < g.column && !g.whole(g.column) {
		g.left++
		g.arrange()
	}
	if g.left != before {
		g.changed()
	}
}

// ScrollColumns moves what is seen by n columns, where whole rows are selected.
func (g *Grid) ScrollColumns(n int) {
	if n > 0 && len(g.layout) > 0 && g.layout[len(g.layout)-1].column == len(g.columns)-1 && !g.layout[len(g.layout)-1].cut {
		return
	}
	g.left = max(g.frozen, min(g.left+n, len(g.columns)-1))
	g.changed()
}

// Widen makes the selected column wider by n cells, or narrower.
func (g *Grid) Widen(n int) {
	c, ok := g.Column()
	if !ok {
		return
	}
	g.byHand[c.Name] = max(narrowest, min(g.columnWidth(g.column)+n, widest))
	g.changed()
	g.revealColumn()
}

// Widths are the widths that were chosen by hand, by column name.
func (g *Grid) Widths() map[string]int { return g.byHand }

// SetWidths takes the place of the widths that were chosen by hand.
func (g *Grid) SetWidths(widths map[string]int) {
	clear(g.byHand)
	for name, width := range widths {
		g.byHand[name] = max(narrowest, min(width, widest))
	}
	g.changed()
	g.revealColumn()
}

// columnWidth is how wide a column is drawn where there is room. The one that
// is sorted has room for the mark behind its title.
func (g *Grid) columnWidth(i int) int {
	c := g.columns[i]
	if w, chosen := g.byHand[c.Name]; chosen {
		return w
	}
	width := g.widths[i]
	if g.sort.Column == c.Name && c.Name != "" {
		width = max(width, g.titleWidth(c)+2)
	}
	if i < len(g.given) {
		width -= g.given[i]
	}
	return width
}
