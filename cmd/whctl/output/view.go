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
	Fields string // of a row that the column shows, separated by blanks
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
	var all []string
	for _, s := range t.View {
		for name := range strings.FieldsSeq(s.Fields) {
			if (details || s.Rank < DetailOnly) && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// Of returns the table of chosen columns, which have the names of their fields as titles.
func (t Table) Of(columns []Column) Table {
	chosen := Table{Columns: columns, chosen: true}
	for i, c := range columns {
		one := ViewColumn{c.Name, c.Name, formatterOf(c.Type), Rank(i)}
		if at := slices.IndexFunc(t.View, func(s ViewColumn) bool { return s.Fields == c.Name }); at >= 0 {
			one.As = t.View[at].As
		}
		chosen.View = append(chosen.View, one)
	}
	return chosen
}

// view prints the cells of table and vertical.
type view struct {
	columns  []ViewColumn
	at       [][]int // the fields of each, as indexes of names
	names    []string
	types    []record.Type
	screen   Screen
	null     string
	chosen   bool
	terminal bool // the output is a terminal, and no program reads it

	values []client.Value // of the current row
	texts  []string       // of the current cell
}

// rawScreen is the screen of tables for programs, which have the values of the service.
var rawScreen = Screen{Theme: &theme.Theme{Glyphs: theme.Glyphs{Ellipsis: "~"}}}

func newView(t Table, s Screen, terminal bool) view {
	if !terminal || len(t.View) == 0 {
		t = Table{}.Of(t.Columns)
	}
	v := view{columns: t.View, chosen: t.chosen, screen: s, names: t.ViewFields(true), terminal: terminal}
	if !terminal {
		v.screen, v.names = rawScreen, nil
		for i, c := range t.Columns {
			v.columns[i].As = rawFormatter(c.Type)
			v.names = append(v.names, c.Name)
		}
	}
	for _, name := range v.names {
		of := record.Text
		if at := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name }); at >= 0 {
			of = t.Columns[at].Type
		}
		v.types = append(v.types, of)
	}
	for i, c := range v.columns {
		at := []int{i}
		if terminal {
			at = nil
			for name := range strings.FieldsSeq(c.Fields) {
				at = append(at, slices.Index(v.names, name))
			}
		}
		v.at = append(v.at, at)
	}
	return v
}

// brief returns the view without details.
func (v view) brief() view {
	all := v
	v.columns, v.at = nil, nil
	for i, c := range all.columns {
		if c.Rank < DetailOnly {
			v.columns, v.at = append(v.columns, c), append(v.at, all.at[i])
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
		for _, at := range v.at[i] {
			one := v.values[at]
			null = null && one.Null()
			v.texts = append(v.texts, string(one.AppendCell(nil, v.types[at])))
		}
		if cells[i].text = v.null; !null || v.terminal && v.null == "" {
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
	for i := len(v.columns) - 1; v.terminal && !v.chosen && len(rows) > 0 && i > 0; i-- {
		if c := v.columns[i]; c.Rank > 0 && !slices.ContainsFunc(rows, func(cells []cell) bool { return cells[i].text != "" }) {
			v.columns, v.at = slices.Delete(v.columns, i, i+1), slices.Delete(v.at, i, i+1)
			for r := range rows {
				rows[r] = slices.Delete(rows[r], i, i+1)
			}
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
