package messages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// messageColumn is a column of the list of messages.
type messageColumn struct {
	grid.Column
	field string // of the record, by which the service orders and filters; empty for none
	cell  func(s *List, m wire.Message) grid.Cell
	text  func(s *List, m wire.Message) string // what is copied of it; nil for what is shown
}

// UsualColumns are the columns in their usual order. Up to subscriberFrom
// cells, the last one is seen by those alone who go there.
var UsualColumns = []messageColumn{
	{grid.Column{Name: "Status", Min: 7}, "Status", (*List).statusCell, func(_ *List, m wire.Message) string { return m.MessageID }},
	{grid.Column{Name: "Event", Min: 10, Max: 32, Flex: true}, "EventName", func(_ *List, m wire.Message) grid.Cell { return grid.Cell{Text: m.EventName} }, nil},
	{grid.Column{Name: "To", Min: 10, Max: 60, Flex: true, TruncateMiddle: true}, "URL", func(_ *List, m wire.Message) grid.Cell { return grid.Cell{Text: ui.ShortURL(m.URL)} }, func(_ *List, m wire.Message) string { return m.URL }},
	{grid.Column{Name: "Try", Right: true, Min: 4}, "Retries", func(_ *List, m wire.Message) grid.Cell { return grid.Cell{Text: tries(m)} }, nil},
	{grid.Column{Name: "HTTP", Min: 4, Max: 20, Flex: true}, "LastMessageResponseHTTPCode", func(_ *List, m wire.Message) grid.Cell { return grid.Cell{Text: ui.LastResult(m)} }, nil},
	{grid.Column{Name: "Next", Min: 7}, "NextAttemptDateTime", func(s *List, m wire.Message) grid.Cell { return grid.Cell{Text: next(m, s.Session)} }, nil},
	{grid.Column{Name: AgeColumn, Right: true, Min: 4}, "AddedDateTime", (*List).ageCell, nil},
	{grid.Column{Name: "Subscriber", Min: 10, Max: 24, Flex: true, MinGridWidth: subscriberFrom}, "", (*List).subscriberCell, nil},
}

// shownOtherwise are the fields of messages that are part of another column, or of
// the detail.
var shownOtherwise = []string{"ItemNo", "SubscriberID", "SubscriptionID", "MessageID", "Body", "LastSavedDateTime", "LastMessageResponseMessage", "MaxRetries"}

// Columns are the usual columns, and one for each field of messages that none
// of them shows.
var Columns = sync.OnceValue(func() []messageColumn {
	all := slices.Clone(UsualColumns)
	for _, f := range ui.MessageKind().Fields {
		if slices.Contains(shownOtherwise, f.Name) || slices.ContainsFunc(UsualColumns, func(c messageColumn) bool { return c.field == f.Name }) {
			continue
		}
		all = append(all, messageColumn{grid.Column{Name: f.Name, Right: f.Type.Number(), Min: 4, Max: 40, Flex: true}, f.Name,
			func(s *List, m wire.Message) grid.Cell {
				return grid.Cell{Text: fieldText(m, f.Name, s.TimeText)}
			}, nil})
	}
	return all
})

// fieldText is a field of a message as people read it.
func fieldText(m wire.Message, field string, moment func(time.Time) string) string {
	switch value := reflect.Indirect(reflect.ValueOf(m).FieldByName(field)); {
	case !value.IsValid():
		return ""
	case value.Type() == reflect.TypeFor[wire.Timestamp]():
		return moment(time.Time(value.Interface().(wire.Timestamp)))
	default:
		return fmt.Sprint(value)
	}
}

const (
	subscriberFrom = 100
	AgeColumn      = "Age"
)

// signColumn tells of changes. It is always there, and nothing is chosen by it.
var signColumn = messageColumn{Column: grid.Column{Name: " ", Min: 2}, cell: (*List).signCell}

// shownColumn is one of the columns by its name.
func shownColumn(name string) (messageColumn, bool) {
	all := Columns()
	i := slices.IndexFunc(all, func(c messageColumn) bool { return c.Name == name })
	if i < 0 {
		return messageColumn{}, false
	}
	return all[i], true
}

// UsualMessageColumns are the names of the columns that are shown at first.
func UsualMessageColumns() []string {
	var names []string
	for _, c := range UsualColumns {
		names = append(names, c.Name)
	}
	return names
}

// columns are those of a list.
type columns struct {
	*List
	visible []messageColumn // those that are shown, with the one for signs
}

// show shows these columns. The sign stands before those at the end that are
// not always seen.
func (s *columns) show(names []string, frozen int) {
	s.visible = nil
	for _, name := range names {
		if c, known := shownColumn(name); known {
			s.visible = append(s.visible, c)
		}
	}
	at := len(s.visible)
	for at > 0 && s.visible[at-1].MinGridWidth > 0 {
		at--
	}
	s.visible = slices.Insert(s.visible, cmp.Or(at, len(s.visible)), signColumn)
	columns := make([]grid.Column, len(s.visible))
	for i, c := range s.visible {
		columns[i] = c.Column
	}
	s.Grid.SetColumns(columns, frozen)
	s.remake()
}

// Names are the columns that are shown, in their order.
func (s *columns) Names() []string {
	var names []string
	for _, c := range s.visible {
		if c.Name != signColumn.Name {
			names = append(names, c.Name)
		}
	}
	return names
}

// Column is the selected one.
func (s *columns) Column() messageColumn { return s.visible[s.Grid.ColumnIndex()] }

// aside goes past the sign, which is no column to stop at.
func (s *columns) aside(b keymap.Binding) {
	if s.Column().Name != signColumn.Name {
		return
	}
	step := 1
	if at := s.Grid.ColumnIndex(); b.Action == keymap.GoLeft && at > 0 || at == len(s.visible)-1 {
		step = -1
	}
	s.Grid.MoveColumn(step)
}

// messagesKept is what the arrangement of messages is kept by. It is no record's
// name.
const messagesKept = "Messages"

// Arrange shows messages as they were kept. Which of them and in which order is
// part of a view alone: a list begins with the newest, whatever was looked for
// last.
func (s *columns) Arrange(as state.Arrangement) {
	names := slices.DeleteFunc(slices.Clone(as.Fields), func(name string) bool {
		_, known := shownColumn(name)
		return !known
	})
	if len(names) > 0 {
		s.show(names, as.Frozen)
	}
	s.Grid.SetWidths(as.Widths)
}

// arrangement is how messages are shown now.
func (s *columns) arrangement() state.Arrangement {
	return state.Arrangement{Fields: s.Names(), Widths: maps.Clone(s.Grid.Widths()), Frozen: s.Grid.Frozen()}
}

// remember keeps how messages are shown now. A view is kept by :save alone.
func (s *columns) remember() {
	if s.saved == "" {
		s.State.SetGrid(messagesKept, s.arrangement())
	}
}

// columnKind has the columns as fields, so that they are chosen as those of
// records are.
var columnKind = sync.OnceValue(func() *record.Kind {
	of, kind := ui.MessageKind(), record.Kind{Name: messagesKept}
	for _, c := range Columns() {
		field := record.Field{Name: c.Name, Type: record.Text}
		if at, known := of.Column(c.field); known {
			field = of.Fields[at]
			field.Name = c.Name
		}
		kind.Fields = append(kind.Fields, field)
	}
	all, err := record.NewRegistry(kind)
	if err != nil {
		panic("tui: " + err.Error()) // two columns of one name, caught by every test
	}
	one, _ := all.Lookup(messagesKept)
	return one
})

// chooseColumns lets columns be chosen and ordered.
func (s *columns) chooseColumns() {
	s.ShowOverlay(browse.NewChooser(s.Host, columnKind(), s.Title(), s.Names(), UsualMessageColumns(), s.empty, func(names []string) tea.Cmd {
		s.show(names, s.Grid.Frozen())
		s.remember()
		return s.want()
	}))
}

// empty reports whether a column has no value in the rows that are here.
func (s *columns) empty(name string) bool {
	column, _ := shownColumn(name)
	for _, m := range s.Known {
		if text := column.cell(s.List, m).Text; text != "" && text != "-" {
			return false
		}
	}
	return true
}

// copyCell copies the selected cell: all of its value, where a part is shown.
func (s *columns) copyCell(m wire.Message) {
	c := s.Column()
	if c.text != nil {
		s.Copy(c.text(s.List, m))
		return
	}
	s.Copy(c.cell(s.List, m).Text)
}

// copyRows copies marked messages with tabs between cells, else the message as
// JSON.
func (s *columns) copyRows(one wire.Message) {
	rows := s.Grid.MarkedRows()
	if len(rows) == 0 {
		s.Copy(messageJSON(one))
		return
	}
	var lines []string
	for _, row := range rows {
		var cells []string
		for _, c := range s.visible {
			if m, here := s.Known[row.ID]; here && c.Name != signColumn.Name {
				cells = append(cells, strings.Map(browse.ReplaceTabs, s.plain(c, m)))
			}
		}
		lines = append(lines, strings.Join(cells, "\t"))
	}
	s.Copy(strings.Join(lines, "\n"))
	if more := s.Pages.Total() - len(rows); s.AllMarks && more > 0 {
		s.Notify(ui.Warning, display.Count(len(rows), "row", "rows")+" copied: "+display.Thousands(more)+" more match, whose pages are not loaded")
	}
}

// plain is a cell without a sign that only looks at it.
func (s *columns) plain(c messageColumn, m wire.Message) string {
	text := c.cell(s.List, m).Text
	if c.field == "Status" {
		_, text, _ = strings.Cut(text, " ")
	}
	return text
}

// messageJSON is a message without its body, which lists do not have.
func messageJSON(m wire.Message) string {
	text, err := json.Marshal(struct {
		wire.Message
		Body string `json:",omitempty"`
	}{Message: m})
	if err != nil {
		panic("tui: " + err.Error()) // a message is made of texts and numbers
	}
	return string(text)
}
