package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/row"
)

// Compile returns the statement that selects the plan's rows from source, a quoted
// table name.
func Compile(p *Plan, d *dialect.Dialect, source string) (Statement, error) {
	if p.Group != nil {
		return newGroupBuilder(d, p).rows(p, source)
	}
	b := newBuilder(p, d, p.Columns, p.Order)
	b.text("SELECT ")
	if p.Distinct {
		b.text("DISTINCT ")
	}
	b.columns()
	b.from(source)
	if p.Take == 0 {
		b.text(" WHERE 1 = 0") // FETCH NEXT does not accept zero
		return b.doneRows(p)
	}
	b.where()
	if p.PageKeys != nil {
		b.separator(len(b.plan.Where), " WHERE ", " AND ")
		b.column(p.Kind.KeyField())
		b.text(" IN (")
		b.fragment(p.PageKeys)
		b.text(")")
	}
	b.orderBy()
	b.page()
	return b.doneRows(p)
}

// CompileCount returns the statement that counts all rows matched by the plan.
func CompileCount(p *Plan, d *dialect.Dialect, source string) (Statement, error) {
	if p.Group != nil {
		return newGroupBuilder(d, p).count(source)
	}
	var columns []int
	if p.Distinct {
		columns = p.Columns
	}
	b := newBuilder(p, d, columns, nil)
	if p.Matches != nil {
		b.fragment(p.Matches)
		return b.done([]record.Type{record.Long})
	}
	b.text("SELECT " + d.CountAll)
	if p.Distinct {
		b.text(" FROM (SELECT DISTINCT ")
		b.columns()
	}
	b.from(source)
	b.where()
	if p.Distinct {
		b.text(") AS q")
	}
	return b.done([]record.Type{record.Long})
}

// CompileKeyCount returns the statement that counts the keys of the rows of a plan with PageKeys.
func CompileKeyCount(p *Plan, d *dialect.Dialect, _ string) (Statement, error) {
	b := newBuilder(p, d, nil, nil)
	b.text("SELECT " + d.CountAll + " FROM (")
	b.fragment(p.PageKeys)
	b.text(") AS k")
	return b.done([]record.Type{record.Long})
}

// CompileAggregates returns the statement that computes the plan's aggregates: one
// row with a column for each.
func CompileAggregates(p *Plan, d *dialect.Dialect, source string) (Statement, error) {
	types := make([]record.Type, len(p.Aggregates))
	columns := make([]int, len(p.Aggregates))
	for i, a := range p.Aggregates {
		columns[i] = max(a.Field, 0)
	}
	b := newBuilder(p, d, columns, nil)
	b.text("SELECT ")
	for i, a := range p.Aggregates {
		b.separator(i, "", ", ")
		b.aggregate(a)
		types[i] = a.Type(p.Kind)
	}
	b.from(source)
	b.where()
	s, err := b.done(types)
	s.Computes = true
	return s, err
}

// builder writes one statement.
type builder struct {
	d       *dialect.Dialect
	plan    *Plan
	order   []Order // order of the statement, which may be shorter than that of the plan
	indexes indexUse
	sql     []byte
	args    []Arg
	form    columnForm    // form of the leaf that is written
	wrong   []fault.Field // filters that the database cannot evaluate
}

// newBuilder returns a builder for a statement that reads columns in an order.
func newBuilder(p *Plan, d *dialect.Dialect, columns []int, order []Order) *builder {
	if !d.File.Typed {
		p = withoutImplied(p)
	}
	b := &builder{d: d, plan: p, order: order, sql: make([]byte, 0, 512)} // sufficient for most statements
	if d.File.HideFields {
		if len(order) > 0 && !p.Distinct { // with DISTINCT, an order by all columns costs nothing
			b.order = freeOrder(p)
		}
		b.indexes = chooseIndexes(p, columns, b.order)
	}
	return b
}

func (b *builder) done(types []record.Type) (Statement, error) {
	if len(b.wrong) == 0 && len(b.args) > b.d.MaxParams {
		b.tooMany()
	}
	if len(b.wrong) > 0 {
		return Statement{}, &fault.Error{Kind: fault.Invalid, Message: summary(b.wrong), Fields: b.wrong}
	}
	return Statement{SQL: string(b.sql), Args: b.args, Types: types}, nil
}

// doneRows is done for a statement that selects the columns of a plan.
func (b *builder) doneRows(p *Plan) (Statement, error) {
	s, err := b.done(p.Types())
	s.Blobs = p.blobs()
	return s, err
}

// tooMany reports the lists as the cause of too many parameters.
func (b *builder) tooMany() {
	leaves(b.plan.Where, func(c Condition) {
		if c.Operator == record.In {
			b.fail(c, fmt.Sprintf("has %d of the %d values of this query, which takes at most %d",
				len(c.Operands), len(b.args), b.d.MaxParams))
		}
	})
}

func (b *builder) fail(c Condition, message string) {
	name := b.plan.Kind.Fields[c.Field].Name + c.Operator.Suffix()
	if !slices.ContainsFunc(b.wrong, func(f fault.Field) bool { return f.Name == name }) {
		b.wrong = append(b.wrong, fault.Field{Name: name, Message: message})
	}
}

func (b *builder) text(s string) { b.sql = append(b.sql, s...) }

// separator writes first before the part with index 0, and next before each later one.
func (b *builder) separator(i int, first, next string) {
	if i == 0 {
		b.text(first)
	} else {
		b.text(next)
	}
}

func (b *builder) column(field int) { b.sql = b.d.Quote(b.sql, b.plan.Kind.Fields[field].ColumnName()) }

// compared writes a column that is compared, sorted or grouped.
func (b *builder) compared(field int) {
	around := b.d.Column(field).Compared
	b.text(around.Before)
	b.column(field)
	b.text(around.After)
}

// comparedIn writes the column of a condition.
func (b *builder) comparedIn(c Condition) {
	switch b.form {
	case hiddenColumn:
		b.text("+")
		b.compared(c.Field)
	case typedColumn:
		b.typedValue(c.Field)
	default:
		b.compared(c.Field)
	}
	if c.Folded {
		b.text(b.d.Collate[record.Text])
	}
}

// fragment writes a fragment with numbered parameters.
func (b *builder) fragment(f *Fragment) {
	sql := f.SQL
	for _, a := range f.Args {
		before, after, _ := strings.Cut(sql, "?")
		b.text(before)
		b.param(a)
		sql = after
	}
	b.text(sql)
}

// value writes a column that is sorted, grouped or computed with, and hides it if necessary.
func (b *builder) value(field int) {
	if b.indexes == firstIndex && field != 0 {
		b.text("+")
	}
	b.compared(field)
}

func (b *builder) columns() {
	for i, field := range b.plan.Columns {
		b.separator(i, "", ", ")
		if b.plan.Distinct {
			leafWriter{b}.single(field)
		} else {
			b.column(field)
		}
	}
}

func (b *builder) where() {
	if len(b.plan.Where) > 0 {
		b.text(" WHERE ")
		b.conditions(b.plan.Where)
	}
}

// conditions writes conditions that are joined by AND.
func (b *builder) conditions(where []Condition) {
	for i, c := range where {
		b.separator(i, "", " AND ")
		b.condition(c)
	}
}

func (b *builder) condition(c Condition) {
	switch {
	case c.Join != Leaf && len(c.Parts) == 0:
		b.text(c.Join.empty())
	case c.Join != Leaf:
		for i, part := range c.Parts {
			b.separator(i, "(", c.Join.separator())
			b.condition(part)
		}
		b.text(")")
	case c.Negated:
		b.text("(NOT (")
		b.leaf(c)
		b.text(") OR ")
		b.leaf(Condition{Field: c.Field, Operator: record.IsNull})
		b.text(")")
	default:
		b.leaf(c)
	}
}

func (b *builder) leaf(c Condition) {
	b.form = plainColumn
	if b.indexes.hides(c) {
		b.form = hiddenColumn
	}
	if b.d.File.Typed && !c.Raw {
		leafWriter{b}.typed(c)
		if c.Implied {
			b.text(" IS TRUE") // which hides it from the planner
		}
		return
	}
	b.compare(c)
}

// compare writes the comparison of a leaf.
func (b *builder) compare(c Condition) {
	switch c.Operator {
	case record.Between:
		b.comparedIn(c)
		b.text(" BETWEEN ")
		b.operand(c, record.GreaterThanOrEqualTo, c.Operands[0])
		b.text(" AND ")
		b.operand(c, record.LessThanOrEqualTo, c.Operands[1])
	case record.In:
		b.in(c)
	case record.IsNull:
		b.stored(c.Field)
		b.text(" IS NULL")
	case record.IsNotNull:
		b.stored(c.Field)
		b.text(" IS NOT NULL")
	default:
		b.match(c)
	}
}

// match writes the comparison with a single operand.
func (b *builder) match(c Condition) {
	m := dialect.Matches[c.Operator]
	operand := c.Operands[0]
	operand.Text = m.Operand(operand.Text)
	if m.IsLike() && b.tooLong(operand.Text) {
		b.fail(c, "is longer than the database can search for")
	}

	b.comparedIn(c)
	b.text(m.SQL)
	b.operand(c, c.Operator, operand)
	if b.comparesLengths(c) {
		b.sameLength(c.Field)
	}
}

// tooLong reports whether a pattern of LIKE has more code units than the database accepts.
func (b *builder) tooLong(pattern string) bool {
	limit := b.d.MaxPattern
	if limit == 0 || len(pattern) <= limit { // there are at most as many code units as bytes
		return false
	}
	return utf16Length(pattern) > limit
}

// comparesLengths reports whether a comparison needs that of the lengths as well. The server
// compares bytes as if the shorter ones ended with zeros.
func (b *builder) comparesLengths(c Condition) bool {
	isBytes := b.plan.Kind.Fields[c.Field].Type == record.Bytes
	return isBytes && c.Operator == record.Equal && b.d.ByteLength.Before != ""
}

// sameLength writes the comparison of a column's length with that of the last parameter.
func (b *builder) sameLength(field int) {
	around := b.d.ByteLength
	b.text(around.Before)
	b.column(field)
	b.text(around.After + b.d.Param + strconv.Itoa(len(b.args)) + ")")
}

// operand writes the parameter for a value of a condition.
func (b *builder) operand(c Condition, op record.Operator, v wire.Value) {
	column := b.d.Column(c.Field)
	t := b.plan.Kind.Fields[c.Field].Type.Stored()
	if b.ofDay(c.Field) {
		text, ok := timeOfDay(v)
		if !ok {
			b.fail(c, "must be from PT0S to PT23H59M59.9999999S, because the column is a time of day")
		}
		t = record.TimeSpan
		v.Text = text
	}
	castTo, text := b.d.Operand(t, column, op, v.Text)
	v.Text = text
	if castTo == "" && t == record.Decimal && b.d.Decimal {
		castTo = decimalType(decimalDigits(v.Text))
	}

	arg := Arg{Field: c.Field, Type: t, Class: c.Class, Value: v}
	before, after := "", ""
	if c.Raw && column.Compared.Before != "" {
		// A value from a row is converted as the column is, so that it is compared as rows are
		// sorted. The collation after the column applies to both sides.
		before, after = column.Compared.Before, ")"
	} else if castTo != "" {
		before, after = "CAST(", " AS "+castTo+")"
		arg.Class = row.ClassOfType
	}
	b.text(before)
	b.param(arg)
	b.text(after)
}

// ofDay reports whether a field is a column of the database's type for times of day.
func (b *builder) ofDay(field int) bool {
	return b.plan.Kind.Fields[field].Type == record.TimeSpan && b.d.Column(field).Type == "time"
}

func (b *builder) param(a Arg) {
	b.args = append(b.args, a)
	b.text(b.d.Param)
	b.sql = strconv.AppendInt(b.sql, int64(len(b.args)), 10)
}

func (b *builder) orderBy() {
	for i, o := range b.order {
		b.separator(i, " ORDER BY ", ", ")
		if b.plan.Distinct {
			leafWriter{b}.single(o.Field)
		} else {
			b.value(o.Field)
		}
		if b.plan.PageKeys != nil && o.Field == b.plan.Kind.KeyField() {
			b.text(b.d.Page.Selected)
		}
		if o.Desc {
			b.text(" DESC")
		}
	}
	if b.needsRowID() {
		b.rowID()
	}
}

// needsRowID reports whether rows that are equal in the order may end one page and start the next.
// SQLite sorts them in another way for another page, since it may read that by another index: a
// reader would miss some and get others twice. A page by cursor starts after a whole key.
func (b *builder) needsRowID() bool {
	p := b.plan
	isPartOfOrder := len(p.Order) > 0 && p.Paged() && p.Place == nil
	hasRowID := b.d.File.RowID != "" && !p.Distinct && p.Mask == nil
	return isPartOfOrder && hasRowID
}

// rowID ends the order with the row ID. It has the direction of the last field, as an index has that
// is read backwards.
func (b *builder) rowID() {
	b.separator(len(b.order), " ORDER BY ", ", ")
	b.text(b.d.File.RowID)
	if len(b.order) > 0 && b.order[len(b.order)-1].Desc {
		b.text(" DESC")
	}
}

// page writes Skip and Take in the order that the dialect requires.
func (b *builder) page() {
	skip, take := b.plan.Skip, b.plan.Take
	if take == NoTake && skip == 0 {
		return
	}
	if !b.d.Page.TakeFirst {
		b.pageNumber(b.d.Page.Skip, skip)
	}
	if take == NoTake {
		b.text(b.d.Page.All)
	} else {
		b.pageNumber(b.d.Page.Take, take)
	}
	if b.d.Page.TakeFirst && skip > 0 {
		b.pageNumber(b.d.Page.Skip, skip)
	}
	if b.d.Page.Goal != "" && take != NoTake {
		goal := smallGoal
		if skip > smallPage || take > smallPage-skip {
			goal = largeGoal
		}
		b.sql = fmt.Appendf(b.sql, b.d.Page.Goal, len(b.args)-1, len(b.args), goal)
	}
}

// Numbers of rows that the server optimizes a page for. It would otherwise use Skip and Take of
// the first request, and keep that plan for all others: with one row as the goal it looks
// up each row by an index, which is far too slow for 100,000 rows; with 100,000 it scans
// and sorts the table and reserves memory for that, which is wasted on one row. Two goals
// give two texts, and two plans in the cache. OPTION (RECOMPILE) would instead
// compile each query, for a millisecond or more of the ERP's processors, and numbers in
// the text would add a plan for each page.
const (
	smallPage = 1001 // maximum Skip plus Take for the small goal, with the row after a page by cursor
	smallGoal = 100  // also the server's guess if it does not know the number
	largeGoal = 100_000
)

func (b *builder) pageNumber(around dialect.Cast, n int64) {
	b.text(around.Before)
	b.param(Arg{Field: NoField, Type: record.Long, Value: wire.Value{Int: n}})
	b.text(around.After)
}

func (b *builder) aggregate(a Aggregate) {
	if a.Field == AllRows {
		b.text(b.d.CountAll)
		return
	}
	around := b.aroundAggregate(a)
	inner := b.innerOf(a)
	b.text(around.Before)
	if a.Distinct {
		b.text("DISTINCT ")
	}
	b.text(inner.Before)
	leafWriter{b}.aggregated(a)
	b.text(inner.After)
	b.text(around.After)
}

// aroundAggregate returns the SQL of an aggregate's function, outside of DISTINCT.
func (b *builder) aroundAggregate(a Aggregate) dialect.Cast {
	if a.Function == Count {
		return b.d.Count
	}
	if a.Type(b.plan.Kind) == record.Decimal {
		switch a.Function {
		case Sum:
			return b.d.Sum
		case Avg:
			return b.d.Avg
		}
	}
	return dialect.Cast{Before: a.Function.String() + "(", After: ")"}
}

// innerOf returns the conversion of an aggregate's values, inside of DISTINCT. The server would
// sum integers in their own type, which is too small.
func (b *builder) innerOf(a Aggregate) dialect.Cast {
	computes := a.Function == Sum || a.Function == Avg
	if computes && b.plan.Kind.Fields[a.Field].Type.Integer() {
		return b.d.Integer
	}
	return dialect.Cast{}
}

// stored writes a column as it is stored.
func (b *builder) stored(field int) {
	if b.form == hiddenColumn {
		b.text("+")
	}
	b.column(field)
}

// typedValue writes the value of a column if it can be read as the type of its field.
func (b *builder) typedValue(field int) {
	column := string(b.d.Quote(nil, b.plan.Kind.Fields[field].ColumnName()))
	b.text(TypedValue(b.plan.Kind.Fields[field], column))
}
