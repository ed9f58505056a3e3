package store

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/sqlite"
)

// sqliteRecords is the embedded store as a backend.
type sqliteRecords struct {
	pool   *sqlite.Pool
	words  *dialect.Dialect
	tables map[string]string // record kind -> quoted table
}

func newSQLiteRecords(path string, c Config) (*sqliteRecords, error) {
	pool, err := openRecords(path, c)
	if err != nil {
		return nil, err
	}
	b := &sqliteRecords{pool: pool, words: dialect.SQLite(), tables: make(map[string]string)}
	for _, kind := range c.tables() {
		b.tables[kind.Name] = quoted(cmp.Or(c.Sources[kind.Name], kind.Name))
	}
	return b, nil
}

func (b *sqliteRecords) session(ctx context.Context, kind *record.Kind, several bool) (session, error) {
	conn, err := b.pool.Get(ctx)
	if err != nil {
		return nil, classify(err)
	}
	s := &sqliteSession{ctx: ctx, backend: b, kind: kind, conn: conn, unwatch: conn.Watch(ctx)}
	if !several {
		return s, nil
	}
	if err := s.begin(); err != nil {
		s.close()
		return nil, s.classify(err)
	}
	return s, nil
}

// ping reads the file: a connection alone says nothing of it.
func (b *sqliteRecords) ping(ctx context.Context) error {
	conn, err := b.pool.Get(ctx)
	if err != nil {
		return err
	}
	defer b.pool.Put(conn)
	stmt, err := conn.Prepare("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return err
	}
	defer stmt.Reset()
	_, err = stmt.Step()
	return err
}

func (b *sqliteRecords) close() error { return b.pool.Close() }

type sqliteSession struct {
	ctx     context.Context
	backend *sqliteRecords
	kind    *record.Kind
	conn    *sqlite.Conn
	unwatch func()
	guard   guard
}

func (s *sqliteSession) table() (*dialect.Dialect, string) {
	return s.backend.words, s.backend.tables[s.kind.Name]
}

// begin starts a transaction. It is not ended by us: the pool rolls it back.
func (s *sqliteSession) begin() error {
	stmt, err := s.conn.Prepare("BEGIN")
	if err != nil {
		return err
	}
	defer stmt.Reset()
	_, err = stmt.Step()
	return err
}

func (s *sqliteSession) run(st query.Statement, limit time.Duration) (row.Source, error) {
	stmt, err := s.conn.Prepare(st.SQL)
	if err != nil {
		return nil, s.classify(err)
	}
	for i, a := range st.Args {
		switch {
		case a.Type.Integer() || a.Type == record.Bool:
			stmt.BindInt(i+1, a.Value.Int)
		case a.Type == record.Bytes:
			stmt.BindBytes(i+1, a.Value.Bytes)
		default:
			stmt.BindText(i+1, a.Value.Text)
		}
	}
	s.guard.watch(s.conn.Interrupt, limit)
	return &sqliteRows{session: s, stmt: stmt, types: st.Types, cells: make([]row.Cell, len(st.Types))}, nil
}

func (s *sqliteSession) close() {
	s.guard.stop()
	s.unwatch()
	s.backend.pool.Put(s.conn)
}

// classify tells whose doing an interrupt was: the client's, who has gone, or
// the time limit's.
func (s *sqliteSession) classify(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) || !e.Interrupted() {
		return classify(err)
	}
	if s.guard.hasExpired() {
		return overLimit(err)
	}
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	return classify(err)
}

func overLimit(err error) error {
	return fault.Because(err, fault.Timeout, "the query took longer than its time limit; ask for less, or filter by an indexed field")
}

// sqliteRows steps a statement. Its cells point into SQLite's memory.
type sqliteRows struct {
	session *sqliteSession
	stmt    *sqlite.Stmt
	types   []record.Type
	cells   []row.Cell
}

func (r *sqliteRows) Next() ([]row.Cell, error) {
	r.session.guard.enter()
	more, err := r.stmt.Step()
	r.session.guard.leave()
	if err != nil || !more {
		return nil, r.session.classify(err)
	}
	r.stmt.Cells(r.cells, r.types)
	return r.cells, nil
}

func (r *sqliteRows) Close() error {
	r.session.guard.stop()
	return r.stmt.Reset()
}
