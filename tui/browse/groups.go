package browse

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// grouping makes one row of all rows that have the same value of a field, or a date in the
// same period.
type grouping struct {
	rows    *selection   // that are grouped
	columns *grid.Layout // of the rows
	field   string
	period  int      // index of periods
	sums    []string // fields
	total   int64    // number of all rows that are grouped; 0 until they are counted
	largest int64    // number of rows of the largest group that was fetched
}

// periods are the parts of a date that rows can be grouped by; the first one is the whole
// value, for other fields.
var periods = [...]struct {
	name, layout        string
	years, months, days int
}{
	{},
	{name: "month", layout: "2006-01", months: 1},
	{name: "day", layout: time.DateOnly, days: 1},
	{name: "year", layout: "2006", years: 1},
}

// group opens the groups of the rows of a browser by a field, with the sums of the other
// numbers on the screen. If the rows are groups, it changes the period of their date.
func group(name string, b *Browser) tea.Cmd {
	s := b.Selection
	if current := s.options.groups; current != nil {
		if current.period == 0 {
			b.Host.Notify(ui.Warning, "already grouped by "+current.field)
			return nil
		}
		current.period = current.period%(len(periods)-1) + 1
		return b.setFilters(s.filters)
	}

	g := newGrouping(s, &b.Grid.Columns, name)
	kind, err := g.kind()
	if err != nil {
		b.Host.Notify(ui.Warning, fmt.Sprintf("cannot group by %s: %s", name, err))
		return nil
	}
	groups := New(b.Host, kind, s.filters, Options{
		Name:      s.options.Name + " by " + name,
		Scopes:    []keymap.Scope{keymap.InGroups},
		Temporary: true,
		Paint:     func(fields []string, rows []*grid.Row) { g.paint(b.Session.Theme, fields, rows) },
		rows:      s.Kind,
		groups:    g,
	})
	groups.Selection.Typed = s.Typed
	return b.Host.Push(groups)
}

// newGrouping returns the groups of the rows of a selection by a field, with the sums of its other
// numbers except those of its key.
func newGrouping(s *selection, columns *grid.Layout, field string) *grouping {
	g := &grouping{rows: s, columns: columns, field: field}
	if s.Kind.Field(field).Type == record.DateTime {
		g.period = 1
	}
	for _, name := range s.Fields {
		isKey := slices.Contains(s.Kind.Key, name)
		if s.isNumber(name) && name != field && !isKey {
			g.sums = append(g.sums, name)
		}
	}
	return g
}

// kind returns the kind of the groups: the field, the number of rows, and the sums.
func (g *grouping) kind() (*record.Kind, error) {
	rows := g.rows.Kind
	field := rows.Field(g.field)
	switch field.Type {
	case record.Bytes:
		return nil, fmt.Errorf("it is %s", record.Bytes)
	case record.DateTime:
		field.Type = record.Text // a period, such as 2026-07
	}
	fields := []record.Field{field, {Name: countColumn, Type: record.Long}}
	for _, name := range g.sums {
		fields = append(fields, record.Field{
			Name: record.GroupColumn("SUM", name),
			Type: rows.Field(name).Type,
		})
	}
	kinds, err := record.NewRegistry(record.Kind{Name: rows.Name, Fields: fields})
	if err != nil {
		return nil, err
	}
	return kinds.Kinds()[0], nil
}

// countColumn is the column of the number of rows of groups.
var countColumn = record.GroupColumn("COUNT", "")

// measure notes the largest group of a page, and reports whether it is larger than all before.
func (g *grouping) measure(page []client.Row) bool {
	grows := false
	for _, row := range page {
		count, err := strconv.ParseInt(row.Text(countColumn), 10, 64)
		if err == nil && count > g.largest {
			g.largest = count
			grows = true
		}
	}
	return grows
}

// shareBarWidth is the width of the bar of the largest group.
const shareBarWidth = 8

// paint draws a bar before the number of rows of each group, in proportion to the largest one, and
// the share of all rows after it. The parts have fixed widths, so that they form columns.
func (g *grouping) paint(t *theme.Theme, fields []string, rows []*grid.Row) {
	column := slices.Index(fields, countColumn)
	if column < 0 || g.largest == 0 {
		return
	}
	width := len(display.Thousands(g.largest))
	for _, row := range rows {
		cell := &row.Cells[column]
		count, err := strconv.ParseInt(cell.Text, 10, 64)
		if err != nil {
			continue
		}
		length := max(1, int(count*shareBarWidth/g.largest))
		cell.Bar = strings.Repeat(t.FullBar(), length)
		blanks := theme.Spaces(shareBarWidth - length + 1)
		cell.Text = cell.Bar + blanks + fmt.Sprintf("%*s", width, display.Thousands(count))
		if g.total > 0 {
			cell.Text += fmt.Sprintf("  %6s", ui.Percent(float64(count)/float64(g.total)))
		}
	}
}

// countRows fetches the number of the rows that are grouped, for the shares.
func (g *grouping) countRows(b *Browser) tea.Cmd {
	generation := b.Rows.Pages.Generation()
	q := client.Query{Kind: g.rows.Kind, Where: b.Selection.filters, Strict: true}
	fetch := func(ctx context.Context, c *client.Client) (rowCount, error) {
		n, err := c.Count(ctx, q)
		return rowCount(n), err
	}
	return ui.Fetch(b.Ctx, b, fetch, func(n rowCount, err error) tea.Cmd {
		if err == nil && generation == b.Rows.Pages.Generation() {
			g.total = int64(n)
			b.Rows.redraw()
		}
		return nil // without the number, the shares are missing
	})
}

// rowCount is a number of rows other than the matching ones: fetches of a screen differ in their
// types.
type rowCount int64

// by returns the field, with the period of a date, as in requests and whctl query --by.
func (g *grouping) by() string { return strings.TrimSuffix(g.field+":"+periods[g.period].name, ":") }

// openGroup opens the rows of the selected group of a browser, in the arrangement of all rows.
func openGroup(b *Browser) tea.Cmd {
	g := b.Selection.options.groups
	return b.filterByValue(g.field, func(filters []client.Filter) tea.Cmd {
		rows := New(b.Host, g.rows.Kind, nil, Options{Temporary: true})
		rows.Arrange(g.rows.arrangement(g.columns))
		rows.Selection.filters = filters
		return b.Host.Push(rows)
	})
}

// conditions returns the conditions that a field has the value of a row or, with groups, of a
// group.
func (g *grouping) conditions(field string, value client.Value) []client.Filter {
	if value.Null() {
		return []client.Filter{{Field: field, Operator: record.IsNull, Values: []string{"true"}}}
	}
	if g == nil || g.period == 0 {
		return []client.Filter{{Field: field, Operator: record.Equal, Values: []string{value.String()}}}
	}

	p := periods[g.period]
	from, _ := time.Parse(p.layout, value.String()) // as the service formats dates
	limits := []client.Filter{{
		Field:    field,
		Operator: record.GreaterThanOrEqualTo,
		Values:   []string{from.Format(time.DateOnly)},
	}}
	until := from.AddDate(p.years, p.months, p.days)
	if until.Year() <= 9999 { // the service reads no later dates
		limits = append(limits, client.Filter{
			Field:    field,
			Operator: record.LessThan,
			Values:   []string{until.Format(time.DateOnly)},
		})
	}
	return limits
}

// narrow adds conditions to filters. A field and operator can only occur once: the narrower one
// of two limits applies, and the new one of two other conditions.
func narrow(filters, conditions []client.Filter) []client.Filter {
	filters = slices.Clone(filters)
	for _, condition := range conditions {
		i := slices.IndexFunc(filters, func(f client.Filter) bool { return f.Member() == condition.Member() })
		if i < 0 {
			filters = append(filters, condition)
			continue
		}
		if replaces(condition, filters[i]) {
			filters[i] = condition
		}
	}
	return filters
}

// replaces reports whether a condition replaces the filter on the same field and operator. Limits
// are dates, which sort as texts.
func replaces(condition, filter client.Filter) bool {
	order := strings.Compare(condition.Values[0], filter.Values[0])
	switch condition.Operator {
	case record.Equal:
		return true
	case record.GreaterThanOrEqualTo:
		return order > 0
	case record.LessThan:
		return order < 0
	}
	return false
}
