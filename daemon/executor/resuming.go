package executor

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// Drain asks long reads of a file to end for a moment, so that its log of changes
// can begin again.
type Drain struct{ over atomic.Pointer[chan struct{}] }

// Asked is nil, or closed once reads that have made way may go on.
func (d *Drain) Asked() <-chan struct{} {
	if over := d.over.Load(); over != nil {
		return *over
	}
	return nil
}

// Begin has long reads end until end is called.
func (d *Drain) Begin() (end func()) {
	over := make(chan struct{})
	d.over.Store(&over)
	return func() {
		d.over.Store(nil)
		close(over)
	}
}

// resuming reads the rows of a plan in the order of the kind's first field. Where
// it is asked to, it ends its statement and goes on with another one. That sees
// rows as they are then.
type resuming struct {
	row.Source
	result *Result
	drain  *Drain
	plan   query.Plan
	width  int // of the rows that were asked for
	key    int // the column of the first field
	last   int64
	rows   int64     // of all statements so far
	began  time.Time // the statement
	found  time.Duration
}

// resumable reports whether a plan's rows are in the order of the first field of
// a kind of ours. One that sees the same rows as others is not resumed.
func resumable(p *query.Plan, several bool) bool {
	return p.Kind.Database == record.InOwn && p.Kind.Fields[0].Type == record.Long && !p.Distinct && !several &&
		len(p.Order) > 0 && p.Order[0].Field == 0
}

func newResuming(r *Result, drain *Drain) (*resuming, error) {
	s := &resuming{result: r, drain: drain, plan: *r.plan, width: len(r.plan.Columns), key: slices.Index(r.plan.Columns, 0)}
	if s.key < 0 {
		s.key = s.width
		s.plan.Columns = append(slices.Clip(s.plan.Columns), 0)
	}
	return s, s.start()
}

func (s *resuming) start() error {
	rows, err := s.result.run(&s.plan, query.Compile, s.result.limits().Row)
	if err == nil {
		s.Source, s.began, s.found = rows, time.Now(), 0
	}
	return err
}

// Next is row.Source's. Several rows may have the same key: a statement ends
// where it changes.
func (s *resuming) Next() ([]row.Cell, error) {
	cells, err := s.step()
	if over := s.drain.Asked(); over != nil && cells != nil && cells[s.key].Int != s.last && time.Since(s.began) >= 2*s.found {
		if err = s.resume(cells[s.key].Int, over); err == nil {
			cells, err = s.step()
		}
	}
	if err != nil || cells == nil {
		return nil, err
	}
	s.last = cells[s.key].Int
	s.rows++
	return cells[:s.width], nil
}

// step reads a row. A statement that took long to find its first one, since it
// sorts, is not ended before that was worth it.
func (s *resuming) step() ([]row.Cell, error) {
	cells, err := s.Source.Next()
	if s.found == 0 {
		s.found = time.Since(s.began)
	}
	return cells, err
}

// resume waits for the log, and goes on with the rows from a key.
func (s *resuming) resume(from int64, over <-chan struct{}) error {
	s.Source.Close()
	<-over
	is := record.GreaterThanOrEqualTo
	if s.plan.Order[0].Desc {
		is = record.LessThanOrEqualTo
	}
	s.plan.Where = append(slices.Clip(s.result.plan.Where), query.Condition{Field: 0, Operator: is, Operands: []wire.Value{{Int: from}}})
	s.plan.Skip = 0
	if s.plan.Take != query.NoTake {
		s.plan.Take = s.result.plan.Take - s.rows
	}
	return s.start()
}
