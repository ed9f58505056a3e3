package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// mssqlRecords is a server's ERP tables as a backend. No transaction is open
// while rows are read, so that a slow client holds up nobody: the statements of
// one plan may see different rows.
type mssqlRecords struct {
	config Config
	server *mssql.Server
	pulse  *mssql.Server          // see openPulse
	bills  *mssql.Server          // apart from those who read, see billConnections
	tables map[string]*mssqlTable // by record kind
	lists  listProbe
}

// newMSSQLRecords does not connect: a server that is away when the daemon
// starts may come later.
func newMSSQLRecords(c Config) (*mssqlRecords, error) {
	b := &mssqlRecords{config: c, tables: make(map[string]*mssqlTable)}
	for _, kind := range c.tables() {
		name, ok := mssql.ParseTable(cmp.Or(c.Sources[kind.Name], mssql.Quote(kind.Name)), c.ERPSchema)
		if !ok {
			return nil, fmt.Errorf("the source of %s is no name of a table or view: %s", kind.Name, c.Sources[kind.Name])
		}
		b.tables[kind.Name] = &mssqlTable{kind: kind, name: name}
	}
	var err error
	if b.server, err = mssql.Open(mssql.Config{DSN: cmp.Or(c.ReadDSN, c.DSN), Connections: c.Connections}); err == nil {
		b.bills, err = openBills(c)
	}
	if err == nil {
		b.pulse, err = openPulse(c)
	}
	return b, err
}

func (b *mssqlRecords) session(ctx context.Context, kind *record.Kind, _ bool) (session, error) {
	conn, err := b.lend(ctx)
	if err != nil {
		return nil, err
	}
	s := &mssqlSession{ctx: ctx, backend: b, source: b.tables[kind.Name], conn: conn}
	s.guard.watch(conn.Abort, b.config.Limits().Row)
	s.guard.enter()
	s.known, err = s.source.describe(ctx, conn, &b.lists)
	s.guard.leave()
	s.guard.stop()
	if err != nil {
		s.close()
		return nil, s.classify(err)
	}
	return s, nil
}

func (b *mssqlRecords) close() (err error) {
	for _, server := range []*mssql.Server{b.server, b.bills, b.pulse} {
		if server != nil {
			err = errors.Join(err, server.Close())
		}
	}
	return err
}

type mssqlSession struct {
	ctx     context.Context
	backend *mssqlRecords
	source  *mssqlTable
	known   *knownTable
	conn    *mssql.Conn
	guard   guard
	asks    bool // the statement may fail for what was asked
}

func (s *mssqlSession) table() (*dialect.Dialect, string) {
	return s.known.words, s.source.name.Quoted()
}

func (s *mssqlSession) run(st query.Statement, limit time.Duration) (row.Source, error) {
	s.asks = st.Asks()
	s.guard.watch(s.conn.Abort, limit)
	s.guard.enter()
	rows, err := s.conn.Query(s.ctx, mssql.Query{
		SQL:    st.SQL,
		Params: s.known.bind(st.Args),
		Types:  st.Types,
		Lock:   cmp.Or(s.backend.config.LockTimeout, limit),
	})
	if err != nil {
		s.guard.leave()
		s.guard.stop()
		return nil, s.classify(err)
	}
	return &mssqlRows{session: s, rows: rows, started: true}, nil
}

func (s *mssqlSession) close() {
	s.guard.stop()
	s.conn.Close()
}

// classify tells whose doing a broken connection was: the client's, who has
// gone, or the time limit's. An error that the table's description may be to
// blame for makes the next session read it again.
func (s *mssqlSession) classify(err error) error {
	var refused *mssql.Error
	var unfit *mssql.Unfit
	switch {
	case err == nil:
		return nil
	case s.guard.hasExpired():
		return overLimit(s.guard.overrun())
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	case errors.As(err, &refused) && (refused.NoTable() || refused.NoColumn() || refused.Conversion() || refused.Incomparable()), errors.As(err, &unfit):
		s.source.forget()
	}
	if refused != nil && !s.asks && (refused.Conversion() || refused.Overflow()) {
		return s.source.failing(err)
	}
	return s.source.blame(classify(err))
}

// mssqlRows reads the rows of a statement. Getting the first one is part of the
// step that starts the statement, since the server may work on it before it
// says anything.
type mssqlRows struct {
	session *mssqlSession
	rows    *mssql.Rows
	started bool
}

func (r *mssqlRows) Next() ([]row.Cell, error) {
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

func (r *mssqlRows) Close() error {
	r.session.guard.stop()
	return r.rows.Close()
}

// blame names the table of a failure that its reader can do nothing about.
func (t *mssqlTable) blame(err error) error {
	var refused *mssql.Error
	var unfit *mssql.Unfit
	switch {
	case errors.As(err, &unfit):
		return unavailable(err, fmt.Sprintf("column %s of %s is %s in the database, which does not fit %s", unfit.Column, t.name, unfit.Type, unfit.Wanted))
	case !errors.As(err, &refused):
		return err
	case refused.NoTable():
		return unavailable(err, fmt.Sprintf("the table or view %s of this record kind does not exist, or may not be read; whd check tells more", t.name))
	case refused.NoColumn():
		return unavailable(err, fmt.Sprintf("the table or view %s lacks a column of this record kind; whd check tells more", t.name))
	case refused.Forbidden():
		return unavailable(err, fmt.Sprintf("the service's login may not read %s", t.name))
	case refused.Broken():
		return unavailable(err, fmt.Sprintf("the view %s cannot be read, since what it was made of has changed; whd check tells more", t.name))
	case refused.Remote():
		return unavailable(err, fmt.Sprintf("the server that %s is read from cannot be used at the moment", t.name))
	case refused.Failing():
		return t.failing(err)
	}
	return err
}

// failing blames the contents of the table.
func (t *mssqlTable) failing(err error) error {
	return unavailable(err, fmt.Sprintf("the table or view %s holds or computes a value that the database fails on", t.name))
}
