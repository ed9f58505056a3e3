package executor

import (
	"context"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/sqlite"
)

// File is a SQLite file that plans are executed on.
type File struct {
	Pool     *sqlite.Pool
	names    func(*record.Kind) string
	isOwn    func(*sqlite.Conn, *record.Kind) (bool, error)
	tables   sync.Map // *fileTable by *record.Kind
	drain    *Drain   // nil if reads are not interrupted
	remember *totals

	dialect *dialect.Dialect // dialect of tables that are not our own
	indexed *dialect.Dialect // dialect of our own tables, with our indexes
}

// NewFile returns a File. names returns the name of a kind's table; isOwn, unless it is nil,
// whether it has columns and indexes as package erp creates them. Long reads are
// interrupted while drain is active, unless it is nil.
func NewFile(
	pool *sqlite.Pool, names func(*record.Kind) string,
	isOwn func(*sqlite.Conn, *record.Kind) (bool, error), drain *Drain,
) *File {
	f := &File{
		Pool:     pool,
		names:    names,
		isOwn:    isOwn,
		drain:    drain,
		remember: newTotals(),
		dialect:  dialect.SQLite(),
		indexed:  dialect.SQLite(),
	}
	f.indexed.File.HideFields = true
	f.indexed.File.Typed = true
	return f
}

// fileTable is the table or view of a record kind in a file.
type fileTable struct {
	kind   *record.Kind
	name   string
	quoted string

	isOwn atomic.Pointer[bool]            // result of File.isOwn; nil until first read
	own   atomic.Pointer[dialect.Dialect] // result of File.ownDialect; nil until first read
	facts atomic.Pointer[tableFacts]      // nil until first read
}

// table returns the table or view of a kind. Its name is determined once for each kind, not for
// each statement.
func (f *File) table(kind *record.Kind) *fileTable {
	table, ok := f.tables.Load(kind)
	if !ok {
		name := f.names(kind)
		table, _ = f.tables.LoadOrStore(kind, &fileTable{kind: kind, name: name, quoted: sqlite.Quote(name)})
	}
	return table.(*fileTable)
}

// Name returns the name of a kind's table.
func (f *File) Name(kind *record.Kind) string { return f.table(kind).name }

// Table returns the quoted name of a kind's table.
func (f *File) Table(kind *record.Kind) string { return f.table(kind).quoted }

// Own returns the cached result of isOwn.
func (f *File) Own(conn *sqlite.Conn, kind *record.Kind) (bool, error) {
	return f.owns(conn, f.table(kind))
}

func (f *File) owns(conn *sqlite.Conn, table *fileTable) (bool, error) {
	if f.isOwn == nil {
		return false, nil
	}
	if cached := table.isOwn.Load(); cached != nil {
		return *cached, nil
	}
	isOwn, err := f.isOwn(conn, table.kind)
	if err != nil {
		return false, err
	}
	table.isOwn.Store(&isOwn)
	return isOwn, nil
}

// Forget removes a kind that is no longer used from the cache.
func (f *File) Forget(kind *record.Kind) { f.tables.Delete(kind) }

func (f *File) Session(ctx context.Context, kind *record.Kind, several bool) (Session, error) {
	conn, err := f.Pool.Get(ctx)
	if err != nil {
		return nil, Classify(err)
	}
	s := &fileSession{
		ctx:    ctx,
		file:   f,
		source: f.table(kind),
		conn:   conn,
		stop:   conn.InterruptOn(ctx),
	}
	s.dialect, err = f.dialectOf(conn, s.source)
	if err != nil {
		s.close()
		return nil, s.classify(err)
	}
	if !several {
		return s, nil
	}
	if err := conn.Query("BEGIN", nil); err != nil { // the pool rolls it back
		s.close()
		return nil, s.classify(err)
	}
	return s, nil
}

// Ping reads from the file, since opening a connection does not.
func (f *File) Ping(ctx context.Context) error {
	conn, err := f.Pool.Get(ctx)
	if err != nil {
		return err
	}
	defer f.Pool.Put(conn)
	return conn.Query("SELECT count(*) FROM sqlite_schema", nil)
}

// Close closes the connections.
func (f *File) Close() error { return f.Pool.Close() }

type fileSession struct {
	ctx     context.Context
	file    *File
	source  *fileTable
	dialect *dialect.Dialect
	conn    *sqlite.Conn
	stop    func() // ends the interrupts of statements
	steps   int    // limit of limitSteps
}

func (s *fileSession) table() (*dialect.Dialect, string) { return s.dialect, s.source.quoted }

func (s *fileSession) consistent() bool { return true }

func (s *fileSession) run(st query.Statement, limit time.Duration) (row.Source, error) {
	stmt, err := s.conn.Prepare(st.SQL)
	if err != nil {
		return nil, s.classify(err)
	}
	for i, a := range st.Args {
		bindArg(stmt, i+1, a)
	}
	s.conn.InterruptAfter(s.ctx, limit) // until s.stop is called
	rows := &fileRows{
		session: s,
		stmt:    stmt,
		types:   st.Types,
		cells:   make([]row.Cell, len(st.Types)),
	}
	if st.Blobs == nil {
		return rows, nil
	}
	return &guidRows{Source: rows, forms: st.Blobs}, nil
}

// bindArg binds an argument by its class, or without one by its type.
func bindArg(stmt *sqlite.Stmt, parameter int, a query.Arg) {
	switch {
	case a.Class == row.Text:
		stmt.BindText(parameter, a.Value.Text)
	case a.Class == row.Blob:
		stmt.BindBytes(parameter, a.Value.Bytes)
	case a.Class == row.Integer:
		stmt.BindInt(parameter, a.Value.Int)
	case a.Class == row.Real:
		f, _ := strconv.ParseFloat(a.Value.Text, 64) // as package sqlite has written it
		stmt.BindDouble(parameter, f)
	case a.Type.Integer() || a.Type == record.Bool:
		stmt.BindInt(parameter, a.Value.Int)
	case a.Type == record.Double:
		// The text is valid, or infinite in the row before a page.
		f, _ := strconv.ParseFloat(strings.TrimSpace(a.Value.Text), 64)
		stmt.BindDouble(parameter, f)
	case a.Type == record.Bytes:
		stmt.BindBytes(parameter, a.Value.Bytes)
	default:
		stmt.BindText(parameter, a.Value.Text)
	}
}

func (s *fileSession) limitSteps(n int) {
	s.steps = n
	s.conn.LimitSteps(n)
}

func (s *fileSession) totals() *totals { return s.file.remember }

func (s *fileSession) content() string { return s.conn.LogState() }

func (s *fileSession) close() {
	s.stop()
	s.file.Pool.Put(s.conn)
}

// classify distinguishes an interrupt by the time limit from one by a cancelled
// context.
func (s *fileSession) classify(err error) error {
	if e, ok := errors.AsType[*sqlite.Error](err); !ok || !e.Interrupted() {
		return Classify(err)
	}
	if s.conn.Expired() {
		return timeLimitError(err)
	}
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	if s.steps > 0 {
		return timeLimitError(err)
	}
	return Classify(err)
}

func timeLimitError(err error) error {
	return fault.Wrap(err, fault.Timeout,
		"the query exceeded its time limit query.timeout; request fewer rows or fields, or filter by an indexed field")
}

// fileRows steps through a statement. Its cells point into SQLite's memory.
type fileRows struct {
	session *fileSession
	stmt    *sqlite.Stmt
	types   []record.Type
	cells   []row.Cell
}

func (r *fileRows) Next() ([]row.Cell, error) {
	hasRow, err := r.stmt.Step()
	if err != nil || !hasRow {
		return nil, r.session.classify(err)
	}
	r.stmt.ReadRow(r.cells, r.types)
	return r.cells, nil
}

func (r *fileRows) Close() error { return r.stmt.Reset() }

// guidRows reads GUIDs in blobs.
type guidRows struct {
	row.Source
	forms []record.BlobForm // forms of the columns
	texts []byte            // texts of the row's GUIDs
}

func (r *guidRows) Next() ([]row.Cell, error) {
	cells, err := r.Source.Next()
	if err != nil || cells == nil {
		return nil, err
	}
	r.texts = r.texts[:0]
	for i, form := range r.forms {
		cell := &cells[i]
		if form == "" || cell.Class != row.Blob {
			continue
		}
		blob, err := hex.DecodeString(string(cell.Data)) // as package sqlite has written it
		if err != nil {
			return nil, err
		}
		start := len(r.texts)
		texts, ok := row.AppendBlobGuid(r.texts, blob, form)
		if ok {
			r.texts = texts
			cell.Misfit = false
			cell.Data = texts[start:]
		}
	}
	return cells, nil
}
