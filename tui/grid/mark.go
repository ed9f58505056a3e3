package grid

import (
	"maps"
	"slices"
)

// Marks is the set of marked rows.
type Marks struct {
	ids    map[string]struct{}
	anchor int // start of a range, -1 for none
}

// Set replaces the marks.
func (m *Marks) Set(ids []string) {
	m.Clear()
	for _, id := range ids {
		m.ids[id] = struct{}{}
	}
}

// Clear removes all marks.
func (m *Marks) Clear() {
	clear(m.ids)
	m.anchor = -1
}

// Remove removes the mark of a row.
func (m *Marks) Remove(id string) { delete(m.ids, id) }

// Len returns the number of marked rows.
func (m *Marks) Len() int { return len(m.ids) }

// Has reports whether the row with an ID is marked.
func (m *Marks) Has(id string) bool {
	_, marked := m.ids[id]
	return marked
}

// IDs returns the sorted IDs of the marked rows, including rows that are not
// loaded.
func (m *Marks) IDs() []string { return slices.Sorted(maps.Keys(m.ids)) }

// Mark toggles the mark of the selected row and selects the next row.
func (g *Grid) Mark() {
	row := g.Row()
	if row == nil {
		return
	}
	if g.Marks.Has(row.ID) {
		g.Marks.Remove(row.ID)
	} else {
		g.Marks.ids[row.ID] = struct{}{}
	}
	g.Marks.anchor = g.index
	g.Move(1)
}

// MarkRange marks the rows between the last marked row and the selected one. It returns
// the number of rows that are loading and were not marked.
func (g *Grid) MarkRange() (missing int) {
	if g.Marks.anchor < 0 {
		g.Marks.anchor = g.index
	}
	for i := min(g.Marks.anchor, g.index); i <= max(g.Marks.anchor, g.index); i++ {
		if row := g.rows.Row(i); row != nil {
			g.Marks.ids[row.ID] = struct{}{}
		} else {
			missing++
		}
	}
	g.Marks.anchor = g.index
	return missing
}

// MarkedRows returns the loaded rows that are marked, in order.
func (g *Grid) MarkedRows() []*Row {
	var rows []*Row
	for i := range g.rows.Len() {
		if len(rows) == len(g.Marks.ids) {
			break
		}
		if row := g.rows.Row(i); row != nil && g.Marks.Has(row.ID) {
			rows = append(rows, row)
		}
	}
	return rows
}
