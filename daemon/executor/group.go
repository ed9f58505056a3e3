package executor

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/tsql"
)

// groupedRows are the groups of a plan on a SQLite file, in the order of the plan. SQLite would
// sort all rows by the value of their group, with a call of a collation for each comparison, which
// takes several times as long as finding the group of each row in a map (benchmark R24).
type groupedRows struct {
	groups [][]row.Cell
	next   int
}

func (g *groupedRows) Next() ([]row.Cell, error) {
	if g.next == len(g.groups) {
		return nil, nil
	}
	g.next++
	return g.groups[g.next-1], nil
}

func (g *groupedRows) Close() error { return nil }

// openGroups returns the groups of the plan; nil if SQLite has to group the rows.
func (r *Result) openGroups() (row.Source, error) {
	groups, ok, err := r.group(r.plan, r.limits().Row)
	if err != nil || !ok {
		return nil, err
	}
	total := int64(len(groups))
	r.groups = &total
	return &groupedRows{groups: page(groups, r.plan)}, nil
}

// countGroups returns the number of groups of the plan. ok is false if SQLite has to count them.
func (r *Result) countGroups() (n int64, ok bool, err error) {
	_, isFile := r.session.(*fileSession)
	if !isFile || r.plan.Group == nil {
		return 0, false, nil
	}
	group := *r.plan.Group
	group.Aggregates = nil
	plan := *r.plan
	plan.Group = &group
	plan.Order = nil
	groups, ok, err := r.group(&plan, r.limits().Count)
	return int64(len(groups)), ok, err
}

// group reads the rows of a plan and groups them. ok is false if SQLite has to do that: if there
// are many groups, or a value is not of the type of its field.
func (r *Result) group(plan *query.Plan, limit time.Duration) (groups [][]row.Cell, ok bool, err error) {
	d, table := r.session.table()
	st, isComputable, err := query.CompileGrouped(plan, d, table)
	if err != nil || !isComputable {
		return nil, false, err
	}
	rows, err := r.session.run(st, limit)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()

	g := newGrouping(plan)
	isComplete, err := g.read(rows, limit)
	if err != nil || !isComplete {
		return nil, false, err
	}
	groups, ok = g.sorted()
	return groups, ok, nil
}

// page returns the groups after Skip, up to Take.
func page(groups [][]row.Cell, p *query.Plan) [][]row.Cell {
	groups = groups[min(p.Skip, int64(len(groups))):]
	if p.Take != query.NoTake && p.Take < int64(len(groups)) {
		groups = groups[:p.Take]
	}
	return groups
}

// Limits of the memory of a grouping. Beyond them SQLite groups the rows, by sorting them in
// temporary files.
const (
	maxGroupValues = 50_000  // values of all groups, about 150 bytes each
	maxGroupTexts  = 4 << 20 // bytes of the values of groups, and of minimums and maximums
)

// grouping computes the groups of a plan.
type grouping struct {
	plan   *query.Plan
	byKey  map[string]*group
	groups []*group
	texts  int    // bytes that the groups hold
	buffer []byte // key of the current row
	digits []byte // digits of the current integer
}

// group has the values of a group.
type group struct {
	value    row.Cell // of its first row
	computed []computed
}

// computed is the value of an aggregate, of which each uses a part.
type computed struct {
	count   int64
	sum     tsql.Sum
	extreme row.Cell // minimum or maximum
}

func newGrouping(p *query.Plan) *grouping {
	return &grouping{plan: p, byKey: make(map[string]*group)}
}

// read adds all rows. isComplete is false if SQLite has to group them. Since a client waits for
// all of them, they have the time limit of a row.
func (g *grouping) read(rows row.Source, limit time.Duration) (isComplete bool, err error) {
	const rowsPerCheck = 1024
	startedAt := time.Now()
	for n := 1; ; n++ {
		cells, err := rows.Next()
		if err != nil || cells == nil {
			return err == nil, err
		}
		if !g.add(cells) {
			return false, nil
		}
		if limit > 0 && n%rowsPerCheck == 0 && time.Since(startedAt) > limit {
			return false, timeLimitError(errors.New("the rows were not grouped in time"))
		}
	}
}

// add adds a row. It returns false if the groups are too large, or if a value is not of the type
// of its field, so that SQLite compares it in another way, or refuses to add it.
func (g *grouping) add(cells []row.Cell) bool {
	isForeign := func(c row.Cell) bool { return !c.Null && (c.Misfit || c.Class != row.ClassOfType) }
	if slices.ContainsFunc(cells, isForeign) {
		return false
	}
	group := g.groupOf(cells[0])
	column := 1
	for i, a := range g.plan.Group.Aggregates {
		c := &group.computed[i]
		if a.Field == query.AllRows {
			c.count++
			continue
		}
		cell := cells[column]
		column++
		if !cell.Null && !g.compute(c, a, cell) {
			return false
		}
	}
	values := len(g.groups) * (1 + len(g.plan.Group.Aggregates))
	return values <= maxGroupValues && g.texts <= maxGroupTexts
}

// groupOf returns the group of a value.
func (g *grouping) groupOf(value row.Cell) *group {
	g.buffer = g.appendKey(g.buffer[:0], value)
	existing, ok := g.byKey[string(g.buffer)]
	if ok {
		return existing
	}
	added := &group{
		value:    value,
		computed: make([]computed, len(g.plan.Group.Aggregates)),
	}
	added.value.Data = bytes.Clone(value.Data)
	g.byKey[string(g.buffer)] = added
	g.groups = append(g.groups, added)
	g.texts += len(g.buffer) + len(value.Data)
	return added
}

// appendKey appends bytes that are the same for values of the same group.
func (g *grouping) appendKey(dst []byte, value row.Cell) []byte {
	if value.Null {
		return dst
	}
	dst = append(dst, '=')
	switch g.collation() {
	case record.Text:
		return tsql.AppendTextKey(dst, value.Data)
	case record.Decimal:
		return tsql.AppendDecimalKey(dst, value.Data)
	case record.DateTime, record.Guid:
		return append(dst, value.Data...)
	}
	return binary.BigEndian.AppendUint64(dst, uint64(value.Int))
}

// collation returns the type by which values of groups are compared. The periods of dates are
// texts that are compared as dates are.
func (g *grouping) collation() record.Type {
	if g.plan.Group.Period > 0 {
		return record.DateTime
	}
	return g.plan.Kind.Fields[0].Type.Stored()
}

// compute adds a value to an aggregate. It returns false if it cannot be added.
func (g *grouping) compute(c *computed, a query.Aggregate, value row.Cell) bool {
	c.count++
	t := g.plan.Group.Source.Fields[a.Field].Type.Stored()
	switch a.Function {
	case query.Sum, query.Avg:
		if t.Integer() {
			g.digits = strconv.AppendInt(g.digits[:0], value.Int, 10)
			value.Data = g.digits
		}
		return c.sum.Add(value.Data) == nil // otherwise SQLite returns the error
	case query.Min, query.Max:
		sign := 1
		if a.Function == query.Max {
			sign = -1
		}
		if c.count == 1 || sign*compareCells(t, value, c.extreme) < 0 {
			g.texts += len(value.Data) - len(c.extreme.Data)
			data := append(c.extreme.Data[:0], value.Data...)
			c.extreme = value
			c.extreme.Data = data
		}
	}
	return true
}

// compareCells compares values of a type as SQLite does, which sorts nulls before all others.
func compareCells(t record.Type, a, b row.Cell) int {
	switch {
	case a.Null && b.Null:
		return 0
	case a.Null:
		return -1
	case b.Null:
		return 1
	}
	switch t.Stored() {
	case record.Text:
		return tsql.CompareText(a.Data, b.Data)
	case record.Decimal:
		return tsql.CompareDecimal(a.Data, b.Data)
	case record.DateTime, record.Guid:
		return bytes.Compare(a.Data, b.Data)
	}
	return cmp.Compare(a.Int, b.Int)
}

// sorted returns the columns of the groups in the order of the plan. ok is false if a value
// cannot be computed.
func (g *grouping) sorted() (rows [][]row.Cell, ok bool) {
	rows = make([][]row.Cell, len(g.groups))
	for i, group := range g.groups {
		cells, err := g.columns(group)
		if err != nil {
			return nil, false // SQLite returns the error
		}
		rows[i] = cells
	}
	slices.SortFunc(rows, func(a, b []row.Cell) int {
		for _, o := range g.plan.Order {
			t := g.plan.Kind.Fields[o.Field].Type
			if o.Field == 0 {
				t = g.collation()
			}
			c := compareCells(t, a[o.Field], b[o.Field])
			if o.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	return rows, true
}

// columns returns the columns of a group.
func (g *grouping) columns(group *group) ([]row.Cell, error) {
	cells := []row.Cell{group.value}
	for i, a := range g.plan.Group.Aggregates {
		cell, err := group.computed[i].result(a.Function)
		if err != nil {
			return nil, err
		}
		cells = append(cells, cell)
	}
	return cells, nil
}

// result returns the value of an aggregate.
func (c *computed) result(f query.Function) (cell row.Cell, err error) {
	switch {
	case f == query.Count:
		cell.Int = c.count
	case c.count == 0:
		cell.Null = true
	case f == query.Sum:
		cell.Data = c.sum.AppendSum(nil)
	case f == query.Avg:
		cell.Data, err = c.sum.AppendAvg(nil)
	default:
		cell = c.extreme
	}
	return cell, err
}
