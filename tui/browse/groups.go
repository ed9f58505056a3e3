package browse

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// grouping makes one row of all rows that have the same value of a field, or a date in the
// same period.
type grouping struct {
	rows   *Browser // that are grouped
	field  string
	period int      // index of periods
	sums   []string // fields
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

	g := &grouping{rows: b, field: name}
	fields := []record.Field{s.Kind.Field(name), {Name: record.GroupColumn("COUNT", ""), Type: record.Long}}
	if fields[0].Type == record.DateTime {
		fields[0].Type = record.Text
		g.period = 1
	}
	for _, summed := range s.Fields {
		if !s.isNumber(summed) || summed == name || slices.Contains(s.Kind.Key, summed) {
			continue
		}
		g.sums = append(g.sums, summed)
		fields = append(fields, record.Field{
			Name: record.GroupColumn("SUM", summed),
			Type: s.Kind.Field(summed).Type,
		})
	}

	kinds, err := record.NewRegistry(record.Kind{Name: s.Kind.Name, Fields: fields})
	if fields[0].Type == record.Bytes {
		err = fmt.Errorf("it is %s", record.Bytes)
	}
	if err != nil {
		b.Host.Notify(ui.Warning, fmt.Sprintf("cannot group by %s: %s", name, err))
		return nil
	}
	groups := New(b.Host, kinds.Kinds()[0], s.filters, Options{
		Name:      s.options.Name + " by " + name,
		Scopes:    []keymap.Scope{keymap.InGroups},
		Temporary: true,
		rows:      s.Kind,
		groups:    g,
	})
	groups.Selection.Typed = s.Typed
	return b.Host.Push(groups)
}

// by returns the field, with the period of a date, as in requests and whctl query --by.
func (g *grouping) by() string { return strings.TrimSuffix(g.field+":"+periods[g.period].name, ":") }

// open shows rows of a group in the arrangement of all rows.
func (g *grouping) open(filters []client.Filter) tea.Cmd {
	rows := New(g.rows.Host, g.rows.Selection.Kind, nil, Options{Temporary: true})
	rows.Arrange(g.rows.Arrangement())
	rows.Selection.filters = filters
	return g.rows.Host.Push(rows)
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

// narrow adds conditions to filters. A field and operator can only occur once: of limits the
// narrower one applies, of other conditions the new one.
func narrow(filters, conditions []client.Filter) []client.Filter {
	filters = slices.Clone(filters)
	for _, condition := range conditions {
		i := slices.IndexFunc(filters, func(f client.Filter) bool { return f.Member() == condition.Member() })
		if i < 0 {
			filters = append(filters, condition)
			continue
		}
		order := strings.Compare(condition.Values[0], filters[i].Values[0])
		var applies bool
		switch condition.Operator {
		case record.Equal:
			applies = true
		case record.GreaterThanOrEqualTo:
			applies = order > 0
		case record.LessThan:
			applies = order < 0
		}
		if applies {
			filters[i] = condition
		}
	}
	return filters
}
