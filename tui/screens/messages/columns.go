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
	field string // record field for order and filters; empty for none
	cell  func(s *List, m wire.Message) grid.Cell
	text  func(s *List, m wire.Message) string // text to copy; nil to copy the cell
}

// DefaultColumns are the default columns in their default order. In a list narrower
// than their MinGridWidth, columns are only visible while they are selected.
var DefaultColumns = []messageColumn{
	{grid.Column{Name: "Status", Min: 7}, "Status", (*List).statusCell, func(_ *List, m wire.Message) string { return m.MessageID }},
	{grid.Column{Name: "Event", Min: 10, Max: 120, Flex: true, TruncateMiddle: true}, "EventName", func(_ *List, m wire.Message) grid.Cell { return grid.Cell{Text: m.EventName} }, nil},
	{grid.Column{Name: "To", Min: 10, Max: 120, Flex: true, TruncateMiddle: true}, "URL", func(_ *List, m wire.Message) grid.Cell { return grid.Cell{Text: ui.ShortURL(m.URL)} }, func(_ *List, m wire.Message) string { return m.URL }},
	{grid.Column{Name: "Att.", Right: true, Min: 4, MinGridWidth: attemptsMinWidth}, "Retries", func(_ *List, m wire.Message) grid.Cell { return grid.Cell{Text: attempts(m)} }, nil},
	{grid.Column{Name: "HTTP", Min: 4, Max: 20, Flex: true}, "LastMessageResponseHTTPCode", func(_ *List, m wire.Message) grid.Cell { return grid.Cell{Text: ui.LastResult(m)} }, nil},
	{grid.Column{Name: "Next", Min: 7, MinGridWidth: attemptsMinWidth}, "NextAttemptDateTime", func(s *List, m wire.Message) grid.Cell { return grid.Cell{Text: next(m, s.Session)} }, nil},
	{grid.Column{Name: AgeColumn, Right: true, Min: 4}, "AddedDateTime", (*List).ageCell, nil},
	{grid.Column{Name: "Subscriber", Min: 10, Max: 24, Flex: true, MinGridWidth: subscriberMinWidth}, "", func(s *List, m wire.Message) grid.Cell { return s.Subscribers.cell(m) }, nil},
}

// omittedFields are the fields that are part of another column or of the detail
// screen.
var omittedFields = []string{"ItemNo", "SubscriberID", "SubscriptionID", "MessageID", "Body", "LastSavedDateTime", "LastMessageResponseMessage", "MaxRetries"}

// Columns returns the default columns, and one for each remaining field of
// messages.
var Columns = sync.OnceValue(func() []messageColumn {
	all := slices.Clone(DefaultColumns)
	for _, f := range ui.MessageKind().Fields {
		if slices.Contains(omittedFields, f.Name) || slices.ContainsFunc(DefaultColumns, func(c messageColumn) bool { return c.field == f.Name }) {
			continue
		}
		all = append(all, messageColumn{grid.Column{Name: f.Name, Right: f.Type.Number(), Min: 4, Max: 40, Flex: true}, f.Name,
			func(s *List, m wire.Message) grid.Cell { return grid.Cell{Text: s.fieldText(m, f.Name)} }, nil})
	}
	return all
})

// fieldText formats a field of a message.
func (s *columns) fieldText(m wire.Message, field string) string {
	switch value := reflect.Indirect(reflect.ValueOf(m).FieldByName(field)); {
	case !value.IsValid():
		return ""
	case value.Type() == reflect.TypeFor[wire.Timestamp]():
		return s.TimeText(time.Time(value.Interface().(wire.Timestamp)))
	default:
		return fmt.Sprint(value)
	}
}

const (
	attemptsMinWidth   = 70
	subscriberMinWidth = 100
	AgeColumn          = "Age"
)

// markerColumn marks changes. It is always shown and cannot be selected.
var markerColumn = messageColumn{Column: grid.Column{Name: " ", Min: 2}, cell: (*List).markerCell}

// findColumn returns the column with a name.
func findColumn(name string) (messageColumn, bool) {
	if name == "Try" { // the name in states of former releases
		name = "Att."
	}
	all := Columns()
	i := slices.IndexFunc(all, func(c messageColumn) bool { return c.Name == name })
	if i < 0 {
		return messageColumn{}, false
	}
	return all[i], true
}

// DefaultColumnNames returns the names of the default columns.
func DefaultColumnNames() []string {
	return record.Texts(DefaultColumns, func(c messageColumn) string { return c.Name })
}

// columns are the columns of a list.
type columns struct {
	*List
	visible []messageColumn // the shown columns, with markerColumn
}

// show sets the columns. The marker column is inserted before the columns at the
// end that need a wide list.
func (s *columns) show(names []string, frozen int) {
	s.visible = nil
	for _, name := range names {
		if c, known := findColumn(name); known {
			s.visible = append(s.visible, c)
		}
	}
	at := len(s.visible)
	for at > 0 && s.visible[at-1].MinGridWidth > 0 {
		at--
	}
	s.visible = slices.Insert(s.visible, cmp.Or(at, len(s.visible)), markerColumn)
	columns := make([]grid.Column, len(s.visible))
	for i, c := range s.visible {
		columns[i] = c.Column
	}
	s.Grid.SetColumns(columns, frozen)
	s.rebuild()
}

// Names returns the names of the shown columns in their order.
func (s *columns) Names() []string {
	names := record.Texts(s.visible, func(c messageColumn) string { return c.Name })
	return slices.DeleteFunc(names, func(name string) bool { return name == markerColumn.Name })
}

// Column returns the selected column.
func (s *columns) Column() messageColumn { return s.visible[s.Grid.ColumnIndex()] }

// skipMarker moves the selection past the marker column.
func (s *columns) skipMarker(b keymap.Binding) {
	if s.Column().Name != markerColumn.Name {
		return
	}
	step := 1
	if at := s.Grid.ColumnIndex(); b.Action == keymap.GoLeft && at > 0 || at == len(s.visible)-1 {
		step = -1
	}
	s.Grid.MoveColumn(step)
}

// gridKey is the key of the saved arrangement. It must not be the name of a record.
const gridKey = "Messages"

// Arrange applies saved columns and widths. Filter and order are part of a view
// only; a list starts with the newest messages.
func (s *columns) Arrange(as state.Arrangement) {
	names := slices.DeleteFunc(slices.Clone(as.Fields), func(name string) bool {
		_, known := findColumn(name)
		return !known
	})
	if len(names) > 0 {
		s.show(names, as.Frozen)
	}
	s.Grid.SetWidths(as.Widths)
}

// arrangement returns the current columns and widths.
func (s *columns) arrangement() state.Arrangement {
	return state.Arrangement{Fields: s.Names(), Widths: maps.Clone(s.Grid.Widths()), Frozen: s.Grid.Frozen()}
}

// remember saves the arrangement. In a view only :save does.
func (s *columns) remember() {
	if s.saved == "" {
		s.State.SetGrid(gridKey, s.arrangement())
	}
}

// columnKind returns a record kind with the columns as fields, for the column
// chooser.
var columnKind = sync.OnceValue(func() *record.Kind {
	of, kind := ui.MessageKind(), record.Kind{Name: gridKey}
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
		panic("tui: " + err.Error()) // duplicate column name; every test finds it
	}
	one, _ := all.Lookup(gridKey)
	return one
})

// chooseColumns opens the column chooser.
func (s *columns) chooseColumns() {
	s.ShowOverlay(browse.NewChooser(s.Host, columnKind(), s.Title(), s.Names(), DefaultColumnNames(), s.empty, func(names []string) tea.Cmd {
		s.show(names, s.Grid.Frozen())
		s.remember()
		return s.want()
	}))
}

// empty reports whether a column has no value in the loaded rows.
func (s *columns) empty(name string) bool {
	column, _ := findColumn(name)
	for _, m := range s.Known {
		if text := column.cell(s.List, m).Text; text != "" && text != "-" {
			return false
		}
	}
	return true
}

// copyCell copies the full value of the selected cell.
func (s *columns) copyCell(m wire.Message) {
	c := s.Column()
	if c.text != nil {
		s.Copy(c.text(s.List, m))
		return
	}
	s.Copy(c.cell(s.List, m).Text)
}

// copyRows copies the marked messages as tab-separated lines, or one message as
// JSON if none is marked.
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
			if m, here := s.Known[row.ID]; here && c.Name != markerColumn.Name {
				cells = append(cells, strings.Map(browse.ReplaceTabs, s.plain(c, m)))
			}
		}
		lines = append(lines, strings.Join(cells, "\t"))
	}
	s.Copy(strings.Join(lines, "\n"))
	if more := s.Pages.Total() - len(rows); s.AllMarks && more > 0 {
		s.Notify(ui.Warning, display.Count(len(rows), "row", "rows")+" copied: "+display.Thousands(more)+" more matches are not loaded")
	}
}

// plain returns the text of a cell without a status glyph.
func (s *columns) plain(c messageColumn, m wire.Message) string {
	text := c.cell(s.List, m).Text
	if c.field == "Status" {
		_, text, _ = strings.Cut(text, " ")
	}
	return text
}

// messageJSON returns a message as JSON without the body, which lists do not load.
func messageJSON(m wire.Message) string {
	text, err := json.Marshal(struct {
		wire.Message
		Body string `json:",omitempty"`
	}{Message: m})
	if err != nil {
		panic("tui: " + err.Error()) // a message has texts and numbers only
	}
	return string(text)
}
