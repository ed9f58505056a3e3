package grid

import (
	"maps"
	"slices"
)

// marks is the set of marked rows.
type marks struct {
	ids    map[string]struct{}
	anchor int // start of a range, -1 for none
}

// SetMarks replaces the marks.
func (m *marks) SetMarks(ids []string) {
	m.Unmark()
	for _, id := range ids {
		m.ids[id] = struct{}{}
	}
}

// Unmark removes all marks.
func (m *marks) Unmark() {
	clear(m.ids)
	m.anchor = -1
}

// UnmarkID removes the mark of a row.
func (m *marks) UnmarkID(id string) { delete(m.ids, id) }

// MarkCount returns the number of marked rows.
func (m *marks) MarkCount() int { return len(m.ids) }

// Marked reports whether the row with an ID is marked.
func (m *marks) Marked(id string) bool {
	_, marked := m.ids[id]
	return marked
}

// MarkedIDs returns the sorted IDs of the marked rows, including rows that are not
// loaded.
func (m *marks) MarkedIDs() []string { return slices.Sorted(maps.Keys(m.ids)) }
