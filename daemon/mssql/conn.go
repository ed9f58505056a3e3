package mssql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

// conn is a driver's connection that closes its socket when the context of a statement
// ends. The driver would send an attention request and wait for the acknowledgement; if
// that is not received, the connection is out of sync and returns no rows for all
// later statements.
type conn struct {
	*mssql.Conn
	limits    limits
	transport *transport
	used      bool      // it has executed a statement
	pooledAt  time.Time // when it was returned to the pool
}

// IsValid reports whether a connection that is returned to the pool may be used again. database/sql
// discards those that are closed.
func (c *conn) IsValid() bool {
	c.pooledAt = time.Now()
	return !c.transport.isClosed() && c.Conn.IsValid()
}

// ResetSession checks a connection before database/sql reuses it. An idle connection may have
// been closed by a server restart or by a firewall. A write must not be the first to detect
// that, because it would be unknown whether it was executed. On driver.ErrBadConn the pool
// opens another connection.
func (c *conn) ResetSession(ctx context.Context) error {
	if err := c.Conn.ResetSession(ctx); err != nil {
		return err
	}
	if time.Since(c.pooledAt) < c.limits.checkAfter {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.limits.pulse)
	defer cancel()
	if c.Ping(ctx) != nil {
		return driver.ErrBadConn
	}
	return nil
}

// runUntilDone calls work and closes the connection when ctx ends.
func (c *conn) runUntilDone(ctx context.Context, work func(context.Context) error) error {
	stop := context.AfterFunc(ctx, c.transport.close)
	err := work(context.WithoutCancel(ctx))
	if !stop() {
		c.transport.close() // ctx has ended: do not wait for the AfterFunc
		if err != nil {
			return ctx.Err()
		}
	}
	return wrap(err)
}

func (c *conn) Ping(ctx context.Context) error { return c.runUntilDone(ctx, c.Conn.Ping) }

// BeginTx starts a transaction. If it fails nothing has been executed yet, so that the pool may use
// another connection.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	var begun driver.Tx
	err := c.runUntilDone(ctx, func(ctx context.Context) (err error) {
		begun, err = c.Conn.BeginTx(ctx, o)
		return err
	})
	if errors.Is(err, ErrLost) {
		return nil, fmt.Errorf("%w (%w)", err, driver.ErrBadConn)
	}
	if err != nil {
		return nil, err
	}
	return &tx{begun, c}, nil
}

// tx is a transaction with a time limit for its end that does not depend on the context
// with which it began, in case the server hangs.
type tx struct {
	driver.Tx
	conn *conn
}

// Commit commits the transaction. After an error it is unknown whether it was committed.
func (t *tx) Commit() error { return t.end(t.Tx.Commit) }

func (t *tx) Rollback() error { return t.end(t.Tx.Rollback) }

func (t *tx) end(work func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), t.conn.limits.end)
	defer cancel()
	return t.conn.runUntilDone(ctx, func(context.Context) error { return work() })
}

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext prepares a statement. Nothing is sent to the server.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.Conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, wrap(err)
	}
	return &stmt{s, c}, nil
}

// stmt is a prepared statement for database/sql.
type stmt struct {
	driver.Stmt
	conn *conn
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (result driver.Result, err error) {
	err = s.conn.runUntilDone(ctx, func(ctx context.Context) error {
		result, err = s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
		return err
	})
	return result, err
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := s.conn.stream(ctx, s.Stmt, args)
	if err != nil {
		return nil, err
	}
	return rows, nil
}
