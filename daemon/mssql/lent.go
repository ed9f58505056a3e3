package mssql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/record"
)

// Conn is a lent connection. One goroutine at a time may use it; only Abort may
// be called from others.
type Conn struct {
	server *Server
	rows   *Rows // of the last query

	mu      sync.Mutex // guards what follows against Abort
	lent    *sql.Conn
	conn    *conn
	aborted atomic.Bool // since the last query began
}

func (c *Conn) take(ctx context.Context) error {
	lent, err := c.server.db.Conn(ctx)
	if err != nil {
		return wrap(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lent = lent
	// It stays ours until lent is closed, so it may be used outside of Raw.
	return lent.Raw(func(own any) error {
		c.conn = own.(*conn)
		return nil
	})
}

// Abort ends what the connection runs, which then fails. The server ends the
// statement when it notices; this side waits for nothing.
func (c *Conn) Abort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.aborted.Store(true)
	if c.conn != nil {
		c.conn.line.cut()
	}
}

// Close ends what runs and gives the connection back.
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
	return c.lent.Close()
}

// foundDead is within what time it shows that a connection is dead which lay in
// the pool. One that breaks later has had the server at work: what broke it may
// well be the statement, or a limit of the driver's.
const foundDead = time.Second

// Query runs a statement that only reads, until ctx ends. A connection that the
// server has closed since it was last used is replaced, and the statement run
// again; but not one that Abort has ended.
func (c *Conn) Query(ctx context.Context, q Query) (*Rows, error) {
	c.aborted.Store(false)
	for {
		if c.conn == nil { // it broke
			if err := c.replace(ctx); err != nil {
				return nil, err
			}
		}
		began := time.Now()
		rows, err := c.query(ctx, q)
		if !errors.Is(err, ErrLost) || !c.conn.served || time.Since(began) > foundDead || c.aborted.Load() || ctx.Err() != nil {
			return rows, err
		}
		c.Close()
	}
}

// replace takes another connection in place of one that was given back. It
// waits no longer than for one that has to be made.
func (c *Conn) replace(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, loginLimit)
	defer cancel()
	if err := c.take(ctx); err != nil || !c.aborted.Load() {
		return err
	}
	return ErrLost
}

// Query is a statement that gives rows.
type Query struct {
	SQL    string // with parameters @p1, @p2 and so on
	Params []Param
	Types  []record.Type // of the columns
	Lock   time.Duration // how long to wait for a lock; 0 for no limit
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
	if c.rows, err = newRows(s, q.Types); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return c.rows, nil
}

// LockTimeout is the prefix of a statement that waits for a lock for a time,
// 0 for any.
func LockTimeout(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return fmt.Sprintf("SET LOCK_TIMEOUT %d; ", max(d.Milliseconds(), 1))
}

// call is the query as the driver runs it. With parameters it is a call of
// sp_executesql by its name: called by the driver, it would get declarations
// that the driver makes from the lengths of the values, and the server would
// make a plan for each of them.
func (q Query) call() (string, []driver.NamedValue) {
	text := LockTimeout(q.Lock) + q.SQL
	if len(q.Params) == 0 {
		return text, nil
	}
	args := make([]driver.NamedValue, 2, 2+len(q.Params))
	args[0] = driver.NamedValue{Name: "stmt", Value: text}
	args[1] = driver.NamedValue{Name: "params", Value: declarations(q.Params)}
	for i, p := range q.Params {
		args = append(args, driver.NamedValue{Name: parameter(i), Ordinal: i + 1, Value: p.value})
	}
	return "sp_executesql", args
}
