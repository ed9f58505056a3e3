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
	of     *Browser // the rows
	field  string
	period int      // index of periods
	sums   []string // fields
}

// periods are the parts of a date that rows can be grouped by; the first one is the whole
// value, for other fields.
var periods = [...]struct {
	name, layout        string
	years, months, days int
}{{}, {"month", "2006-01", 0, 1, 0}, {"day", time.DateOnly, 0, 0, 1}, {"year", "2006", 1, 0, 0}}

// group opens the groups of the rows of a browser by a field, with the sums of the other
// numbers on the screen. If the rows are groups, it changes the period of their date.
func group(name string, b *Browser) tea.Cmd {
	if g := b.options.groups; g != nil && g.period > 0 {
		g.period = g.period%(len(periods)-1) + 1
		return b.setFilters(b.filters)
	} else if g != nil {
		b.Host.Notify(ui.Warning, "already grouped by "+g.field)
		return nil
	}
	g := &grouping{of: b, field: name}
	fields := []record.Field{b.Kind.Field(name), {Name: record.GroupColumn("COUNT", ""), Type: record.Long}}
	if fields[0].Type == record.DateTime {
		fields[0].Type, g.period = record.Text, 1
	}
	for _, of := range b.Fields {
		if b.isNumber(of) && of != name && !slices.Contains(b.Kind.Key, of) {
			g.sums, fields = append(g.sums, of), append(fields, record.Field{Name: record.GroupColumn("SUM", of), Type: b.Kind.Field(of).Type})
		}
	}
	kinds, err := record.NewRegistry(record.Kind{Name: b.Kind.Name, Fields: fields})
	if fields[0].Type == record.Bytes {
		err = fmt.Errorf("it is %s", record.Bytes)
	}
	if err != nil {
		b.Host.Notify(ui.Warning, fmt.Sprintf("cannot group by %s: %s", name, err))
		return nil
	}
	groups := New(b.Host, kinds.Kinds()[0], b.filters, Options{Name: b.options.Name + " by " + name, Scopes: []keymap.Scope{keymap.InGroups}, Temporary: true, rows: b.Kind, groups: g})
	groups.Typed = b.Typed
	return b.Host.Push(groups)
}

// by returns the field, with the period of a date, as in requests and whctl query --by.
func (g *grouping) by() string { return strings.TrimSuffix(g.field+":"+periods[g.period].name, ":") }

// open shows rows of a group in the arrangement of all rows.
func (g *grouping) open(filters []client.Filter) tea.Cmd {
	rows := New(g.of.Host, g.of.Kind, nil, Options{Temporary: true})
	rows.Arrange(g.of.Arrangement())
	rows.filters = filters
	return g.of.Host.Push(rows)
}

// conditions returns the conditions that a field has the value of a row or, with groups, of a
// group.
func (g *grouping) conditions(field string, value client.Value) []client.Filter {
	switch {
	case value.Null():
		return []client.Filter{{Field: field, Operator: record.IsNull, Values: []string{"true"}}}
	case g == nil || g.period == 0:
		return []client.Filter{{Field: field, Operator: record.Equal, Values: []string{value.String()}}}
	}
	p := periods[g.period]
	from, _ := time.Parse(p.layout, value.String()) // as the service formats dates
	limits := []client.Filter{{Field: field, Operator: record.GreaterThanOrEqualTo, Values: []string{from.Format(time.DateOnly)}}}
	if until := from.AddDate(p.years, p.months, p.days); until.Year() <= 9999 {
		limits = append(limits, client.Filter{Field: field, Operator: record.LessThan, Values: []string{until.Format(time.DateOnly)}})
	}
	return limits
}

// narrow adds conditions to filters. A field and operator can only occur once: of limits the
// narrower one applies, of other conditions the new one.
func narrow(filters, more []client.Filter) []client.Filter {
	filters = slices.Clone(filters)
	for _, one := range more {
		i := slices.IndexFunc(filters, func(f client.Filter) bool { return f.Member() == one.Member() })
		if i < 0 {
			filters = append(filters, one)
		} else if order := strings.Compare(one.Values[0], filters[i].Values[0]); one.Operator == record.Equal || order > 0 && one.Operator == record.GreaterThanOrEqualTo || order < 0 && one.Operator == record.LessThan {
			filters[i] = one
		}
	}
	return filters
}
