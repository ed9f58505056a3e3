package grid

import (
	"maps"
	"slices"
)

// marks are the marked rows.
type marks struct {
	ids    map[string]struct{}
	anchor int // where a range of marks begins, -1 for none
}

// SetMarks marks these rows and no others.
func (m *marks) SetMarks(ids []string) {
	m.Unmark()
	for _, id := range ids {
		m.ids[id] = struct{}{}
	}
}

// Unmark takes all marks away.
func (m *marks) Unmark() {
	clear(m.ids)
	m.anchor = -1
}

// UnmarkID takes away the mark of a row.
func (m *marks) UnmarkID(id string) { delete(m.ids, id) }

// MarkCount is how many rows are marked.
func (m *marks) MarkCount() int { return len(m.ids) }

// Marked reports whether the row of an id is marked.
func (m *marks) Marked(id string) bool {
	_, marked := m.ids[id]
	return marked
}

// MarkedIDs lists the ids of the marked rows, also of those that are not here.
func (m *marks) MarkedIDs() []string { return slices.Sorted(maps.Keys(m.ids)) }
