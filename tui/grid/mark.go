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
