package mssql

import (
	"context"
	"database/sql/driver"

	mssql "github.com/microsoft/go-mssqldb"
)

// conn is a driver's connection whose statements end with their context, by
// closing the line. The driver would ask the server to stop and wait for the
// answer; where that stays out, the connection is out of step from then on and
// answers "no rows" to everything.
type conn struct {
	*mssql.Conn
	line   *line
	served bool // it has answered a statement
}

// IsValid keeps connections out of the pool whose line is cut.
func (c *conn) IsValid() bool { return !c.line.isCut() && c.Conn.IsValid() }

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

// BeginTx is driver.ConnBeginTx's.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (tx driver.Tx, err error) {
	err = c.during(ctx, func(ctx context.Context) error {
		tx, err = c.Conn.BeginTx(ctx, o)
		return err
	})
	return tx, err
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
