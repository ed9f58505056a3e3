package messages

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// messageColumn is a column of the list of messages.
type messageColumn struct {
	grid.Column
	field string // record field for order and filters; empty for none
	cell  func(c *columns, m wire.Message) grid.Cell
	text  func(m wire.Message) string // text to copy; nil to copy the cell
}

// DefaultColumns are the default columns in their default order. In a list narrower
// than their MinGridWidth, columns are only visible while they are selected.
var DefaultColumns = []messageColumn{
	{
		Column: grid.Column{Name: "Status", Min: 7},
		field:  "Status",
		cell:   (*columns).statusCell,
		text:   func(m wire.Message) string { return m.MessageID },
	},
	{
		Column: grid.Column{Name: "Event", Min: 10, Max: 120, Flex: true, TruncateMiddle: true},
		field:  "EventName",
		cell:   textCell(func(m wire.Message) string { return m.EventName }),
	},
	{
		Column: grid.Column{Name: "To", Min: 10, Max: 120, Flex: true, TruncateMiddle: true},
		field:  "URL",
		cell:   textCell(func(m wire.Message) string { return ui.ShortURL(m.URL) }),
		text:   func(m wire.Message) string { return m.URL },
	},
	{
		Column: grid.Column{Name: "Att.", Right: true, Min: 4, MinGridWidth: attemptsMinWidth},
		field:  "Retries",
		cell:   textCell(attempts),
	},
	{
		Column: grid.Column{Name: "HTTP", Min: 4, Max: 20, Flex: true},
		field:  "LastMessageResponseHTTPCode",
		cell:   textCell(ui.LastResult),
	},
	{
		Column: grid.Column{Name: "Next", Min: 7, MinGridWidth: attemptsMinWidth},
		field:  "NextAttemptDateTime",
		cell:   (*columns).nextCell,
	},
	{
		Column: grid.Column{Name: AgeColumn, Right: true, Min: 4},
		field:  "AddedDateTime",
		cell:   (*columns).ageCell,
	},
	{
		Column: grid.Column{Name: "Subscriber", Min: 10, Max: 24, Flex: true, MinGridWidth: subscriberMinWidth},
		cell:   (*columns).subscriberCell,
	},
}

// AgeColumn is the name of the column of the time at which a message was added.
const AgeColumn = "Age"

// Minimum widths of a list that shows columns which are not selected, in cells.
const (
	attemptsMinWidth   = 70
	subscriberMinWidth = 100
)

// textCell returns a function that draws a text of a message in a cell.
func textCell(text func(m wire.Message) string) func(*columns, wire.Message) grid.Cell {
	return func(_ *columns, m wire.Message) grid.Cell { return optionalCell(text(m)) }
}

// optionalCell returns the cell of a text that is "-" if there is none.
func optionalCell(text string) grid.Cell { return grid.Cell{Text: text, Null: text == "-"} }

// omittedFields are the fields that are part of another column or of the detail
// screen.
var omittedFields = []string{
	"ItemNo", "SubscriberID", "SubscriptionID", "MessageID", "Body", "LastSavedDateTime",
	"LastMessageResponseMessage", "MaxRetries",
}

// Columns returns the default columns, and one for each remaining field of
// messages.
var Columns = sync.OnceValue(func() []messageColumn {
	all := slices.Clone(DefaultColumns)
	for _, f := range ui.MessageKind().Fields {
		isShown := func(c messageColumn) bool { return c.field == f.Name }
		if slices.Contains(omittedFields, f.Name) || slices.ContainsFunc(DefaultColumns, isShown) {
			continue
		}
		all = append(all, messageColumn{
			Column: grid.Column{Name: f.Name, Right: f.Type.Number(), Min: 4, Max: 40, Flex: true},
			field:  f.Name,
			cell: func(c *columns, m wire.Message) grid.Cell {
				return grid.Cell{Text: c.fieldText(m, f.Name)}
			},
		})
	}
	return all
})

// fieldText formats a field of a message.
func (c *columns) fieldText(m wire.Message, field string) string {
	value := reflect.Indirect(reflect.ValueOf(m).FieldByName(field))
	if !value.IsValid() {
		return "" // a nil pointer
	}
	if timestamp, ok := value.Interface().(wire.Timestamp); ok {
		return c.session.TimeText(time.Time(timestamp))
	}
	return fmt.Sprint(value)
}

// markerColumn marks changes. It is always shown and cannot be selected.
var markerColumn = messageColumn{Column: grid.Column{Name: " ", Min: 2}, cell: (*columns).markerCell}

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

// columns are the columns of a list, and draw messages in them.
type columns struct {
	host        columnsHost
	session     *ui.Session
	grid        *grid.Grid
	subscribers *names
	changed     changeTimes
	visible     []messageColumn // the shown columns, with markerColumn
}

// columnsHost has the method of the app that columns use.
type columnsHost interface {
	// Delayed reports whether a queued delete concerns a message.
	Delayed(id string) bool
}

// row builds the row of a message. Times have coarse steps, so that few lines
// change.
func (c *columns) row(m wire.Message) *grid.Row {
	row := &grid.Row{ID: m.MessageID, Cells: make([]grid.Cell, len(c.visible))}
	if c.host.Delayed(m.MessageID) {
		row.Role = theme.Dim
	}
	for i, column := range c.visible {
		row.Cells[i] = column.cell(c, m)
	}
	return row
}

// statusCell returns the status with its glyph.
func (c *columns) statusCell(m wire.Message) grid.Cell {
	word, role := c.session.Theme.StatusText(m.Status)
	return grid.Cell{Text: word, Role: role}
}

// ageCell returns the time at which a message was added.
func (c *columns) ageCell(m wire.Message) grid.Cell {
	return grid.Cell{Text: c.session.TimeText(time.Time(m.AddedDateTime))}
}

// nextCell returns the time of the next attempt.
func (c *columns) nextCell(m wire.Message) grid.Cell {
	return optionalCell(next(m, c.session))
}

// subscriberCell returns the name of the subscriber.
func (c *columns) subscriberCell(m wire.Message) grid.Cell { return c.subscribers.cell(m) }

// markerCell marks a recent change and a pending delete.
func (c *columns) markerCell(m wire.Message) grid.Cell {
	sign := grid.Cell{Role: theme.Accent}
	if c.changed.recent(m.MessageID, c.session.Now) {
		sign.Text = c.session.Theme.Left
	}
	if c.host.Delayed(m.MessageID) {
		sign.Text = c.session.Theme.Fail
	}
	return sign
}

// show sets the columns. The marker column is inserted before the columns at the
// end that need a wide list.
func (c *columns) show(names []string, frozen int) {
	c.visible = nil
	for _, name := range names {
		if column, ok := findColumn(name); ok {
			c.visible = append(c.visible, column)
		}
	}
	marker := len(c.visible)
	for marker > 0 && c.visible[marker-1].MinGridWidth > 0 {
		marker--
	}
	if marker == 0 { // all columns need a wide list
		marker = len(c.visible)
	}
	c.visible = slices.Insert(c.visible, marker, markerColumn)
	c.set(frozen)
}

// set shows the columns in the grid. The title of times is that of the time mode.
func (c *columns) set(frozen int) {
	shown := make([]grid.Column, len(c.visible))
	for i, column := range c.visible {
		shown[i] = column.Column
		if column.Name == AgeColumn && c.session.Times != ui.Relative {
			shown[i].Title = "Added"
		}
	}
	c.grid.Columns.Set(shown, frozen)
}

// Names returns the names of the shown columns in their order.
func (c *columns) Names() []string {
	names := record.Texts(c.visible, func(column messageColumn) string { return column.Name })
	return slices.DeleteFunc(names, func(name string) bool { return name == markerColumn.Name })
}

// Selected returns the selected column.
func (c *columns) Selected() messageColumn { return c.visible[c.grid.Columns.Index()] }

// skipMarker moves the selection past the marker column, in the direction of an action.
func (c *columns) skipMarker(action keymap.Action) {
	if c.Selected().Name != markerColumn.Name {
		return
	}
	index := c.grid.Columns.Index()
	isFirst := index == 0
	isLast := index == len(c.visible)-1
	movesLeft := action == keymap.GoLeft && !isFirst
	if movesLeft || isLast {
		c.grid.Columns.Move(-1)
	} else {
		c.grid.Columns.Move(1)
	}
}

// gridKey is the key of the saved arrangement. It must not be the name of a record.
const gridKey = "Messages"

// arrange applies saved columns and widths. Filter and order are part of a view
// only; a list starts with the newest messages.
func (c *columns) arrange(saved state.Arrangement) {
	names := slices.DeleteFunc(slices.Clone(saved.Fields), func(name string) bool {
		_, ok := findColumn(name)
		return !ok
	})
	if len(names) > 0 {
		c.show(names, saved.Frozen)
	}
	c.grid.Columns.SetWidths(saved.Widths)
}

// arrangement returns the current columns and widths.
func (c *columns) arrangement() state.Arrangement {
	return state.Arrangement{
		Fields: c.Names(),
		Widths: maps.Clone(c.grid.Columns.Widths()),
		Frozen: c.grid.Columns.Frozen(),
	}
}

// columnKind returns a record kind with the columns as fields, for the column
// chooser.
var columnKind = sync.OnceValue(func() *record.Kind {
	messageKind := ui.MessageKind()
	kind := record.Kind{Name: gridKey}
	for _, c := range Columns() {
		field := record.Field{Name: c.Name, Type: record.Text}
		if i, ok := messageKind.Column(c.field); ok {
			field = messageKind.Fields[i]
			field.Name = c.Name
		}
		kind.Fields = append(kind.Fields, field)
	}
	registry, err := record.NewRegistry(kind)
	if err != nil {
		panic("tui: " + err.Error()) // duplicate column name; every test finds it
	}
	registered, _ := registry.Lookup(gridKey)
	return registered
})

// empty reports whether a column has no value in messages.
func (c *columns) empty(name string, messages map[string]wire.Message) bool {
	column, _ := findColumn(name)
	for _, m := range messages {
		if text := column.cell(c, m).Text; text != "" && text != "-" {
			return false
		}
	}
	return true
}

// value returns the full value of a message in the selected column.
func (c *columns) value(m wire.Message) string {
	column := c.Selected()
	if column.text != nil {
		return column.text(m)
	}
	return column.cell(c, m).Text
}

// line returns the cells of a message, separated by tabs.
func (c *columns) line(m wire.Message) string {
	var cells []string
	for _, column := range c.visible {
		if column.Name != markerColumn.Name {
			cells = append(cells, strings.Map(browse.ReplaceTabs, c.plain(column, m)))
		}
	}
	return strings.Join(cells, "\t")
}

// plain returns the text of a cell without a status glyph.
func (c *columns) plain(column messageColumn, m wire.Message) string {
	text := column.cell(c, m).Text
	if column.field == "Status" {
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
