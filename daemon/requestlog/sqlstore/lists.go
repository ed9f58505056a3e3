package sqlstore

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/sqlite"
)

// timeColumn is the time of a request.
const timeColumn = "DateTime"

// Select starts the statement of a plan. It does not read, sort or count the whole log, if the plan
// has only conditions on the time, or an order by time.
func (f *File) Select(
	ctx context.Context, limits func() executor.Limits, p *query.Plan,
) (*executor.Result, error) {
	plan, err := f.ListPlan(ctx, limits, p)
	if err != nil {
		return nil, err
	}
	return executor.Select(ctx, f, limits, plan)
}

// ListPlan returns the plan that Select executes. limits apply to the rows that it reads to find
// the page.
func (f *File) ListPlan(
	ctx context.Context, limits func() executor.Limits, p *query.Plan,
) (*query.Plan, error) {
	if p.Group != nil || p.Take == 0 && !p.Count {
		return p, nil
	}
	l := newList(p)
	if err := f.read(ctx, l.findPeriod); err != nil {
		return nil, err
	}
	if !l.isPageByTime() {
		return &l.plan, nil
	}
	keys, err := f.pageKeys(ctx, limits, l)
	if err != nil || keys == nil {
		return &l.plan, err
	}
	l.setPage(keys)
	return &l.plan, nil
}

// read calls work with a connection for queries.
func (f *File) read(ctx context.Context, work func(*sqlite.Conn) error) error {
	readers, err := f.open(ctx)
	if err != nil {
		return err
	}
	conn, err := readers.Pool.Get(ctx)
	if err != nil {
		return executor.Classify(err)
	}
	defer readers.Pool.Put(conn)
	defer conn.InterruptOn(ctx)()
	return executor.Classify(work(conn))
}

// list is a list of requests.
type list struct {
	plan   query.Plan
	time   int         // field of the time
	since  *time.Time  // no row is before it
	until  *time.Time  // no row is after it
	isTime bool        // the list has no other conditions
	onTime []query.Arg // operands of the conditions on the time
	sql    string      // these conditions, each after AND
	hint   int64       // ID of a row at the start of the list; 0 for none
	ids    idRange     // IDs of the period, and of some rows around it
}

func newList(p *query.Plan) *list {
	l := &list{plan: *p, isTime: true}
	l.time, _ = p.Kind.Column(timeColumn)
	for _, c := range p.Where {
		if !l.add(c) {
			l.isTime = false
		}
	}
	return l
}

// add adds a condition on the time. It returns false for another one.
func (l *list) add(c query.Condition) bool {
	if !c.IsPlain() || c.Field != l.time {
		return false
	}
	if c.Operator == record.Between {
		return l.addBound(record.GreaterThanOrEqualTo, c.Operands[0]) &&
			l.addBound(record.LessThanOrEqualTo, c.Operands[1])
	}
	return len(c.Operands) == 1 && l.addBound(c.Operator, c.Operands[0])
}

// addBound adds a comparison with the time.
func (l *list) addBound(op record.Operator, operand wire.Value) bool {
	at, err := time.Parse(wire.DateLayout, operand.Text)
	if err != nil {
		return false
	}
	comparison := ""
	switch op {
	case record.Equal:
		comparison = "="
	case record.GreaterThan:
		comparison = ">"
	case record.GreaterThanOrEqualTo:
		comparison = ">="
	case record.LessThan:
		comparison = "<"
	case record.LessThanOrEqualTo:
		comparison = "<="
	default:
		return false
	}
	isLower := comparison[0] != '<'
	if isLower && (l.since == nil || at.After(*l.since)) {
		l.since = &at
	}
	isUpper := comparison[0] != '>'
	if isUpper && (l.until == nil || at.Before(*l.until)) {
		l.until = &at
	}
	l.sql += " AND DateTime " + comparison + " ?"
	l.onTime = append(l.onTime, query.Arg{Field: l.time, Type: record.DateTime, Value: operand})
	return true
}

// findPeriod limits the plan to the IDs of the period, and counts these if the plan does.
func (l *list) findPeriod(conn *sqlite.Conn) error {
	ids, err := newIDsByTime(conn)
	if err != nil {
		return err
	}
	ids.hint = l.hint
	l.ids, err = ids.period(l.since, l.until)
	if err != nil {
		return err
	}
	l.limit(l.ids)
	if !l.plan.Count || !l.isTime || l.plan.Distinct {
		return nil
	}
	return l.count(ids, l.ids)
}

// limit limits the plan to IDs.
func (l *list) limit(ids idRange) {
	key := l.plan.Kind.KeyField()
	where := slices.Clip(l.plan.Where)
	if ids.first > 0 {
		where = append(where, query.Condition{
			Field:    key,
			Operator: record.GreaterThanOrEqualTo,
			Operands: []wire.Value{{Int: ids.first}},
		})
	}
	if ids.end < math.MaxInt64 {
		where = append(where, query.Condition{
			Field:    key,
			Operator: record.LessThan,
			Operands: []wire.Value{{Int: ids.end}},
		})
	}
	l.plan.Where = where
}

// count counts the rows of a plan with only conditions on the time, by the difference of their IDs.
func (l *list) count(ids *idsByTime, all idRange) error {
	if l.since == nil && l.until == nil {
		l.plan.Matches = &query.Fragment{SQL: countAll}
		return nil
	}
	sure, err := ids.surePeriod(l.since, l.until)
	if err != nil {
		return err
	}
	missingTo, _, err := ids.conn.QueryInt(lastMissing)
	if err != nil || sure.first <= missingTo || sure.first >= sure.end {
		return err // with few rows, or among missing ones
	}
	before := l.countIn(idRange{all.first, sure.first})
	between := query.Fragment{SQL: countBetween, Args: []query.Arg{idArg(sure.end - 1), idArg(sure.first)}}
	after := l.countIn(idRange{sure.end, all.end})
	l.plan.Matches = &query.Fragment{
		SQL:  "SELECT (" + before.SQL + ") + (" + between.SQL + ") + (" + after.SQL + ")",
		Args: slices.Concat(before.Args, between.Args, after.Args),
	}
	return nil
}

const (
	lastMissing = `SELECT COALESCE(MAX(LastId), -1) FROM WH_RequestLogMissing WHERE Number > 0`
	countAll    = `SELECT COALESCE((SELECT MAX(Id) FROM WH_RequestLog) - (SELECT MIN(Id) FROM WH_RequestLog) + 1
	- (SELECT Number FROM WH_RequestLogMissing), 0)`
	countBetween = `SELECT MAX(0, COALESCE(MIN(?, (SELECT MAX(Id) FROM WH_RequestLog))
	- MAX(?, (SELECT MIN(Id) FROM WH_RequestLog)) + 1, 0))`
)

// countIn counts the rows of the period among some IDs.
func (l *list) countIn(ids idRange) query.Fragment {
	return query.Fragment{
		SQL:  "SELECT COUNT(*) FROM WH_RequestLog WHERE Id >= ? AND Id < ?" + l.sql,
		Args: append([]query.Arg{idArg(ids.first), idArg(ids.end)}, l.onTime...),
	}
}

func idArg(id int64) query.Arg {
	return query.Arg{Field: query.NoField, Type: record.Long, Value: wire.Value{Int: id}}
}

// maxPage is the number of rows up to the end of a page by time that are read to find it.
const maxPage = 100_000

// isPageByTime reports whether the plan lists a limited number of rows by time, from a limited place
// on.
func (l *list) isPageByTime() bool {
	p := &l.plan
	isByTime := len(p.Order) > 0 && p.Order[0].Field == l.time
	isPage := p.Take > 0 && p.Take < maxPage && p.Skip < maxPage
	return isByTime && isPage && !p.Distinct
}

// setPage has the plan read only rows with the keys.
func (l *list) setPage(keys *query.Fragment) {
	if l.plan.Place == nil {
		l.plan.PageKeys = keys
		return
	}
	l.plan.FasterPart = func(part *query.Plan) *query.Plan {
		faster := *part
		faster.PageKeys = keys
		return &faster
	}
}

// pageKeys selects the keys of the rows of a page by time, and of some others; nil if the page has
// all rows.
func (f *File) pageKeys(
	ctx context.Context, limits func() executor.Limits, l *list,
) (*query.Fragment, error) {
	rows := l.plan.Skip + l.plan.Take
	if place := l.plan.Place; place != nil {
		rows++ // the first one of the next page
		l = newList(lastPart(place, l.plan))
		l.plan.Count = false
		l.hint = rowBefore(place, l.plan.Kind.KeyField())
		if err := f.read(ctx, l.findPeriod); err != nil {
			return nil, err
		}
	}
	end, err := f.endOfPage(ctx, limits, l, rows)
	if err != nil || end == nil {
		return nil, err
	}
	var ids idRange
	find := func(conn *sqlite.Conn) (err error) {
		ids, err = l.idsOfPage(conn, end)
		return err
	}
	if err := f.read(ctx, find); err != nil {
		return nil, err
	}
	return &query.Fragment{
		SQL:  "SELECT Id FROM WH_RequestLog WHERE Id >= ? AND Id < ?",
		Args: []query.Arg{idArg(ids.first), idArg(ids.end)},
	}, nil
}

// lastPart returns the part of a page by time that has all rows but those at the time of the row
// before the page. In descending order, a part with the rows without a time follows, which do not
// exist.
func lastPart(place *query.Place, plan query.Plan) *query.Plan {
	parts, _ := place.Parts(plan)
	hasTime := func(part query.Plan) bool {
		conditions := part.Where
		return len(conditions) == 0 || conditions[len(conditions)-1].Operator != record.IsNull
	}
	for len(parts) > 1 && !hasTime(parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	return &parts[len(parts)-1]
}

// rowBefore returns the ID of the row before a page; 0 for the first page.
func rowBefore(place *query.Place, key int) int64 {
	for i, after := range place.After {
		if place.Order[i].Field == key {
			return after.Int
		}
	}
	return 0
}

// pageEnd is the row at which a list has as many rows by ID as the page needs.
type pageEnd struct {
	id   int64
	time time.Time
}

// endOfPage returns the last one of the first rows of a list by ID, in the direction of its order;
// nil if there are fewer.
func (f *File) endOfPage(
	ctx context.Context, limits func() executor.Limits, l *list, rows int64,
) (*pageEnd, error) {
	desc := l.plan.Order[0].Desc
	if !desc {
		rows += pruneBatch // some of which may be deleted before the page is read
	}
	key := l.plan.Kind.KeyField()
	plan := &query.Plan{
		Kind:    l.plan.Kind,
		Columns: []int{l.time, key},
		Where:   l.plan.Where,
		Order:   []query.Order{{Field: key, Desc: desc}},
		Skip:    rows - 1,
		Take:    1,
	}
	result, err := executor.Select(ctx, f, limits, plan)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	cells, err := result.Next()
	if err != nil || cells == nil {
		return nil, err
	}
	at, err := time.Parse(wire.DateLayout, cells[0].Text(record.DateTime))
	if err != nil {
		return nil, err
	}
	return &pageEnd{id: cells[1].Int, time: at}, nil
}

// idsOfPage returns the IDs among which are the rows of a page: the times of as many rows by ID as
// it needs are at most the lag beyond that of the last one.
func (l *list) idsOfPage(conn *sqlite.Conn, end *pageEnd) (idRange, error) {
	ids, err := newIDsByTime(conn)
	if err != nil {
		return idRange{}, err
	}
	ids.hint = end.id
	if l.plan.Order[0].Desc {
		last := end.time.Add(-ids.lag)
		page, err := ids.period(&last, nil)
		page.end = l.ids.end
		return page, err
	}
	last := end.time.Add(ids.lag)
	page, err := ids.period(nil, &last)
	page.first = l.ids.first
	return page, err
}
