package mssql

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

// stream reads the rows of a statement. Close leaves the connection either in sync, with all
// rows read, or closed.
type stream struct {
	*mssql.Rows
	conn *conn
	ctx  context.Context
	stop func() bool // stops watching ctx

	over   bool // all rows are read
	closed bool
}

// stream runs a statement until ctx ends.
func (c *conn) stream(
	ctx context.Context, prepared driver.Stmt, args []driver.NamedValue,
) (*stream, error) {
	s := &stream{conn: c, ctx: ctx, stop: context.AfterFunc(ctx, c.transport.close)}
	rows, err := queryDriver(context.WithoutCancel(ctx), prepared.(driver.StmtQueryContext), args)
	if err != nil {
		err = s.fail(err)
		s.stopWatching()
		return nil, err
	}
	c.used = true
	s.Rows = rows.(*mssql.Rows)
	return s, nil
}

// stopWatching stops watching the context. If it has ended, the connection is closed on return.
func (s *stream) stopWatching() {
	wasWatching := s.stop()
	if !wasWatching && s.ctx.Err() != nil {
		s.conn.transport.close() // the AfterFunc may still run
	}
}

// queryDriver runs a statement by the driver, and returns its panics as errors.
func queryDriver(
	ctx context.Context, prepared driver.StmtQueryContext, args []driver.NamedValue,
) (rows driver.Rows, err error) {
	defer recoverDriver(&err)
	return prepared.QueryContext(ctx, args)
}

// fail returns the context's error if that has ended, else the wrapped err. It closes the
// connection if the driver has read only a part of a reply.
func (s *stream) fail(err error) error {
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	err = wrap(err)
	if errors.Is(err, ErrUnreadable) {
		s.conn.transport.close()
	}
	return err
}

// nextRow reads a row by the driver, and returns its panics as errors.
func (s *stream) nextRow(dest []driver.Value) (err error) {
	defer recoverDriver(&err)
	return s.Rows.Next(dest)
}

// Next reads a row of the current set of rows.
func (s *stream) Next(dest []driver.Value) error {
	err := s.nextRow(dest)
	if err == nil {
		return nil
	}
	if err == io.EOF {
		s.over = !s.HasNextResultSet()
		return io.EOF
	}
	return s.fail(err)
}

// Limits for reading the remaining rows on Close, which is cheaper than opening a new
// connection. If there are more rows, the connection is closed.
const (
	maxDrainRows = 100
	maxDrainTime = 100 * time.Millisecond
)

// Close ends the statement. It may be called several times.
func (s *stream) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	if !s.over {
		s.finish()
	}
	s.stopWatching()
	s.Rows.Close() // does not read
	return nil
}

// finish reads the remaining rows. If there are too many, it closes the connection and reads until
// the driver notices; otherwise the driver would leak a goroutine.
func (s *stream) finish() {
	timer := time.AfterFunc(maxDrainTime, s.conn.transport.close)
	defer timer.Stop()
	for range maxDrainRows {
		err := s.skipRow()
		if err == io.EOF {
			return
		}
		var refused mssql.Error // after which the server may send more
		if err != nil && !errors.As(err, &refused) {
			s.conn.transport.close()
			return
		}
	}

	s.conn.transport.close()
	for {
		if err := s.skipRow(); err != nil {
			return
		}
	}
}

// skipRow reads a row and drops it, or goes to the next set of rows. It returns io.EOF after the
// last one.
func (s *stream) skipRow() error {
	dest := make([]driver.Value, len(s.Columns())) // the sets differ in their columns
	err := s.nextRow(dest)
	if err == io.EOF && s.HasNextResultSet() {
		return s.NextResultSet()
	}
	return err
}
