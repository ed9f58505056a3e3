// Package executor runs the plans of package query on a connection of either
// engine: its session, time limits, the total and aggregates behind the rows,
// and the parameters that fit the columns as they are.
package executor

import (
	"context"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// Limits bound statements. 0 is no limit.
type Limits struct {
	Row   time.Duration // how long one may run without a row
	Count time.Duration // how long counting a total may take
}

// Database is one that plans are read from.
type Database interface {
	// Session takes a connection for the statements of one plan. Where they are
	// several and the database can make them see the same rows without holding
	// up anybody else, it does.
	Session(ctx context.Context, kind *record.Kind, several bool) (Session, error)
}

// Session is a connection that runs one statement at a time.
type Session interface {
	// table says in which words the kind's table is spoken to, and its name.
	table() (*dialect.Dialect, string)
	// run starts a statement. It fails with fault.Timeout when no row comes for
	// longer than limit; time that passes between calls of Next does not count.
	run(st query.Statement, limit time.Duration) (row.Source, error)
	// close stops what runs and gives the connection back.
	close()
}

// Result is the answer to a plan, read while it is consumed: a row.Source with
// a tail. It holds a connection until it is closed.
type Result struct {
	limits  func() Limits
	plan    *query.Plan
	session Session
	rows    row.Source // nil where no row was asked for, and after the last
}

// Tail is what is known of a result once its last row was read.
type Tail struct {
	Total int64
	Known bool // Total was counted or follows from the rows
	Meta  []Meta
}

// Meta is one computed value, as text, under the name that was asked for.
type Meta struct{ Name, Value string }

// Select starts the plan's statement in a database. The limits are asked for at
// each statement.
func Select(ctx context.Context, from Database, limits func() Limits, plan *query.Plan) (*Result, error) {
	several := len(plan.Aggregates) > 0 || plan.Count && plan.Paged()
	session, err := from.Session(ctx, plan.Kind, several)
	if err != nil {
		return nil, err
	}
	r := &Result{limits: limits, plan: plan, session: session}
	if plan.Take == 0 {
		return r, nil
	}
	if r.rows, err = r.open(several); err != nil {
		session.close()
		return nil, err
	}
	return r, nil
}

// open starts the statement whose rows the plan is about.
func (r *Result) open(several bool) (row.Source, error) {
	if s, isFile := r.session.(*fileSession); isFile && s.file.drain != nil && resumable(r.plan, several) {
		return newResuming(r, s.file.drain)
	}
	return r.run(r.plan, query.Compile, r.limits().Row)
}

// compiler is one of the functions of package query that write a statement.
type compiler func(*query.Plan, *dialect.Dialect, string) (query.Statement, error)

func (r *Result) run(plan *query.Plan, compile compiler, limit time.Duration) (row.Source, error) {
	words, table := r.session.table()
	st, err := compile(plan, words, table)
	if err != nil {
		return nil, err
	}
	return r.session.run(st, limit)
}

// Next is row.Source's.
func (r *Result) Next() ([]row.Cell, error) {
	if r.rows == nil {
		return nil, nil
	}
	return r.rows.Next()
}

// Tail computes what follows the rows, of which so many were read. No
// row can be read any more.
func (r *Result) Tail(rows int64) (Tail, error) {
	if r.rows != nil {
		r.rows.Close()
		r.rows = nil
	}
	var t Tail
	if err := r.total(&t, rows); err != nil {
		return t, err
	}
	return t, r.aggregates(&t)
}

// total counts where the rows do not show how many matches there are. Only
// requests that ask for the total wait for one that takes too long.
func (r *Result) total(t *Tail, rows int64) error {
	if t.Total, t.Known = r.plan.Total(rows); t.Known || !r.plan.Count {
		return nil
	}
	err := r.one(query.CompileCount, func(cells []row.Cell) { t.Total, t.Known = cells[0].Int, true })
	if fault.Is(err, fault.Timeout) && !r.plan.Asked {
		t.Meta = append(t.Meta, Meta{"Total", "not counted: it would take too long"})
		return nil
	}
	return err
}

func (r *Result) aggregates(t *Tail) error {
	if len(r.plan.Aggregates) == 0 {
		return nil
	}
	return r.one(query.CompileAggregates, func(cells []row.Cell) {
		for i, a := range r.plan.Aggregates {
			if !cells[i].Null {
				t.Meta = append(t.Meta, Meta{a.Name, cells[i].Text(a.Type(r.plan.Kind))})
			}
		}
	})
}

// one runs a statement that gives a single row, under the limit for counts.
func (r *Result) one(compile compiler, read func([]row.Cell)) error {
	rows, err := r.run(r.plan, compile, r.limits().Count)
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

// Close stops the statement and gives the connection back.
func (r *Result) Close() error {
	if r.session != nil {
		r.session.close()
		r.session, r.rows = nil, nil
	}
	return nil
}
