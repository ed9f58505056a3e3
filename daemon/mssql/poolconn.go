package mssql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/record"
)

// Conn is a connection taken from the pool. It must be used by one goroutine at a time;
// only Abort may be called concurrently.
type Conn struct {
	server *Server
	rows   *Rows         // rows of the last query
	limit  time.Duration // time limit of each statement; 0 for none

	mu      sync.Mutex // protects the fields below against Abort
	pooled  *sql.Conn
	conn    *conn
	aborted atomic.Bool // since the start of the last query
}

func (c *Conn) acquire(ctx context.Context) error {
	pooled, err := c.server.db.Conn(ctx)
	if err != nil {
		return wrap(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pooled = pooled
	// The connection is not used by others until it is returned, so it may be used outside of Raw.
	return pooled.Raw(func(driverConn any) error {
		c.conn = driverConn.(*conn)
		return nil
	})
}

// Abort closes the connection, which makes a running statement fail. It does not wait for
// the server, which stops the statement when it notices.
func (c *Conn) Abort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.aborted.Store(true)
	if c.conn != nil {
		c.conn.transport.close()
	}
}

// Close stops a running statement and returns the connection to the pool.
func (c *Conn) Close() error {
	if c.rows != nil {
		c.rows.Close()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return nil
	}
	c.conn = nil
	return c.pooled.Close()
}

// deadConnTimeout is the time within which a statement on a dead idle connection fails. A
// statement that fails later was executing, and may itself be the cause, or a
// limit of the driver.
const deadConnTimeout = time.Second

// LimitStatements sets the time limit of each following statement, until all of its rows
// have been read; 0 for none. A statement that exceeds it fails with
// context.DeadlineExceeded, and closes the connection.
func (c *Conn) LimitStatements(limit time.Duration) { c.limit = limit }

// withLimit returns the context of one statement.
func (c *Conn) withLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.limit <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.limit)
}

// limitError adds the end of a statement's context to an error that it caused: the driver
// may return that of the closed connection.
func limitError(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", ctx.Err(), err)
}

// Query runs a statement that only reads, until ctx ends. If the server has closed the
// connection since its last use, Query retries on a new one, unless Abort was called.
func (c *Conn) Query(ctx context.Context, q Query) (*Rows, error) {
	if c.limit <= 0 {
		return c.queryRetrying(ctx, q)
	}
	c.aborted.Store(false)
	if c.conn == nil { // the time limit is that of the statement, without the login
		err := c.reconnect(ctx)
		if err != nil {
			return nil, err
		}
	}

	ctx, cancel := c.withLimit(ctx)
	rows, err := c.queryRetrying(ctx, q)
	if err != nil {
		defer cancel()
		if ctx.Err() != nil {
			c.Close() // it is broken: the next statement connects again
		}
		return nil, limitError(ctx, err)
	}
	rows.limited = ctx
	rows.cancel = cancel
	return rows, nil
}

func (c *Conn) queryRetrying(ctx context.Context, q Query) (*Rows, error) {
	c.aborted.Store(false)
	for {
		if c.conn == nil { // it was closed
			if err := c.reconnect(ctx); err != nil {
				return nil, err
			}
		}
		start := time.Now()
		rows, err := c.query(ctx, q)
		wasDead := errors.Is(err, ErrLost) && c.conn.used && time.Since(start) <= deadConnTimeout
		if !wasDead || c.aborted.Load() || ctx.Err() != nil {
			return rows, err
		}
		c.Close()
	}
}

// reconnect takes a new connection from the pool. It waits at most for loginTimeout.
func (c *Conn) reconnect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	if err := c.acquire(ctx); err != nil || !c.aborted.Load() {
		return err
	}
	return ErrLost
}

// Query is a statement that returns rows.
type Query struct {
	SQL    string // with parameters @p1, @p2 and so on
	Params []Param
	Types  []record.Type // types of the columns
	Lock   time.Duration // lock timeout; 0 for no limit

	Context []byte // the caller, which the session shows; nil for none
}

func (c *Conn) query(ctx context.Context, q Query) (*Rows, error) {
	text, args := q.call()
	prepared, err := c.conn.Conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, wrap(err)
	}
	s, err := c.conn.stream(ctx, prepared, args)
	if err != nil {
		return nil, err
	}
	c.rows, err = newRows(s, q.Types)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return c.rows, nil
}

// LockTimeout returns a prefix that sets the lock timeout of a statement; 0 means none.
func LockTimeout(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return fmt.Sprintf("SET LOCK_TIMEOUT %d; ", max(d.Milliseconds(), 1))
}

// MaxContextInfo is the maximum length of CONTEXT_INFO in bytes.
const MaxContextInfo = 128

// SetContextInfo prefixes a statement with one that sets CONTEXT_INFO of the session, unless
// info is nil. It is a parameter, since a comment with the caller would be a text of its own
// for each request, with a plan of its own. It needs no call of its own, and the server
// clears it when the connection is used again.
func SetContextInfo(text string, params []Param, info []byte) (string, []Param) {
	if info == nil {
		return text, params
	}
	text = "SET CONTEXT_INFO @" + parameter(len(params)) + "; " + text
	return text, append(slices.Clip(params), Param{"varbinary(128)", info})
}

// call returns the statement and arguments for the driver. A statement with parameters
// calls sp_executesql explicitly: the driver's own call would declare the parameters by
// the lengths of their values, and the server would compile a plan for each length.
func (q Query) call() (string, []driver.NamedValue) {
	text, params := SetContextInfo(LockTimeout(q.Lock)+q.SQL, q.Params, q.Context)
	if len(params) == 0 {
		return text, nil
	}
	args := make([]driver.NamedValue, 2, 2+len(params))
	args[0] = driver.NamedValue{Name: "stmt", Value: text}
	args[1] = driver.NamedValue{Name: "params", Value: declarations(params)}
	for i, p := range params {
		args = append(args, driver.NamedValue{Name: parameter(i), Ordinal: i + 1, Value: p.value})
	}
	return "sp_executesql", args
}
