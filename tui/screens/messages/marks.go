package messages

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
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
	hadMarks := m.All || m.grid.Marks.Len() > 0
	m.All = false
	m.grid.Marks.Clear()
	return hadMarks
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
	ids := record.Texts(m.grid.MarkedRows(), func(row *grid.Row) string { return row.ID })
	members := url.Values{"MessageIDIn": ids}
	allDelivered := !slices.ContainsFunc(m.messages(), func(message wire.Message) bool {
		return message.Status != ui.StatusDelivered
	})
	if action == keymap.Retry && allDelivered {
		members.Set("Status", strconv.Itoa(ui.StatusDelivered))
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

// loaded returns the number of marked messages that are loaded: actions concern no others.
func (m *marks) loaded() int {
	n := 0
	for _, id := range m.grid.Marks.IDs() {
		if m.rows.pages.Find(id) >= 0 {
			n++
		}
	}
	return n
}

// text returns the status text, empty if no message is marked.
func (m *marks) text() string {
	n := m.loaded()
	if m.All {
		return "   " + display.Thousands(max(0, m.rows.pages.Total())) + " marked: all matches"
	}
	if n > 0 {
		return "   " + display.Thousands(n) + " marked"
	}
	return ""
}

// copied returns the marked messages as tab-separated lines, or the selected one as JSON if none
// is marked. The note counts the messages left out because they are not loaded, and is empty if
// there are none.
func (m *marks) copied(selected wire.Message) (text, note string) {
	rows := m.grid.MarkedRows()
	if len(rows) == 0 {
		return messageJSON(selected), ""
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		message, ok := m.rows.Known[row.ID]
		if ok {
			lines[i] = m.rows.columns.line(message)
		}
	}
	missing := m.rows.pages.Total() - len(rows)
	if m.All && missing > 0 {
		note = display.Count(len(rows), "row", "rows") + " copied: " + display.Thousands(missing) +
			" more matches are not loaded"
	}
	return strings.Join(lines, "\n"), note
}

// Exportable returns the export of the filtered messages, with their bodies. The list does not
// have these, so that loaded messages are fetched too. The SubscriberID is left out: it is a key,
// and files are passed on.
func (m *marks) Exportable() browse.Exportable {
	kind := ui.MessageKind()
	e := browse.Exportable{
		Name:   "Messages",
		Help:   "all fields with the body, but no SubscriberID; order as on the screen",
		Query:  client.Query{Kind: kind, Where: m.query.Filter.Filters()},
		Key:    "MessageID",
		Total:  m.rows.pages.Total(),
		Marked: m.grid.Marks.IDs(),
		All:    m.All,
		Loaded: m.rows.pages.LoadedIDs(),
		Rows:   func(map[string]struct{}) ([]client.Row, bool) { return nil, false },
	}
	order := m.query.orderBy()
	if order != "" {
		e.Query.OrderBy = []string{order}
	}
	for _, f := range kind.Fields {
		if f.Name != "SubscriberID" {
			e.Columns = append(e.Columns, export.Column{Name: f.Name, Type: f.Type})
			e.Query.Fields = append(e.Query.Fields, f.Name)
		}
	}
	return e
}
