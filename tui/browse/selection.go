package browse

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// selection is a query of a kind: filters, order and displayed fields.
type selection struct {
	Kind     *record.Kind
	Fields   []string // in order; the first field of the kind is always fetched
	filters  []client.Filter
	Typed    TypedConditions // the filters as typed
	order    grid.Sort
	viewName string // name of the opened or saved view
	wrap     bool   // wrap long values in the screen of a record
	options  Options
}

// title returns the name of the list with that of the view, or the field of groups.
func (s *selection) title() string {
	if s.viewName != "" {
		return s.options.Name + " (" + s.viewName + ")"
	}
	if g := s.options.groups; g != nil {
		return "by " + g.by()
	}
	return s.options.Name
}

// rowKind returns the kind of the rows, also if they are grouped. Filters refer to it.
func (s *selection) rowKind() *record.Kind { return cmp.Or(s.options.rows, s.Kind) }

// followsNewest reports whether the newest rows come first.
func (s *selection) followsNewest() bool { return s.options.NewestFirst && s.order.Column == "" }

// filterTexts returns the filters as conditions.
func (s *selection) filterTexts() []string { return record.Texts(s.filters, filter.Text) }

// filterText returns the filters as a line.
func (s *selection) filterText() string { return strings.Join(s.filterTexts(), ConditionSeparator) }

// toggledProblems returns the filters with the one of failed rows, or without it if they
// contain it.
func (s *selection) toggledProblems() []client.Filter {
	problem := s.options.Problem
	filters := slices.DeleteFunc(slices.Clone(s.filters), func(f client.Filter) bool {
		return f.Member() == problem.Member()
	})
	if len(filters) == len(s.filters) {
		filters = append(filters, problem)
	}
	return filters
}

// arrangement returns the arrangement of the rows in columns.
func (s *selection) arrangement(columns *grid.Layout) state.Arrangement {
	return state.Arrangement{
		Fields:  slices.Clone(s.Fields),
		Widths:  maps.Clone(columns.Widths()),
		Frozen:  columns.Frozen(),
		OrderBy: OrderText(s.order),
		Where:   s.Typed.Texts(s.filters),
	}
}

// query returns the query of the displayed fields and the key field.
func (s *selection) query() client.Query {
	q := client.Query{
		Kind:      s.rowKind(),
		Where:     s.filters,
		Strict:    true,
		Unchecked: s.options.Members,
	}
	if g := s.options.groups; g != nil {
		q.GroupBy = g.by()
		q.Include = []string{"COUNT(*)"}
		for _, name := range g.sums {
			q.Include = append(q.Include, "SUM("+name+")")
		}
	} else {
		q.Fields = s.Fields
		if key := s.Kind.KeyName(); !slices.Contains(q.Fields, key) {
			q.Fields = append([]string{key}, q.Fields...)
		}
	}
	if s.order.Column != "" {
		q.OrderBy = []string{OrderText(s.order)}
	}
	return q
}

// showsTimes reports whether a date field is displayed.
func (s *selection) showsTimes() bool {
	return slices.ContainsFunc(s.Fields, func(name string) bool {
		return s.Kind.Field(name).Type == record.DateTime
	})
}

// isNumber reports whether a field is numeric.
func (s *selection) isNumber(name string) bool {
	i, ok := s.Kind.Column(name)
	return ok && s.Kind.Fields[i].Type.Number()
}

// auditKind is the kind of the audit, which whctl cannot query.
const auditKind = "WH_Audit"

// command returns the whctl command for the same rows, or a curl command for the audit.
func (s *selection) command(url string) string {
	if s.Kind.Name == auditKind {
		return s.curl(url)
	}
	text := cmp.Or(s.options.Command, "whctl query "+s.Kind.Name)
	text += WhereFlags(s.Typed.Texts(s.filters))
	if s.order.Column != "" {
		text += " --order-by " + OrderText(s.order)
	}
	if g := s.options.groups; g != nil {
		text += " --by " + g.by()
		if len(g.sums) > 0 {
			text += " --sum " + strings.Join(g.sums, ",")
		}
		return text
	}
	hasAllFields := slices.Equal(s.Fields, s.options.DefaultFields) && len(s.Fields) == len(s.Kind.Fields)
	if !hasAllFields {
		text += " --fields " + strings.Join(s.Fields, ",")
	}
	return text
}

// curl returns a curl command for the same rows.
func (s *selection) curl(url string) string {
	text := ui.Curl() + " -G " + ui.Quote(url+"/Queries/"+s.Kind.Name) +
		` -H "Authorization: Bearer ` + ui.Variable("WHCTL_TOKEN") + `"`
	for _, f := range s.filters {
		text += " --data-urlencode " + ui.Quote(f.Member()+"="+strings.Join(f.Values, ","))
	}
	if s.order.Column != "" {
		text += " -d OrderBy=" + OrderText(s.order)
	}
	return text + " -d Take=100"
}
