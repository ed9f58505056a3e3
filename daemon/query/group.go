package query

import (
	"fmt"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
)

// Group makes one row of all rows that have the same value of a field, or a date in the
// same period. The kind of the request and of its plan has the columns of these rows: the
// field and the aggregates.
type Group struct {
	Source     *record.Kind // of the rows that are grouped, to which Where refers
	Field      int
	Period     Period
	Aggregates []Aggregate
}

// Period is the part of a date that rows are grouped by: its number of characters in the
// form 2019-05-01. 0 is the whole value.
type Period int

var periods = map[string]Period{"year": 4, "month": 7, "day": 10}

// MaxGroups is the maximum number of rows in the result of a request with GroupBy.
const MaxGroups = 100_000

// groupBy reads the field of GroupBy.
func (p *parser) groupBy(m Member) {
	if len(m.Texts) != 1 || m.Other {
		p.fail(m.Name, "takes one field")
		return
	}
	name, period, divided := strings.Cut(strings.TrimSpace(m.Texts[0]), ":")
	field, ok := p.req.Kind.Column(name)
	if !ok {
		p.unknownField(m.Name, name)
		return
	}
	g := &Group{Source: p.req.Kind, Field: field, Period: periods[strings.ToLower(period)]}
	switch f := p.req.Kind.Fields[field]; {
	case f.Type == record.Bytes:
		p.fail(m.Name, "cannot group by %s, which is %s", f.Name, f.Type)
	case divided && (g.Period == 0 || f.Type != record.DateTime):
		p.fail(m.Name, "has %s, but only a date can be grouped by :day, :month or :year", printable(m.Texts[0]))
	}
	p.req.Group = g
}

// group makes the kind of the result the kind of the request, so that Order refers to it.
func (p *parser) group() {
	g := p.req.Group
	if g == nil || len(p.wrong) > 0 {
		return
	}
	if len(p.req.Fields) > 0 || p.req.Distinct {
		p.fail(Fields, "cannot be combined with %s: its rows have the group and the functions of %s", GroupBy, Include)
		return
	}
	if p.req.Total == TotalOn && !p.totalGiven { // COUNT(*) is a column
		p.req.Total = TotalDefault
	}
	g.Aggregates, p.req.Include = p.req.Include, nil
	if len(g.Aggregates) == 0 {
		g.Aggregates = []Aggregate{{Function: Count, Field: AllRows}}
	}
	of := g.Source
	field := of.Fields[g.Field]
	if g.Period > 0 {
		field = record.Field{Name: field.Name, Type: record.Text, Null: field.Null}
	}
	result := record.Kind{
		Name: of.Name, Area: of.Area, Summary: of.Summary, Database: of.Database, OperationName: of.Operation(), Role: of.Role,
		Fields: []record.Field{field},
	}
	for _, a := range g.Aggregates {
		result.Fields = append(result.Fields, record.Field{Name: a.column(of), Type: a.Type(of), Null: record.Nullable})
	}
	registry, err := record.NewRegistry(result)
	if err != nil {
		p.fail(Include, "has a name that is not possible in rows: %s", err)
		return
	}
	p.req.Kind = registry.Kinds()[0]
}

// column returns the name of an aggregate in the rows of groups. It is one in XML, too:
// SumInvoiceTotal for SUM(InvoiceTotal), Count for COUNT(*).
func (a Aggregate) column(kind *record.Kind) string {
	if a.Alias {
		return a.Name
	}
	word := a.Function.String()[:1] + strings.ToLower(a.Function.String()[1:])
	if a.Distinct {
		word += "Distinct"
	}
	if a.Field == AllRows {
		return word
	}
	return word + kind.Fields[a.Field].Name
}

// compileGroups returns the statement that selects the plan's groups.
func compileGroups(p *Plan, d *dialect.Dialect, source string) (Statement, error) {
	g, b := p.Group, newGroupBuilder(p, d)
	columns := make([]func(), len(g.Aggregates)+1)
	columns[0] = b.group
	for i, a := range g.Aggregates {
		columns[i+1] = func() { b.aggregate(a) }
	}
	b.text("SELECT ")
	for i, column := range columns {
		b.separator(i, "", ", ")
		column()
	}
	b.text(" FROM " + source)
	b.where()
	b.text(" GROUP BY ")
	b.group()
	for i, o := range p.Order {
		b.separator(i, " ORDER BY ", ", ")
		columns[o.Field]()
		if o.Field > 0 {
			b.text(d.Collate[p.Kind.Fields[o.Field].Type])
		}
		if o.Desc {
			b.text(" DESC")
		}
	}
	b.page()
	s, err := b.done(p.Types())
	s.Computes = true
	return s, err
}

// newGroupBuilder returns a builder for statements about the rows that are grouped.
func newGroupBuilder(p *Plan, d *dialect.Dialect) *builder {
	rows := *p
	rows.Kind, rows.Order = p.Group.Source, nil
	columns := []int{p.Group.Field}
	for _, a := range p.Group.Aggregates {
		columns = append(columns, max(a.Field, 0))
	}
	return newBuilder(&rows, d, columns, nil)
}

// group writes the value that rows are grouped by.
func (b *builder) group() {
	g := b.plan.Group
	if g.Period == 0 {
		b.value(g.Field)
		return
	}
	b.text(b.d.DatePrefix.Before)
	b.value(g.Field)
	b.text(fmt.Sprintf(b.d.DatePrefix.After, int(g.Period)))
}
