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
	Columns []Column     // that programs read
	View    []ViewColumn // in order; Columns if there are none

	chosen bool // by a user, or all there are: none is left out
}

// ViewColumn is a column of a table on a terminal.
type ViewColumn struct {
	Title  string
	Fields string // fields of a row that the column shows, separated by blanks
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
	long bool // a line for each field
}

// ViewFields returns the fields that the columns on a terminal need, with those of the
// details if details is set.
func (t Table) ViewFields(details bool) []string {
	var fields []string
	for _, s := range t.View {
		if s.Rank >= DetailOnly && !details {
			continue
		}
		for name := range strings.FieldsSeq(s.Fields) {
			if !slices.Contains(fields, name) {
				fields = append(fields, name)
			}
		}
	}
	return fields
}

// Of returns the table of chosen columns, which have the names of their fields as titles.
func (t Table) Of(columns []Column) Table {
	chosen := Table{Columns: columns, chosen: true}
	for i, c := range columns {
		shown := ViewColumn{c.Name, c.Name, formatterOf(c.Type), Rank(i)}
		inView := slices.IndexFunc(t.View, func(s ViewColumn) bool { return s.Fields == c.Name })
		if inView >= 0 {
			shown.As = t.View[inView].As
		}
		chosen.View = append(chosen.View, shown)
	}
	return chosen
}

// view prints the cells of table and vertical.
type view struct {
	columns  []ViewColumn
	indexes  [][]int // indexes of the fields of each column in names
	names    []string
	types    []record.Type
	screen   Screen
	null     string
	chosen   bool
	terminal bool // the output is a terminal, and no program reads it

	values []client.Value // values of the current row
	texts  []string       // texts of the current cell
}

// rawScreen is the screen of tables for programs, which have the values of the service.
var rawScreen = Screen{Theme: &theme.Theme{Glyphs: theme.Glyphs{Ellipsis: "~"}}}

func newView(t Table, s Screen, terminal bool) view {
	if !terminal || len(t.View) == 0 {
		t = Table{}.Of(t.Columns)
	}
	v := view{
		columns:  t.View,
		chosen:   t.chosen,
		screen:   s,
		names:    t.ViewFields(true),
		terminal: terminal,
	}
	if !terminal {
		v.screen = rawScreen
		v.names = nil
		for i, c := range t.Columns {
			v.columns[i].As = rawFormatter(c.Type)
			v.names = append(v.names, c.Name)
		}
	}
	for _, name := range v.names {
		fieldType := record.Text
		i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
		if i >= 0 {
			fieldType = t.Columns[i].Type
		}
		v.types = append(v.types, fieldType)
	}
	for i, c := range v.columns {
		indexes := []int{i}
		if terminal {
			indexes = nil
			for name := range strings.FieldsSeq(c.Fields) {
				indexes = append(indexes, slices.Index(v.names, name))
			}
		}
		v.indexes = append(v.indexes, indexes)
	}
	return v
}

// brief returns the view without details.
func (v view) brief() view {
	whole := v
	v.columns = nil
	v.indexes = nil
	for i, c := range whole.columns {
		if c.Rank < DetailOnly {
			v.columns = append(v.columns, c)
			v.indexes = append(v.indexes, whole.indexes[i])
		}
	}
	return v
}

// cellsOf returns the cells of a row, sanitized except for line breaks of the long form.
func (v *view) cellsOf(r client.Row) []cell {
	v.values = r.Values(v.values[:0], v.names)
	cells := make([]cell, len(v.columns))
	for i, c := range v.columns {
		null := true
		v.texts = v.texts[:0]
		for _, index := range v.indexes[i] {
			value := v.values[index]
			null = null && value.Null()
			v.texts = append(v.texts, string(value.AppendCell(nil, v.types[index])))
		}
		cells[i].text = v.null
		if !null || v.terminal && v.null == "" {
			cells[i] = c.As.show(v.screen, v.texts)
		}
		if !v.screen.long {
			cells[i].text = display.Sanitize(cells[i].text)
		}
	}
	return cells
}

// dropEmpty removes the less important columns without a value in the first rows, also from
// these rows. Fields that a user has chosen are kept.
func (v *view) dropEmpty(rows [][]cell) {
	if !v.terminal || v.chosen || len(rows) == 0 {
		return
	}
	for i := len(v.columns) - 1; i > 0; i-- {
		hasValue := slices.ContainsFunc(rows, func(cells []cell) bool { return cells[i].text != "" })
		if v.columns[i].Rank == 0 || hasValue {
			continue
		}
		v.columns = slices.Delete(v.columns, i, i+1)
		v.indexes = slices.Delete(v.indexes, i, i+1)
		for r := range rows {
			rows[r] = slices.Delete(rows[r], i, i+1)
		}
	}
}

// title returns the title of a column.
func (v *view) title(c ViewColumn) string {
	if c.As.zoned && v.terminal && !v.screen.long {
		return c.Title + v.screen.Now.In(v.screen.Zone).Format(" (MST)")
	}
	return c.Title
}
