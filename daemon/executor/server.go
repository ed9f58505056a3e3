package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// Server is a SQL Server database that plans are executed on. Rows are read without a
// transaction, so that slow clients do not block writers: the statements of one plan may
// see different rows.
type Server struct {
	ServerConfig
	tables   sync.Map // *Table by *record.Kind
	openJSON openJSON
	remember *totals
}

// ServerConfig configures a Server.
type ServerConfig struct {
	Pool        *mssql.Server
	LockTimeout time.Duration // lock timeout of statements; 0 for the statement's time limit
	Option      string        // option of all statements, such as MAXDOP 1; empty for none
	Limits      func() Limits
	Names       func(*record.Kind) mssql.Table // returns the name of a kind's table or view
}

// NewServer returns a Server that reads through a pool, which it closes.
func NewServer(c ServerConfig) *Server { return &Server{ServerConfig: c, remember: newTotals()} }

// Table returns the table or view of a kind.
func (srv *Server) Table(kind *record.Kind) *Table {
	table, ok := srv.tables.Load(kind)
	if !ok {
		table, _ = srv.tables.LoadOrStore(kind, &Table{Kind: kind, Name: srv.Names(kind)})
	}
	return table.(*Table)
}

// Forget removes a kind that is no longer used from the cache.
func (srv *Server) Forget(kind *record.Kind) { srv.tables.Delete(kind) }

func (srv *Server) Session(ctx context.Context, kind *record.Kind, _ bool) (Session, error) {
	conn, err := srv.get(ctx)
	if err != nil {
		return nil, err
	}
	s := &serverSession{ctx: ctx, server: srv, source: srv.Table(kind), conn: conn}
	err = s.guarded(func() (err error) {
		s.live, err = srv.Describe(ctx, conn, kind)
		return err
	})
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// get returns a connection from the pool. Slow clients may hold all of them for long, so
// waiting is limited to the time limit of a statement.
func (srv *Server) get(ctx context.Context) (*mssql.Conn, error) {
	waiting, cancel := context.WithTimeout(ctx, waitTimeout(srv.Limits().Row))
	defer cancel()
	conn, err := srv.Pool.Get(waiting)
	if err == nil {
		return conn, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if waiting.Err() != nil && !errors.Is(err, mssql.ErrLost) {
		return nil, Unavailable(err, "all connections to the database are in use; try again later")
	}
	return nil, Classify(err)
}

// waitTimeout returns the time limit for waiting for a connection: that of statements, or
// 30 s if statements have none.
func waitTimeout(limit time.Duration) time.Duration { return cmp.Or(limit, 30*time.Second) }

// Close closes the connections.
func (srv *Server) Close() error { return srv.Pool.Close() }

type serverSession struct {
	ctx         context.Context
	server      *Server
	source      *Table
	live        *Columns
	conn        *mssql.Conn
	guard       *guard // of the last statement; nil before the first
	inputErrors bool   // the request may cause the statement to fail
}

func (s *serverSession) table() (*dialect.Dialect, string) {
	return s.live.dialect, s.source.Name.Quoted()
}

// newGuard returns the guard of the next statement. It stops that of the statement before: if it
// has failed, its rows may not be closed.
func (s *serverSession) newGuard(limit time.Duration) *guard {
	s.guard.stop()
	s.guard = newGuard(s.conn.Abort, limit)
	return s.guard
}

// guarded reads from the catalogue within the time limit of a row.
func (s *serverSession) guarded(read func() error) error {
	g := s.newGuard(s.server.Limits().Row)
	g.enter()
	err := read()
	g.leave()
	g.stop()
	return s.classify(err)
}

func (s *serverSession) run(st query.Statement, limit time.Duration) (row.Source, error) {
	s.inputErrors = st.Evaluates()
	g := s.newGuard(limit)
	g.enter()
	rows, err := s.conn.Query(s.ctx, mssql.Query{
		SQL:     WithOption(st.SQL, s.server.Option),
		Params:  s.live.Bind(st.Args),
		Types:   st.Types,
		Lock:    cmp.Or(s.server.LockTimeout, limit),
		Context: ContextInfo(s.ctx),
	})
	if err != nil {
		g.leave()
		g.stop()
		return nil, s.classify(err)
	}
	return &serverRows{session: s, guard: g, rows: rows, started: true}, nil
}

// WithOption adds an option to a statement, which may end with others. An empty one is not
// added.
func WithOption(statement, option string) string {
	const options = " OPTION ("
	if option == "" {
		return statement
	}
	start := strings.LastIndex(statement, options)
	if start >= 0 && strings.HasSuffix(statement, ")") {
		return statement[:start] + options + option + ", " + statement[start+len(options):]
	}
	return statement + options + option + ")"
}

func (s *serverSession) limitSteps(int) {}

// consistent is false: only a database with row versioning reads all rows as of the start of a
// statement.
func (s *serverSession) consistent() bool { return false }

func (s *serverSession) totals() *totals { return s.server.remember }

func (s *serverSession) content() string { return "" }

func (s *serverSession) close() {
	s.guard.stop()
	s.conn.Close()
}

// classify distinguishes an interrupt by the time limit from one by a cancelled context.
// After an error that a changed table may have caused, the cached columns are dropped.
func (s *serverSession) classify(err error) error {
	if err == nil {
		return nil
	}
	if limitError := s.guard.limitError(); limitError != nil {
		return timeLimitError(limitError)
	}
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}

	var refused *mssql.Error
	var mismatch *mssql.ColumnTypeError
	isRefused := errors.As(err, &refused)
	isMissing := isRefused && (refused.NoTable() || refused.NoColumn())
	hasOtherType := isRefused && (refused.Conversion() || refused.Incomparable())
	if isMissing || hasOtherType || errors.As(err, &mismatch) {
		s.source.Forget()
	}
	isDataError := isRefused && (refused.Conversion() || refused.Overflow())
	if isDataError && !s.inputErrors {
		return s.source.dataError(err)
	}
	return s.source.blame(Classify(err))
}

// serverRows reads the rows of a statement. The statement's start and its first row count
// as one step, since the server may return the row long after the start.
type serverRows struct {
	session *serverSession
	guard   *guard
	rows    *mssql.Rows
	started bool
}

func (r *serverRows) Next() ([]row.Cell, error) {
	if !r.started {
		r.guard.enter()
	}
	r.started = false
	cells, err := r.rows.Next()
	r.guard.leave()
	if err != nil {
		return nil, r.session.classify(err)
	}
	return cells, nil
}

func (r *serverRows) Close() error {
	r.guard.stop()
	return r.rows.Close()
}

// blame replaces an error that clients cannot fix by one that names the table.
func (t *Table) blame(err error) error {
	var refused *mssql.Error
	var mismatch *mssql.ColumnTypeError
	switch {
	case errors.Is(err, mssql.ErrUnreadable):
		return Unavailable(err,
			fmt.Sprintf("the database driver fails on a value of %s%s",
				t.Name, t.viewAdvice("leaves out or converts the column")))
	case errors.As(err, &mismatch):
		return Unavailable(err, fmt.Sprintf("%s: %s%s", t.Name, mismatch, t.viewAdvice("converts the column")))
	case !errors.As(err, &refused):
		return err
	case refused.NoTable():
		return Unavailable(err,
			fmt.Sprintf("the table or view %s of this record kind does not exist, or may not be read; run whd check for details", t.Name))
	case refused.NoColumn():
		return Unavailable(err,
			fmt.Sprintf("the table or view %s lacks %s of this record kind%s; run whd check for details",
				t.Name, t.missingColumn(refused), t.viewAdvice("has it")))
	case refused.Forbidden():
		return Unavailable(err, fmt.Sprintf("the service's login has no permission to read %s", t.Name))
	case refused.InvalidView():
		return Unavailable(err,
			fmt.Sprintf("the view %s cannot be read, because a table that it selects from has changed; run whd check for details",
				t.Name))
	case refused.LinkedServer():
		return Unavailable(err, fmt.Sprintf("the linked server of %s is not available at the moment", t.Name))
	case refused.DataError():
		return t.dataError(err)
	}
	return err
}

// viewAdvice returns the remedy for a table of the ERP, which the service does not change.
func (t *Table) viewAdvice(does string) string {
	if t.Kind.Database != record.RecordsDB {
		return ""
	}
	return "; an administrator can map " + t.Kind.Name + " in erp.sources to a view that " + does
}

// missingColumn returns the field that an error of the server names, in quotation marks, as a
// missing column.
func (t *Table) missingColumn(e *mssql.Error) string {
	for _, part := range strings.FieldsFunc(e.Message, func(r rune) bool { return r == '\'' || r == '"' }) {
		if i, ok := t.Kind.ByColumn(part); ok {
			return "the column " + t.Kind.Fields[i].Name
		}
	}
	return "a column"
}

// dataError returns an error for values in the table that the database cannot process.
func (t *Table) dataError(err error) error {
	return Unavailable(err,
		fmt.Sprintf("the table or view %s contains or computes a value that the database cannot process", t.Name))
}
