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
type Drain struct {
	ended atomic.Pointer[chan struct{}] // nil without a drain
}

// Requested returns nil, or a channel that is closed once interrupted reads may resume.
func (d *Drain) Requested() <-chan struct{} {
	ended := d.ended.Load()
	if ended == nil {
		return nil
	}
	return *ended
}

// Begin pauses long reads until end is called.
func (d *Drain) Begin() (end func()) {
	ended := make(chan struct{})
	d.ended.Store(&ended)
	return func() {
		d.ended.Store(nil)
		close(ended)
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
	if several || p.Group != nil || p.Distinct {
		return false
	}
	key := p.Kind.KeyField()
	hasNumericKey := p.Kind.Database == record.AppDB && p.Kind.Fields[key].Type == record.Long
	return hasNumericKey && len(p.Order) > 0 && p.Order[0].Field == key
}

func newResumingRows(r *Result, drain *Drain) (*resumingRows, error) {
	keyField := r.plan.Kind.KeyField()
	s := &resumingRows{
		result: r,
		drain:  drain,
		plan:   *r.plan,
		width:  len(r.plan.Columns),
		key:    slices.Index(r.plan.Columns, keyField),
	}
	if s.key < 0 {
		// The key is read in addition, and cut off by Next.
		s.key = s.width
		s.plan.Columns = append(slices.Clip(s.plan.Columns), keyField)
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

// Next returns the next row, nil after the last. Several rows may have the same key, so a
// statement is only interrupted where the key changes.
func (s *resumingRows) Next() ([]row.Cell, error) {
	cells, err := s.step()
	if ended := s.drain.Requested(); ended != nil && s.mayPauseBefore(cells) {
		// The row is read again by the next statement.
		err = s.resume(cells[s.key].Int, ended)
		if err != nil {
			return nil, err
		}
		cells, err = s.step()
	}
	if err != nil || cells == nil {
		return nil, err
	}
	s.last = cells[s.key].Int
	s.rows++
	return cells[:s.width], nil
}

// mayPauseBefore reports whether the statement may be interrupted before a row: where the
// key changes, and when rows were read for as long as the statement took for the first one,
// so that a read with sorting gets on even if it is interrupted often.
func (s *resumingRows) mayPauseBefore(cells []row.Cell) bool {
	isFirst := s.rows == 0 // rows before it, with the same key, may have been skipped
	if cells == nil || isFirst || cells[s.key].Int == s.last {
		return false
	}
	return time.Since(s.startedAt) >= 2*s.firstRowAfter
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
func (s *resumingRows) resume(key int64, ended <-chan struct{}) error {
	s.Source.Close()
	<-ended

	operator := record.GreaterThanOrEqualTo
	if s.plan.Order[0].Desc {
		operator = record.LessThanOrEqualTo
	}
	fromKey := query.Condition{
		Field:    s.plan.Kind.KeyField(),
		Operator: operator,
		Operands: []wire.Value{{Int: key}},
	}
	s.plan.Where = append(slices.Clip(s.result.plan.Where), fromKey)
	s.plan.Skip = 0
	s.plan.PageKeys = nil
	if s.plan.Take != query.NoTake {
		s.plan.Take = s.result.plan.Take - s.rows
	}
	return s.start()
}
