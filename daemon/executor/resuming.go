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

// Drain pauses long reads of a SQLite file for a moment, so that its write-ahead log can
// be reset.
type Drain struct{ over atomic.Pointer[chan struct{}] }

// Requested returns nil, or a channel that is closed once interrupted reads may resume.
func (d *Drain) Requested() <-chan struct{} {
	if over := d.over.Load(); over != nil {
		return *over
	}
	return nil
}

// Begin pauses long reads until end is called.
func (d *Drain) Begin() (end func()) {
	over := make(chan struct{})
	d.over.Store(&over)
	return func() {
		d.over.Store(nil)
		close(over)
	}
}

// resumingRows reads the rows of a plan sorted by the kind's key. When the drain is
// active it closes its statement and resumes with another one, which sees later changes.
type resumingRows struct {
	row.Source
	result        *Result
	drain         *Drain
	plan          query.Plan
	width         int // number of requested columns
	key           int // column index of the key
	last          int64
	rows          int64     // number of rows read by all statements
	startedAt     time.Time // start of the current statement
	firstRowAfter time.Duration
}

// resumable reports whether a plan's rows are sorted by the key of a kind in our own
// tables. A plan with several statements needs a single snapshot and is not resumed.
func resumable(p *query.Plan, several bool) bool {
	return p.Group == nil && p.Kind.Database == record.AppDB && p.Kind.Fields[p.Kind.KeyField()].Type == record.Long && !p.Distinct && !several &&
		len(p.Order) > 0 && p.Order[0].Field == p.Kind.KeyField()
}

func newResumingRows(r *Result, drain *Drain) (*resumingRows, error) {
	s := &resumingRows{result: r, drain: drain, plan: *r.plan, width: len(r.plan.Columns), key: slices.Index(r.plan.Columns, r.plan.Kind.KeyField())}
	if s.key < 0 {
		s.key = s.width
		s.plan.Columns = append(slices.Clip(s.plan.Columns), s.plan.Kind.KeyField())
	}
	return s, s.start()
}

// start starts the statement. If it fails, Next returns the error each time.
func (s *resumingRows) start() error {
	source, err := s.result.run(&s.plan)
	if err != nil {
		s.Source = failedRows{err}
		return err
	}
	s.Source = source
	s.startedAt = time.Now()
	s.firstRowAfter = 0
	return nil
}

// Next implements row.Source. Several rows may have the same key, so a statement is only
// interrupted where the key changes.
func (s *resumingRows) Next() ([]row.Cell, error) {
	cells, err := s.step()
	if over := s.drain.Requested(); over != nil && cells != nil && cells[s.key].Int != s.last && time.Since(s.startedAt) >= 2*s.firstRowAfter {
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

// step reads a row and measures the time to the first one. A statement that sorts needs
// long for that, and is not interrupted before it has read rows for as long again.
func (s *resumingRows) step() ([]row.Cell, error) {
	cells, err := s.Source.Next()
	if s.firstRowAfter == 0 {
		s.firstRowAfter = time.Since(s.startedAt)
	}
	return cells, err
}

// resume waits until the drain ends and continues with the rows from a key.
func (s *resumingRows) resume(from int64, over <-chan struct{}) error {
	s.Source.Close()
	<-over
	operator := record.GreaterThanOrEqualTo
	if s.plan.Order[0].Desc {
		operator = record.LessThanOrEqualTo
	}
	s.plan.Where = append(slices.Clip(s.result.plan.Where), query.Condition{Field: s.plan.Kind.KeyField(), Operator: operator, Operands: []wire.Value{{Int: from}}})
	s.plan.Skip, s.plan.PageKeys = 0, nil
	if s.plan.Take != query.NoTake {
		s.plan.Take = s.result.plan.Take - s.rows
	}
	return s.start()
}
