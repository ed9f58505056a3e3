package grid

import (
	"maps"
	"slices"
)

// Marks is the set of marked rows.
type Marks struct {
	ids    map[string]struct{}
	anchor string // ID of the row at which a range starts; empty for none
}

// Set replaces the marks.
func (m *Marks) Set(ids []string) {
	m.Clear()
	for _, id := range ids {
		m.add(id)
	}
}

// Clear removes all marks.
func (m *Marks) Clear() {
	clear(m.ids)
	m.anchor = ""
}

// add marks a row.
func (m *Marks) add(id string) { m.ids[id] = struct{}{} }

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
		g.Marks.add(row.ID)
	}
	g.Marks.anchor = row.ID
	g.Move(1)
}

// MarkRange marks the rows from the one that was marked last to the selected one, even if both have
// moved since. Without the former it marks the selected row only, rather than rows that the user
// did not choose. It returns the number of rows that are loading and were not marked.
func (g *Grid) MarkRange() (missing int) {
	if g.rows.Len() == 0 {
		return 0
	}
	start := g.index
	if i := g.rows.Find(g.Marks.anchor); i >= 0 {
		start = i
	}
	for i := min(start, g.index); i <= max(start, g.index); i++ {
		if row := g.rows.Row(i); row != nil {
			g.Marks.add(row.ID)
		} else {
			missing++
		}
	}
	if row := g.Row(); row != nil {
		g.Marks.anchor = row.ID
	}
	return missing
}

// MarkedRows returns the loaded rows that are marked, in order. They are looked up by their IDs:
// the status line counts them, and there can be a million rows.
func (g *Grid) MarkedRows() []*Row {
	var indexes []int
	for id := range g.Marks.ids {
		if i := g.rows.Find(id); i >= 0 {
			indexes = append(indexes, i)
		}
	}
	slices.Sort(indexes)
	var rows []*Row
	for _, i := range indexes {
		if row := g.rows.Row(i); row != nil {
			rows = append(rows, row)
		}
	}
	return rows
}
