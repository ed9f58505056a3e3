package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// Server is a database server whose tables and views plans are read from. No
// transaction is open while rows are read, so that a slow client holds up
// no others: the statements of one plan may see different rows.
type Server struct {
	Pool        *mssql.Server
	LockTimeout time.Duration // how long a statement waits for a lock; 0 for its limit
	Limits      func() Limits
	tables      map[string]*Table    // by record kind
	takesLists  atomic.Pointer[bool] // nil until it is known
}

// NewServer makes a Server that reads through a pool.
func NewServer(pool *mssql.Server, lockTimeout time.Duration, limits func() Limits) *Server {
	return &Server{Pool: pool, LockTimeout: lockTimeout, Limits: limits, tables: make(map[string]*Table)}
}

// Add says what table or view a kind is read from.
func (b *Server) Add(kind *record.Kind, name mssql.Table) {
	b.tables[kind.Name] = &Table{Kind: kind, Name: name}
}

// Table is the table or view of a kind.
func (b *Server) Table(kind string) *Table { return b.tables[kind] }

// Session is Database's.
func (b *Server) Session(ctx context.Context, kind *record.Kind, _ bool) (Session, error) {
	conn, err := b.get(ctx)
	if err != nil {
		return nil, err
	}
	s := &serverSession{ctx: ctx, server: b, source: b.tables[kind.Name], conn: conn}
	s.guard.watch(conn.Abort, b.Limits().Row)
	s.guard.enter()
	s.live, err = b.Describe(ctx, conn, kind.Name)
	s.guard.leave()
	s.guard.stop()
	if err != nil {
		s.close()
		return nil, s.classify(err)
	}
	return s, nil
}

// get takes a connection for reading. Slow clients may hold all of them for
// long: who gets none within the time that a statement may take is told so.
func (b *Server) get(ctx context.Context) (*mssql.Conn, error) {
	waiting, cancel := context.WithTimeout(ctx, waitTimeout(b.Limits().Row))
	defer cancel()
	conn, err := b.Pool.Get(waiting)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case waiting.Err() != nil && !errors.Is(err, mssql.ErrLost):
		return nil, Unavailable(err, "all connections to the database are in use, and none came free in time")
	}
	return nil, Classify(err)
}

// waitTimeout is how long to wait for a connection where statements have such a
// limit: that, and not without end where they have none.
func waitTimeout(limit time.Duration) time.Duration { return cmp.Or(limit, 30*time.Second) }

// Close closes the connections.
func (b *Server) Close() error { return b.Pool.Close() }

type serverSession struct {
	ctx    context.Context
	server *Server
	source *Table
	live   *Columns
	conn   *mssql.Conn
	guard  guard
	asks   bool // the statement may fail for what was asked
}

func (s *serverSession) table() (*dialect.Dialect, string) {
	return s.live.words, s.source.Name.Quoted()
}

func (s *serverSession) run(st query.Statement, limit time.Duration) (row.Source, error) {
	s.asks = st.Asks()
	s.guard.watch(s.conn.Abort, limit)
	s.guard.enter()
	rows, err := s.conn.Query(s.ctx, mssql.Query{
		SQL:    st.SQL,
		Params: s.live.bind(st.Args),
		Types:  st.Types,
		Lock:   cmp.Or(s.server.LockTimeout, limit),
	})
	if err != nil {
		s.guard.leave()
		s.guard.stop()
		return nil, s.classify(err)
	}
	return &serverRows{session: s, rows: rows, started: true}, nil
}

func (s *serverSession) close() {
	s.guard.stop()
	s.conn.Close()
}

// classify finds whose doing a broken connection was: the client's, who has
// gone, or the time limit's. An error that the table's description may be to
// blame for makes the next session read it again.
func (s *serverSession) classify(err error) error {
	var refused *mssql.Error
	var unfit *mssql.Unfit
	overrun := s.guard.overrun()
	switch {
	case err == nil:
		return nil
	case overrun != nil:
		return overLimit(overrun)
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	case errors.As(err, &refused) && (refused.NoTable() || refused.NoColumn() || refused.Conversion() || refused.Incomparable()), errors.As(err, &unfit):
		s.source.Forget()
	}
	if refused != nil && !s.asks && (refused.Conversion() || refused.Overflow()) {
		return s.source.failing(err)
	}
	return s.source.blame(Classify(err))
}

// serverRows reads the rows of a statement. Getting the first one is part of the
// step that starts the statement, since the server may work on it before it
// says anything.
type serverRows struct {
	session *serverSession
	rows    *mssql.Rows
	started bool
}

func (r *serverRows) Next() ([]row.Cell, error) {
	if !r.started {
		r.session.guard.enter()
	}
	r.started = false
	cells, err := r.rows.Next()
	r.session.guard.leave()
	if err != nil {
		return nil, r.session.classify(err)
	}
	return cells, nil
}

func (r *serverRows) Close() error {
	r.session.guard.stop()
	return r.rows.Close()
}

// blame names the table of a failure that its reader can do nothing about.
func (t *Table) blame(err error) error {
	var refused *mssql.Error
	var unfit *mssql.Unfit
	switch {
	case errors.As(err, &unfit):
		return Unavailable(err, fmt.Sprintf("column %s of %s is %s in the database, which does not fit %s", unfit.Column, t.Name, unfit.Type, unfit.Wanted))
	case !errors.As(err, &refused):
		return err
	case refused.NoTable():
		return Unavailable(err, fmt.Sprintf("the table or view %s of this record kind does not exist, or may not be read; whd check tells more", t.Name))
	case refused.NoColumn():
		return Unavailable(err, fmt.Sprintf("the table or view %s lacks a column of this record kind; whd check tells more", t.Name))
	case refused.Forbidden():
		return Unavailable(err, fmt.Sprintf("the service's login may not read %s", t.Name))
	case refused.Broken():
		return Unavailable(err, fmt.Sprintf("the view %s cannot be read, since what it was made of has changed; whd check tells more", t.Name))
	case refused.Remote():
		return Unavailable(err, fmt.Sprintf("the server that %s is read from cannot be used at the moment", t.Name))
	case refused.Failing():
		return t.failing(err)
	}
	return err
}

// failing blames the contents of the table.
func (t *Table) failing(err error) error {
	return Unavailable(err, fmt.Sprintf("the table or view %s holds or computes a value that the database fails on", t.Name))
}
