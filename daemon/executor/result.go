// Package executor runs the plans of package query on SQLite or SQL Server. It manages
// sessions, applies time limits, computes totals and aggregates, and binds parameters with
// the types of the live columns.
package executor

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// Limits are the time limits of statements. 0 means no limit.
type Limits struct {
	Row   time.Duration // maximum time between rows
	Count time.Duration // maximum time to count a total

	// PageSteps is the maximum number of SQLite's instructions to count a total that was not
	// requested; 0 for no limit.
	PageSteps int

	// TotalAge is the maximum age of a total of a server that is returned again; 0 to count each
	// time.
	TotalAge time.Duration
}

// Database is a database that plans are executed on.
type Database interface {
	// Session opens a connection for the statements of one plan. If there are several and
	// the database can do so without blocking writers, they see the same snapshot.
	Session(ctx context.Context, kind *record.Kind, several bool) (Session, error)
}

// Session is a connection that runs one statement at a time.
type Session interface {
	// table returns the dialect for the kind's table, and its quoted name.
	table() (*dialect.Dialect, string)
	// run starts a statement. It fails with fault.Timeout if a row takes longer than
	// limit; the time between calls of Next does not count.
	run(st query.Statement, limit time.Duration) (row.Source, error)
	// keys returns the columns of the unique indexes of the kind's table, those of the
	// primary key first.
	keys() ([]mssql.KeyColumn, error)
	// leading returns the first columns of the indexes of the kind's table that have all rows.
	leading() ([]string, error)
	// pageable rejects a page by cursor if the database compares a column of its order with
	// the last row of the page before in another way than it sorts the column.
	pageable(plan *query.Plan) error
	// limitSteps makes a statement fail with fault.Timeout after so many of SQLite's instructions,
	// until it is called with 0. A server has no such limit.
	limitSteps(n int)
	// consistent reports whether all reads of a statement see the same rows.
	consistent() bool
	// totals returns the remembered totals of the database.
	totals() *totals
	// content identifies the content of the database that the statements of the session
	// read: it is the same only if no row has changed. It is empty if it is unknown.
	content() string
	// close stops the running statement and releases the connection.
	close()
}

// Result is the result of a plan, read row by row: a row.Source followed by a Tail. It
// holds a connection until it is closed.
type Result struct {
	limits  func() Limits
	plan    *query.Plan
	session Session
	rows    row.Source // nil if no rows were requested, and after the last row
	groups  *int64     // number of all groups; nil unless the rows are groupedRows
}

// Tail contains the total and the aggregates of a result.
type Tail struct {
	Total int64
	Known bool // Total was counted or follows from the rows

	TooCostly bool // Total is unknown, since counting it would take too long

	Meta []Meta
	Next string // the cursor of the next page; empty if there is none
}

// Meta is a computed value as text, under its requested name.
type Meta struct{ Name, Value string }

// Select starts the plan's statement on a database. limits is called for each statement.
func Select(ctx context.Context, db Database, limits func() Limits, plan *query.Plan) (*Result, error) {
	var parts []query.Plan // nil unless the rows are a page by cursor
	var positions []int
	if isPageByCursor(plan) {
		parts, positions = plan.Place.Parts(*plan)
	}
	countsAll := plan.Count && plan.Paged()
	several := len(plan.Aggregates) > 0 || countsAll || len(parts) > 1
	session, err := db.Session(ctx, plan.Source(), several)
	if err != nil {
		return nil, err
	}
	r := &Result{limits: limits, plan: plan, session: session}
	if plan.Take == 0 {
		return r, nil
	}
	if parts != nil {
		r.rows, err = newPageRows(r, parts, positions)
	} else {
		r.rows, err = r.open(several)
	}
	if err != nil {
		session.close()
		return nil, err
	}
	return r, nil
}

// isPageByCursor reports whether the rows of a plan are a page by cursor. Without a position and a
// limit they are the rows of all pages, which are read like those of other plans.
func isPageByCursor(plan *query.Plan) bool {
	if plan.Place == nil {
		return false
	}
	return plan.Place.After != nil || plan.Take != query.NoTake
}

// open starts the statement that reads the rows.
func (r *Result) open(several bool) (row.Source, error) {
	s, isFile := r.session.(*fileSession)
	if isFile && r.plan.Group != nil {
		rows, err := r.openGroups()
		if err != nil || rows != nil {
			return rows, err
		}
	}
	mayPause := isFile && s.file.drain != nil
	if mayPause && resumable(r.plan, several) {
		return newResumingRows(r, s.file.drain)
	}
	return r.run(r.plan)
}

// compiler is a function of package query that compiles a plan to a statement.
type compiler func(*query.Plan, *dialect.Dialect, string) (query.Statement, error)

// run starts the statement that reads the rows of a plan.
func (r *Result) run(plan *query.Plan) (row.Source, error) {
	st, err := r.compile(plan, query.Compile)
	if err != nil {
		return nil, err
	}
	return r.session.run(st, r.limits().Row)
}

// compile compiles a plan for the table of the session.
func (r *Result) compile(plan *query.Plan, compile compiler) (query.Statement, error) {
	d, table := r.session.table()
	return compile(plan, d, table)
}

// HoldsLocks reports whether the statement may hold locks on others' tables while its
// rows are read.
func (r *Result) HoldsLocks() bool { return r.isOnServer() }

func (r *Result) isOnServer() bool {
	_, isServer := r.session.(*serverSession)
	return isServer
}

// Next returns the next row, nil after the last one and after Tail.
func (r *Result) Next() ([]row.Cell, error) {
	if r.rows == nil {
		return nil, nil
	}
	return r.rows.Next()
}

// Position describes the row that Next has returned by the fields of its order, which ends with
// the key. It is empty if the rows are no page by cursor.
func (r *Result) Position() string {
	p, isPage := r.rows.(*pageRows)
	if !isPage || p.current == nil {
		return ""
	}
	values := make([]string, len(p.positions))
	for i, column := range p.positions {
		f := r.plan.Kind.Fields[r.plan.Order[i].Field]
		values[i] = f.Name + " = " + p.current[column].Text(f.Type)
	}
	return strings.Join(values, ", ")
}

// Tail returns the total and the aggregates. rows is the number of rows read. Rows that were not read
// are dropped.
func (r *Result) Tail(rows int64) (Tail, error) {
	t := Tail{Next: r.next()}
	if r.rows != nil {
		r.rows.Close()
		r.rows = nil
	}
	if err := r.total(&t, rows); err != nil {
		return t, err
	}
	return t, r.aggregates(&t)
}

// total counts the matching rows if their number does not follow from the rows read. A timeout is only
// an error if the request requires the total.
func (r *Result) total(t *Tail, rows int64) error {
	t.Total, t.Known = r.plan.Total(rows)
	if t.Known || !r.plan.Counts(rows) {
		return nil
	}
	if r.groups != nil {
		t.Total = *r.groups
		t.Known = true
		return nil
	}

	total, age, err := r.count()
	if fault.Is(err, fault.Timeout) && !r.plan.TotalRequested {
		t.TooCostly = true
		t.Meta = append(t.Meta, Meta{
			Name:  query.NotCounted,
			Value: "not counted: it would take too long; add Include=Total to wait for it",
		})
		return nil
	}
	if err != nil {
		return err
	}
	t.Total = total
	t.Known = true
	if age > 0 {
		seconds := math.Ceil(age.Seconds()) // 0 would mean that it was counted now
		t.Meta = append(t.Meta, Meta{Name: query.TotalAge, Value: strconv.FormatInt(int64(seconds), 10)})
	}
	return nil
}

// count returns the number of the matching rows, and its age if a server has counted it before.
func (r *Result) count() (total int64, age time.Duration, err error) {
	st, err := r.compile(r.plan, query.CompileCount)
	if err != nil {
		return 0, 0, err
	}
	execute := func() (int64, error) { return r.countWithinSteps(st) }
	// The service's own tables change all the time, so that their totals are not remembered.
	if r.plan.Kind.Database != record.RecordsDB || r.plan.CountAgain {
		total, err = execute()
		return total, 0, err
	}
	maxAge := time.Duration(0)
	if r.isOnServer() { // the totals of a file are exact
		maxAge = r.limits().TotalAge
	}
	return r.session.totals().count(st, r.session.content(), maxAge, execute)
}

// countWithinSteps counts with a statement. In a file, a total that was not requested is only counted if
// that is quick. A request without rows has no other purpose than the total: it is not limited by steps,
// but gets a notice instead of an error if the statement exceeds the time limit.
func (r *Result) countWithinSteps(st query.Statement) (int64, error) {
	execute := func() (int64, error) { return r.executeCount(st) }
	steps := r.limits().PageSteps
	isRequested := r.plan.TotalRequested || r.plan.Take == 0
	if steps <= 0 || isRequested {
		return execute()
	}
	r.session.limitSteps(steps)
	defer r.session.limitSteps(0)
	return r.session.totals().attempt(st, execute)
}

// executeCount counts with a statement, or the groups that can be counted without it.
func (r *Result) executeCount(st query.Statement) (n int64, err error) {
	n, ok, err := r.countGroups()
	if err != nil || ok {
		return n, err
	}
	err = readRow(r.session, st, r.limits().Count, func(cells []row.Cell) { n = cells[0].Int })
	return n, countLimitError(err)
}

// aggregates adds the values of the functions of Include.
func (r *Result) aggregates(t *Tail) error {
	if len(r.plan.Aggregates) == 0 {
		return nil
	}
	plan := *r.plan
	computed, readable, err := r.compute(&plan)
	if err == nil && !readable { // then the end of an index is not sufficient
		plan.Readable = true
		computed, _, err = r.compute(&plan)
	}
	t.Meta = append(t.Meta, computed...)
	return err
}

// compute computes the aggregates of a plan. readable is false if one is a value that cannot
// be read as the type of its field.
func (r *Result) compute(plan *query.Plan) (computed []Meta, readable bool, err error) {
	st, err := r.compile(plan, query.CompileAggregates)
	if err != nil {
		return nil, false, err
	}
	readable = true
	err = readRow(r.session, st, r.limits().Count, func(cells []row.Cell) {
		for i, a := range plan.Aggregates {
			cell := cells[i]
			t := a.Type(plan.Kind)
			isUntypedNull := cell.Null && cell.Class != row.ClassOfType
			if cell.Misfit || isUntypedNull {
				readable = false
			}
			if !cell.Null {
				computed = append(computed, Meta{Name: a.Name, Value: cell.Text(t)})
			}
		}
	})
	return computed, readable, countLimitError(err)
}

// countLimitError returns the error of a statement that is limited by query.count_timeout.
func countLimitError(err error) error {
	if !fault.Is(err, fault.Timeout) {
		return err
	}
	return fault.Wrap(err, fault.Timeout, "counting the rows, or computing Include, exceeded the time limit query.count_timeout; "+
		"request neither, or filter by an indexed field")
}

// readRow runs a statement of one row, and calls read with it.
func readRow(s Session, st query.Statement, limit time.Duration, read func([]row.Cell)) error {
	rows, err := s.run(st, limit)
	if err != nil {
		return err
	}
	defer rows.Close()
	cells, err := rows.Next()
	if err == nil && cells != nil {
		read(cells)
	}
	return err
}

// Close stops the statement and releases the connection.
func (r *Result) Close() error {
	if r.session != nil {
		r.session.close()
		r.session = nil
		r.rows = nil
	}
	return nil
}
