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
	over bool
}

// stream runs a statement until ctx ends.
func (c *conn) stream(ctx context.Context, prepared driver.Stmt, args []driver.NamedValue) (*stream, error) {
	s := &stream{conn: c, ctx: ctx, stop: context.AfterFunc(ctx, c.transport.close)}
	rows, err := queryDriver(context.WithoutCancel(ctx), prepared.(driver.StmtQueryContext), args)
	if err != nil {
		err = s.wrap(err)
		s.over = true
		s.stopWatching()
		return nil, err
	}
	c.used = true
	s.Rows = rows.(*mssql.Rows)
	return s, nil
}

// stopWatching stops watching the context. If it has ended, the connection is closed on return.
func (s *stream) stopWatching() {
	if !s.stop() && s.ctx.Err() != nil {
		s.conn.transport.close()
	}
}

func queryDriver(
	ctx context.Context, prepared driver.StmtQueryContext, args []driver.NamedValue,
) (rows driver.Rows, err error) {
	defer recoverDriver(&err)
	return prepared.QueryContext(ctx, args)
}

// wrap returns the context's error if that has ended, else the wrapped err. It closes a
// connection of which the driver has read a part of a reply only.
func (s *stream) wrap(err error) error {
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	err = wrap(err)
	if errors.Is(err, ErrUnreadable) {
		s.conn.transport.close()
	}
	return err
}

// nextRow reads a row by the driver.
func (s *stream) nextRow(dest []driver.Value) (err error) {
	defer recoverDriver(&err)
	return s.Rows.Next(dest)
}

func (s *stream) Next(dest []driver.Value) error {
	err := s.nextRow(dest)
	if err == nil {
		return nil
	}
	if err == io.EOF {
		s.over = !s.HasNextResultSet()
		return io.EOF
	}
	return s.wrap(err)
}

// Limits for reading the remaining rows on Close, which is cheaper than opening a new
// connection. If there are more rows, the connection is closed.
const (
	maxDrainRows = 100
	maxDrainTime = 100 * time.Millisecond
)

// Close ends the statement. It may be called several times.
func (s *stream) Close() error {
	if s.stop == nil {
		return nil
	}
	if !s.over {
		s.finish()
	}
	s.stopWatching()
	s.stop = nil
	s.Rows.Close() // does not read
	return nil
}

// finish reads the remaining rows, or closes the connection and reads until the driver
// notices; otherwise the driver would leak a goroutine.
func (s *stream) finish() {
	timer := time.AfterFunc(maxDrainTime, s.conn.transport.close)
	defer timer.Stop()
	dest := make([]driver.Value, len(s.Columns()))
	for n := 0; ; n++ {
		if n == maxDrainRows {
			s.conn.transport.close()
		}
		err := s.nextRow(dest)
		var refused mssql.Error
		switch {
		case err == nil, errors.As(err, &refused) && n < maxDrainRows:
		case err == io.EOF && s.HasNextResultSet():
			s.NextResultSet()
			dest = make([]driver.Value, len(s.Columns())) // may be more, or fewer
		case err == io.EOF:
			return
		default:
			s.conn.transport.close()
			return
		}
	}
}
