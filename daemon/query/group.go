package query

import (
	"slices"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
)

// Group makes one row of all rows that have the same value of a field, or a date in the
// same period. The kind of the request and of its plan has the columns of these rows: the
// field and the aggregates.
type Group struct {
	Source     *record.Kind // kind of the rows that are grouped, to which Where refers
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

// groupBuilder builds statements about groups. Its plan is that of the rows that are
// grouped.
type groupBuilder struct{ *builder }

func newGroupBuilder(d *dialect.Dialect, p *Plan) groupBuilder {
	rows := *p
	rows.Kind = p.Group.Source
	rows.Order = nil
	columns := []int{p.Group.Field}
	for _, a := range p.Group.Aggregates {
		columns = append(columns, max(a.Field, 0))
	}
	return groupBuilder{newBuilder(&rows, d, columns, nil)}
}

// rows returns the statement that selects the groups of a plan.
func (b groupBuilder) rows(p *Plan, source string) (Statement, error) {
	columns := make([]func(), len(p.Group.Aggregates)+1)
	columns[0] = b.value
	for i, a := range p.Group.Aggregates {
		columns[i+1] = func() { b.aggregate(a) }
	}
	b.text("SELECT ")
	for i, column := range columns {
		b.separator(i, "", ", ")
		column()
	}
	b.grouped(source)
	for i, o := range p.Order {
		b.separator(i, " ORDER BY ", ", ")
		columns[o.Field]()
		if o.Field > 0 {
			b.text(b.d.Collate[p.Kind.Fields[o.Field].Type])
		}
		if o.Desc {
			b.text(" DESC")
		}
	}
	b.page()
	s, err := b.doneRows(p)
	s.Computes = true
	return s, err
}

// CompileGrouped returns the statement that selects the rows that a plan groups, in any order: the
// value of the group, and the argument of each aggregate but COUNT(*). ok is false if only the
// database can group and compute the values as it compares and adds them.
func CompileGrouped(p *Plan, d *dialect.Dialect, source string) (s Statement, ok bool, err error) {
	if !d.File.HideFields || !p.Group.isComputable() {
		return Statement{}, false, nil
	}
	b := newGroupBuilder(d, p)
	types := []record.Type{p.Kind.Fields[0].Type}
	b.text("SELECT ")
	b.value()
	for _, a := range p.Group.Aggregates {
		if a.Field == AllRows {
			continue
		}
		b.text(", ")
		leafWriter{b.builder}.aggregated(a)
		types = append(types, p.Group.Source.Fields[a.Field].Type)
	}
	b.from(source)
	b.where()
	s, err = b.done(types)
	s.Computes = true
	return s, true, err
}

// isComputable reports whether the values of all columns are compared and added in the same way by
// package tsql, if the columns have the types of package erp. Doubles are not: the sum depends on
// their order.
func (g *Group) isComputable() bool {
	isComparable := func(field int) bool {
		f := g.Source.Fields[field]
		t := f.Type.Stored()
		return t != record.Double && t != record.Bytes && f.Blob == ""
	}
	if !isComparable(g.Field) {
		return false
	}
	return !slices.ContainsFunc(g.Aggregates, func(a Aggregate) bool {
		return a.Distinct || a.Field != AllRows && !isComparable(a.Field)
	})
}

// count returns the statement that counts the groups.
func (b groupBuilder) count(source string) (Statement, error) {
	b.text("SELECT " + b.d.CountAll + " FROM (SELECT ")
	b.value()
	b.text(" AS g")
	b.grouped(source)
	b.text(") AS q")
	return b.done([]record.Type{record.Long})
}

func (b groupBuilder) grouped(source string) {
	b.from(source)
	b.where()
	b.text(" GROUP BY ")
	b.value()
}

// value writes the value that rows are grouped by.
func (b groupBuilder) value() {
	g := b.plan.Group
	w := leafWriter{b.builder}
	if g.Period == 0 {
		w.single(g.Field)
		return
	}
	w.period(g.Field, g.Period)
}
