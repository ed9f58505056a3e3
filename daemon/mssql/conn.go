package mssql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

// conn is a driver's connection whose statements end with their context, by
// closing the line. The driver would ask the server to stop and wait for the
// answer; where that stays out, the connection is out of step from then on and
// answers "no rows" to everything.
type conn struct {
	*mssql.Conn
	limits limits
	line   *line
	served bool      // it has answered a statement
	since  time.Time // when it went back to the pool
}

// IsValid is asked when a connection goes back to the pool, and keeps those out
// whose line is cut.
func (c *conn) IsValid() bool {
	c.since = time.Now()
	return !c.line.isCut() && c.Conn.IsValid()
}

// ResetSession is asked when a connection comes out of the pool. One that lay
// there for a while may have been cut by a server that was restarted, or by a
// firewall: what writes must not find that out by itself, since it would not be
// known afterwards whether it was done. The pool makes another connection then.
func (c *conn) ResetSession(ctx context.Context) error {
	if err := c.Conn.ResetSession(ctx); err != nil || time.Since(c.since) < c.limits.fresh {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.limits.pulse)
	defer cancel()
	if c.Ping(ctx) != nil {
		return driver.ErrBadConn
	}
	return nil
}

// during lets work go on until ctx ends.
func (c *conn) during(ctx context.Context, work func(context.Context) error) error {
	stop := context.AfterFunc(ctx, c.line.cut)
	err := work(context.WithoutCancel(ctx))
	if !stop() {
		c.line.cut() // by now, not soon
		if err != nil {
			return ctx.Err()
		}
	}
	return wrap(err)
}

// Ping is driver.Pinger's.
func (c *conn) Ping(ctx context.Context) error { return c.during(ctx, c.Conn.Ping) }

// BeginTx is driver.ConnBeginTx's. Nothing has happened yet where it fails, so
// that the pool may try another connection.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	var begun driver.Tx
	err := c.during(ctx, func(ctx context.Context) (err error) {
		begun, err = c.Conn.BeginTx(ctx, o)
		return err
	})
	switch {
	case errors.Is(err, ErrLost):
		return nil, fmt.Errorf("%w (%w)", err, driver.ErrBadConn)
	case err != nil:
		return nil, err
	}
	return &tx{begun, c}, nil
}

// tx is a transaction whose end takes no longer than its limit, whatever becomes
// of the context that it began with: the server has stalled then.
type tx struct {
	driver.Tx
	conn *conn
}

// Commit is driver.Tx's. Where it fails, it is not known whether it was done.
func (t *tx) Commit() error { return t.end(t.Tx.Commit) }

// Rollback is driver.Tx's.
func (t *tx) Rollback() error { return t.end(t.Tx.Rollback) }

func (t *tx) end(work func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), t.conn.limits.end)
	defer cancel()
	return t.conn.during(ctx, func(context.Context) error { return work() })
}

// Prepare is driver.Conn's.
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext is driver.ConnPrepareContext's. Nothing is sent.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.Conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, wrap(err)
	}
	return &stmt{s, c}, nil
}

// stmt is a statement for database/sql.
type stmt struct {
	driver.Stmt
	conn *conn
}

// ExecContext is driver.StmtExecContext's.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (result driver.Result, err error) {
	err = s.conn.during(ctx, func(ctx context.Context) error {
		result, err = s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
		return err
	})
	return result, err
}

// QueryContext is driver.StmtQueryContext's.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := s.conn.stream(ctx, s.Stmt, args)
	if err != nil {
		return nil, err
	}
	return rows, nil
}
