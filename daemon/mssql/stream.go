package mssql

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

// stream is the rows of a statement. When it is closed its connection is either
// in step, with the answer read to its end, or cut.
type stream struct {
	*mssql.Rows
	conn *conn
	ctx  context.Context
	stop func() bool // ends the watch over ctx
	over bool
}

// stream runs a statement until ctx ends.
func (c *conn) stream(ctx context.Context, prepared driver.Stmt, args []driver.NamedValue) (*stream, error) {
	s := &stream{conn: c, ctx: ctx, stop: context.AfterFunc(ctx, c.line.cut)}
	rows, err := prepared.(driver.StmtQueryContext).QueryContext(context.WithoutCancel(ctx), args)
	if err != nil {
		s.over = true
		s.unwatch()
		return nil, s.wrap(err)
	}
	c.served = true
	s.Rows = rows.(*mssql.Rows)
	return s, nil
}

// unwatch ends the watch over the context. A line that it cuts is cut by now.
func (s *stream) unwatch() {
	if !s.stop() && s.ctx.Err() != nil {
		s.conn.line.cut()
	}
}

// wrap distinguishes an end that was asked for from one that was not.
func (s *stream) wrap(err error) error {
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	return wrap(err)
}

// Next is driver.Rows's.
func (s *stream) Next(dest []driver.Value) error {
	err := s.Rows.Next(dest)
	switch {
	case err == nil:
		return nil
	case err == io.EOF:
		s.over = !s.HasNextResultSet()
		return io.EOF
	}
	return s.wrap(err)
}

// What is left of an answer is read if it is little, since a new connection
// costs more than that; else the line is cut.
const (
	littleRows = 100
	littleTime = 100 * time.Millisecond
)

// Close is driver.Rows's. It may be called again.
func (s *stream) Close() error {
	if s.stop == nil {
		return nil
	}
	if !s.over {
		s.finish()
	}
	s.unwatch()
	s.stop = nil
	s.Rows.Close() // reads nothing any more
	return nil
}

// finish reads the rest of the answer, or cuts the line and reads until the
// driver has noticed: it leaves a goroutine behind otherwise.
func (s *stream) finish() {
	late := time.AfterFunc(littleTime, s.conn.line.cut)
	defer late.Stop()
	dest := make([]driver.Value, len(s.Columns()))
	for n := 0; ; n++ {
		if n == littleRows {
			s.conn.line.cut()
		}
		err := s.Rows.Next(dest)
		var refused mssql.Error
		switch {
		case err == nil, errors.As(err, &refused) && n < littleRows:
		case err == io.EOF && s.HasNextResultSet():
			s.NextResultSet()
		case err == io.EOF:
			return
		default:
			s.conn.line.cut()
			return
		}
	}
}
