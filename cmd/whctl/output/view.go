package output

import (
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/theme"
)

// Table describes the rows of a command.
type Table struct {
	Columns []Column     // columns for programs
	View    []ViewColumn // columns on a terminal, in order; Columns if there are none

	chosen bool // no column is left out: a user has chosen them, or they are all there are
}

// ViewColumn is a column of a table on a terminal.
type ViewColumn struct {
	Title  string
	Fields string // fields of a row that the column shows, separated by blanks; the main one first
	As     Formatter
	Rank   Rank
}

// Rank orders the columns by importance. Of those that do not fit, the highest ranks are
// hidden first.
type Rank int

// DetailOnly is the rank of columns that only the view of a single row has.
const DetailOnly Rank = 1 << 20

// Screen has the properties of the terminal that formats depend on.
type Screen struct {
	*theme.Theme
	Now  time.Time
	Zone *time.Location
	Full bool // SubscriberIDs are not shortened
	long bool // there is a line for each field, so that values can be long
}

// ViewFields returns the fields that the columns on a terminal need, and if details is set, the
// fields of the details.
func (t Table) ViewFields(details bool) []string {
	var fields []string
	for _, column := range t.View {
		if column.Rank >= DetailOnly && !details {
			continue
		}
		for name := range strings.FieldsSeq(column.Fields) {
			if !slices.Contains(fields, name) {
				fields = append(fields, name)
			}
		}
	}
	return fields
}

// Choose returns the table of chosen columns, which have the names of their fields as titles.
func (t Table) Choose(columns []Column) Table {
	chosen := Table{Columns: columns, chosen: true}
	for i, c := range columns {
		shown := ViewColumn{Title: c.Name, Fields: c.Name, As: formatterOf(c.Type), Rank: Rank(i)}
		inView := slices.IndexFunc(t.View, func(v ViewColumn) bool { return v.shows(c.Name) })
		if inView >= 0 {
			shown.As = t.View[inView].As
		}
		if shown.As.joined {
			shown.Fields = t.View[inView].Fields
		}
		chosen.View = append(chosen.View, shown)
	}
	return chosen
}

// plainTable returns the table that shows each of the columns, as the service names it.
func plainTable(columns []Column) Table { return Table{}.Choose(columns) }

// fieldType returns the type of a field; a text if it has no column for programs.
func (t Table) fieldType(name string) record.Type {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return record.Text
	}
	return t.Columns[i].Type
}

// shows reports whether the column stands for a field: it shows that alone, or the meaning that other
// fields of the column give to its value, as the word for the status of a message.
func (c ViewColumn) shows(field string) bool {
	first, others, _ := strings.Cut(c.Fields, " ")
	return first == field && (others == "" || c.As.words || c.As.joined)
}

// raw returns the screen with a theme of tables for programs, which have the values of the service.
func (s Screen) raw(t theme.Theme) Screen {
	t.Glyphs = theme.Glyphs{Ellipsis: "~"}
	s.Theme = &t
	s.Full = true
	return s
}

// viewColumn is a column of a view.
type viewColumn struct {
	ViewColumn
	indexes []int // of its fields in the names of the view
}

// view prints the cells of table and vertical.
type view struct {
	columns  []viewColumn
	names    []string // fields that the columns need, with their types
	types    []record.Type
	screen   Screen
	null     string
	chosen   bool
	terminal bool // the output is a terminal, and no program reads it

	// Memory that cellsOf uses again for the next row. Copies of a view may share it, since they are
	// used one after the other.
	values []client.Value // of the row
	texts  []string       // of a cell
}

// newView returns the view of a table on a terminal.
func newView(t Table, s Screen) view {
	if len(t.View) == 0 {
		t = plainTable(t.Columns)
	}
	v := view{
		names:    t.ViewFields(true),
		screen:   s,
		chosen:   t.chosen,
		terminal: true,
	}
	for _, name := range v.names {
		v.types = append(v.types, t.fieldType(name))
	}
	for _, described := range t.View {
		column := viewColumn{ViewColumn: described}
		for name := range strings.FieldsSeq(described.Fields) {
			column.indexes = append(column.indexes, slices.Index(v.names, name))
		}
		v.columns = append(v.columns, column)
	}
	return v
}

// newRawView returns a view with the values of the service, but words for statuses. They have the
// styles of the columns on a terminal.
func newRawView(t Table, s Screen) view {
	raw := plainTable(t.Columns)
	v := view{screen: s, chosen: raw.chosen}
	for i, c := range t.Columns {
		column := viewColumn{ViewColumn: raw.View[i], indexes: []int{i}}
		column.As = rawFormatter(c.Type)
		n := slices.IndexFunc(t.View, func(shown ViewColumn) bool { return shown.shows(c.Name) })
		if n >= 0 {
			column.As = column.As.likeOnTerminal(t.View[n].As)
		}
		v.columns = append(v.columns, column)
		v.names = append(v.names, c.Name)
		v.types = append(v.types, c.Type)
	}
	return v
}

// brief returns the view without details.
func (v view) brief() view {
	isDetail := func(c viewColumn) bool { return c.Rank >= DetailOnly }
	v.columns = slices.DeleteFunc(slices.Clone(v.columns), isDetail)
	return v
}

// cellsOf returns the cells of a row, sanitized except for line breaks of the long form.
func (v *view) cellsOf(r client.Row) []cell {
	v.values = r.Values(v.values[:0], v.names)
	cells := make([]cell, len(v.columns))
	for i, column := range v.columns {
		isNull := true
		v.texts = v.texts[:0]
		for _, index := range column.indexes {
			value := v.values[index]
			isNull = isNull && value.Null()
			v.texts = append(v.texts, string(value.AppendCell(nil, v.types[index])))
		}
		hasNullText := !v.terminal || v.null != "" // or else the formatter decides
		if isNull && hasNullText {
			cells[i].text = v.null
		} else {
			cells[i] = column.As.show(v.screen, v.texts)
		}
		if !v.screen.long {
			cells[i].text = display.Sanitize(cells[i].text)
		}
	}
	return cells
}

// dropEmpty removes the less important columns that have no value in the first rows, also from the
// cells of these rows, and returns a view of the removed columns. Fields that a user has chosen are
// kept.
func (v *view) dropEmpty(rows [][]cell) view {
	dropped := *v
	dropped.columns = nil
	if !v.terminal || v.chosen || len(rows) == 0 {
		return dropped
	}
	for i := len(v.columns) - 1; i > 0; i-- {
		hasValue := slices.ContainsFunc(rows, func(cells []cell) bool { return cells[i].text != "" })
		if v.columns[i].Rank == 0 || hasValue {
			continue
		}
		dropped.columns = append(dropped.columns, v.columns[i])
		v.columns = slices.Delete(v.columns, i, i+1)
		for r := range rows {
			rows[r] = slices.Delete(rows[r], i, i+1)
		}
	}
	slices.Reverse(dropped.columns) // into the order of the view
	return dropped
}

// title returns the title of a column.
func (v *view) title(c viewColumn) string {
	if c.As.zoned && v.terminal && !v.screen.long {
		return c.Title + v.screen.Now.In(v.screen.Zone).Format(" (MST)")
	}
	return c.Title
}
