package grid

import (
	"maps"
	"slices"
)

// Mark marks the selected row, or takes its mark away, and goes on to the next.
func (g *Grid) Mark() {
	row := g.Row()
	if row == nil {
		return
	}
	if _, marked := g.marks[row.ID]; marked {
		delete(g.marks, row.ID)
	} else {
		g.marks[row.ID] = struct{}{}
	}
	g.anchor = g.at
	g.Move(1)
}

// MarkRange marks everything between the row that was marked last and the
// selected one. Rows that are on their way cannot be marked; it tells how many
// those were.
func (g *Grid) MarkRange() (missing int) {
	if g.anchor < 0 {
		g.anchor = g.at
	}
	for i := min(g.anchor, g.at); i <= max(g.anchor, g.at); i++ {
		if row := g.rows.Row(i); row != nil {
			g.marks[row.ID] = struct{}{}
		} else {
			missing++
		}
	}
	g.anchor = g.at
	return missing
}

// SetMarks marks these rows and no others.
func (g *Grid) SetMarks(ids []string) {
	g.Unmark()
	for _, id := range ids {
		g.marks[id] = struct{}{}
	}
}

// Unmark takes all marks away.
func (g *Grid) Unmark() {
	clear(g.marks)
	g.anchor = -1
}

// Forget takes away the mark of a row.
func (g *Grid) Forget(id string) { delete(g.marks, id) }

// Marks is how many rows are marked.
func (g *Grid) Marks() int { return len(g.marks) }

// Marked reports whether the row of an id is marked.
func (g *Grid) Marked(id string) bool {
	_, marked := g.marks[id]
	return marked
}

// MarkedIDs lists the ids of the marked rows, also of those that are not here.
func (g *Grid) MarkedIDs() []string { return slices.Sorted(maps.Keys(g.marks)) }

// MarkedRows lists the marked rows that are here, in their order.
func (g *Grid) MarkedRows() []*Row {
	var rows []*Row
	for i := range g.rows.Len() {
		if len(rows) == len(g.marks) {
			break
		}
		if row := g.rows.Row(i); row != nil && g.Marked(row.ID) {
			rows = append(rows, row)
		}
	}
	return rows
}
