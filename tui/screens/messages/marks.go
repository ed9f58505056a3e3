package messages

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
)

// marks are the marked messages of a list: single ones, or all matches.
type marks struct {
	query *query
	grid  *grid.Grid
	rows  *rows
	All   bool // all matches are marked, including rows that are not loaded
}

// markAll marks all matches.
func (m *marks) markAll() {
	m.All = true
	m.extend()
}

// extend marks newly loaded rows while all matches are marked.
func (m *marks) extend() {
	if m.All {
		m.grid.Marks.Set(m.rows.pages.LoadedIDs())
	}
}

// limit limits the marks to loaded rows when rows are marked one by one. It reports whether
// fewer messages are marked then.
func (m *marks) limit() bool {
	fewer := m.All && m.grid.Marks.Len() < m.rows.pages.Total()
	m.All = false
	return fewer
}

// set marks messages, and no others.
func (m *marks) set(ids []string) {
	m.All = false
	m.grid.Marks.Set(ids)
}

// clear removes all marks. It reports whether there were any.
func (m *marks) clear() bool {
	had := m.All || m.grid.Marks.Len() > 0
	m.All = false
	m.grid.Marks.Clear()
	return had
}

// messages returns the marked messages that are loaded.
func (m *marks) messages() []wire.Message {
	var list []wire.Message
	for _, row := range m.grid.MarkedRows() {
		list = append(list, m.rows.Known[row.ID])
	}
	return list
}

// filter returns the filter of the marked messages for an action, nil if none is marked. A
// retry of nothing but delivered messages names their status: otherwise they are skipped.
func (m *marks) filter(action keymap.Action) url.Values {
	if m.All {
		members := m.query.Filter.Members()
		if len(members) == 0 {
			members.Set("All", "true")
		}
		return members
	}
	if m.grid.Marks.Len() == 0 {
		return nil
	}
	members := url.Values{"MessageIDIn": record.Texts(m.grid.MarkedRows(), func(row *grid.Row) string { return row.ID })}
	allDelivered := !slices.ContainsFunc(m.messages(), func(message wire.Message) bool { return message.Status != delivered })
	if action == keymap.Retry && allDelivered {
		members.Set("Status", strconv.Itoa(delivered))
	}
	return members
}

// arguments returns the marked messages as arguments of whctl, empty if none is marked.
func (m *marks) arguments() string {
	if m.All {
		return cmp.Or(m.query.conditionArguments(), " --all-messages")
	}
	text := ""
	for _, row := range m.grid.MarkedRows() {
		text += " " + row.ID
	}
	return text
}

// text returns the status text, empty if no message is marked.
func (m *marks) text() string {
	switch n := m.grid.Marks.Len(); {
	case m.All:
		return "   " + display.Thousands(max(0, m.rows.pages.Total())) + " marked: all matches"
	case n > 0:
		return "   " + display.Thousands(n) + " marked"
	}
	return ""
}
