package store

import (
	"context"
	"errors"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/sqlite"
)

// Result is the answer to a plan, read while it is consumed: a row.Source with
// a tail. It holds a connection until it is closed.
type Result struct {
	store   *Store
	plan    *query.Plan
	conn    *sqlite.Conn
	stmt    *sqlite.Stmt
	cells   []row.Cell
	types   []record.Type
	unwatch func()
	ctx     context.Context
	guard   guard
}

// Tail is what is known of a result once its last row was read.
type Tail struct {
	Total int64
	Known bool // Total was counted or follows from the rows
	Meta  []Meta
}

// Meta is one computed value, as text, under the name that was asked for.
type Meta struct{ Name, Value string }

// Select starts the plan's statement. Where something is computed over all
// matches besides, one transaction makes rows and totals agree.
func (s *Store) Select(ctx context.Context, plan *query.Plan) (*Result, error) {
	conn, err := s.records.Get(ctx)
	if err != nil {
		return nil, classify(err)
	}
	r := &Result{store: s, plan: plan, conn: conn, ctx: ctx, unwatch: conn.Watch(ctx)}
	if err := r.begin(); err != nil {
		r.Close()
		return nil, r.classify(err)
	}
	return r, nil
}

func (r *Result) begin() error {
	if len(r.plan.Aggregates) > 0 || r.plan.Count && r.plan.Paged() {
		if err := r.beginTransaction(); err != nil {
			return err
		}
	}
	if r.plan.Take == 0 {
		return nil
	}
	statement, err := query.Compile(r.plan, r.store.dialect, r.store.sources[r.plan.Kind])
	if err != nil {
		return err
	}
	if r.stmt, err = r.conn.Prepare(statement.SQL); err != nil {
		return err
	}
	bind(r.stmt, statement.Args)
	r.types, r.cells = statement.Types, make([]row.Cell, len(statement.Types))
	r.guard.watch(r.conn.Interrupt, r.store.config.RowTimeout)
	return nil
}

func (r *Result) beginTransaction() error {
	stmt, err := r.conn.Prepare("BEGIN")
	if err != nil {
		return err
	}
	defer stmt.Reset()
	_, err = stmt.Step()
	return err
}

func bind(stmt *sqlite.Stmt, args []query.Arg) {
	for i, a := range args {
		switch {
		case a.Type.Integer() || a.Type == record.Bool:
			stmt.BindInt(i+1, a.Value.Int)
		case a.Type == record.Bytes:
			stmt.BindBytes(i+1, a.Value.Bytes)
		default:
			stmt.BindText(i+1, a.Value.Text)
		}
	}
}

// Next is row.Source's.
func (r *Result) Next() ([]row.Cell, error) {
	if r.stmt == nil {
		return nil, nil
	}
	r.guard.enter()
	more, err := r.stmt.Step()
	r.guard.leave()
	if err != nil || !more {
		return nil, r.classify(err)
	}
	r.stmt.Cells(r.cells, r.types)
	return r.cells, nil
}

// Tail computes what stands behind the rows, of which so many were read.
func (r *Result) Tail(rows int64) (Tail, error) {
	var t Tail
	r.finishRows()
	if t.Total, t.Known = r.plan.Total(rows); !t.Known && r.plan.Count {
		total, err := r.count()
		switch {
		case err == nil:
			t.Total, t.Known = total, true
		case fault.Is(err, fault.Timeout) && !r.plan.Asked:
			t.Meta = []Meta{{"Total", "not counted: it would take too long"}}
		default:
			return t, err
		}
	}
	computed, err := r.aggregates()
	t.Meta = append(t.Meta, computed...)
	return t, err
}

func (r *Result) finishRows() {
	r.guard.stop()
	if r.stmt != nil {
		r.stmt.Reset()
		r.stmt = nil
	}
}

func (r *Result) count() (int64, error) {
	statement, err := query.CompileCount(r.plan, r.store.dialect, r.store.sources[r.plan.Kind])
	if err != nil {
		return 0, err
	}
	var n int64
	err = r.one(statement, func(cells []row.Cell) { n = cells[0].Int })
	return n, err
}

func (r *Result) aggregates() ([]Meta, error) {
	if len(r.plan.Aggregates) == 0 {
		return nil, nil
	}
	statement, err := query.CompileAggregates(r.plan, r.store.dialect, r.store.sources[r.plan.Kind])
	if err != nil {
		return nil, err
	}
	var meta []Meta
	err = r.one(statement, func(cells []row.Cell) {
		for i, a := range r.plan.Aggregates {
			if !cells[i].Null {
				meta = append(meta, Meta{a.Name, cells[i].Text(statement.Types[i])})
			}
		}
	})
	return meta, err
}

// one runs a statement that gives a single row, under the limit for counts.
func (r *Result) one(statement query.Statement, read func([]row.Cell)) error {
	stmt, err := r.conn.Prepare(statement.SQL)
	if err != nil {
		return r.classify(err)
	}
	defer stmt.Reset()
	bind(stmt, statement.Args)
	r.guard.watch(r.conn.Interrupt, r.store.config.CountTimeout)
	defer r.guard.stop()
	r.guard.enter()
	_, err = stmt.Step()
	r.guard.leave()
	if err != nil {
		return r.classify(err)
	}
	cells := make([]row.Cell, len(statement.Types))
	stmt.Cells(cells, statement.Types)
	read(cells)
	return nil
}

// Close stops the statement and gives the connection back.
func (r *Result) Close() error {
	if r.conn == nil {
		return nil
	}
	r.guard.stop()
	r.unwatch()
	r.store.records.Put(r.conn)
	r.conn, r.stmt = nil, nil
	return nil
}

// classify tells whose doing an interrupt was: the client's, who has gone, or
// the time limit's.
func (r *Result) classify(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) || !e.Interrupted() {
		return classify(err)
	}
	if r.guard.hasExpired() {
		return fault.Because(err, fault.Timeout, "the query took longer than its time limit; ask for less, or filter by an indexed field")
	}
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	return classify(err)
}
