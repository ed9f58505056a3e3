package sqlite

import (
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"
)

// Stmt is a prepared statement of a connection. It is in use from Prepare,
// Bind or Step until Reset, which gives it back to the connection's cache: then
// the next Prepare of the same text may return it to another caller.
type Stmt struct {
	c      *Conn
	handle uintptr // *sqlite3_stmt, 0 once finalised
	err    error   // the first failure to bind

	sql   string
	inUse bool
}

// Prepare returns a statement for the SQL text, which must be a single one. It
// is taken from the connection's cache where it has one that is not in use.
func (c *Conn) Prepare(sql string) (*Stmt, error) {
	if s := c.cache.take(sql); s != nil {
		return s, nil
	}
	text, err := c.cstring(sql)
	if err != nil {
		return nil, err
	}
	defer c.free(text)
	handle, tail, err := c.compile(text, sqlite3.SQLITE_PREPARE_PERSISTENT)
	if err != nil {
		return nil, err
	}
	s := &Stmt{c: c, handle: handle, sql: sql}
	if handle == 0 || *(*byte)(pointer(tail)) != 0 {
		s.finalize()
		return nil, misuse("not exactly one statement")
	}
	c.cache.add(s)
	return s, nil
}

func (s *Stmt) finalize() {
	sqlite3.Xsqlite3_finalize(s.c.tls, s.handle) // repeats the failure of the last step
	s.handle = 0
}

// BindInt sets parameter i, counted from 1. A failure to bind is returned by
// the next Step.
func (s *Stmt) BindInt(i int, v int64) {
	if s.bindable() {
		s.bound(sqlite3.Xsqlite3_bind_int64(s.c.tls, s.handle, int32(i), v))
	}
}

// BindNull sets parameter i to NULL.
func (s *Stmt) BindNull(i int) {
	if s.bindable() {
		s.bound(sqlite3.Xsqlite3_bind_null(s.c.tls, s.handle, int32(i)))
	}
}

// BindText sets parameter i to a copy of v. Empty text is text, not NULL, and
// zero bytes are kept.
func (s *Stmt) BindText(i int, v string) {
	if !s.bindable() {
		return
	}
	data, free, ok := s.c.lend(v)
	if !ok {
		s.bound(sqlite3.SQLITE_NOMEM)
		return
	}
	s.bound(sqlite3.Xsqlite3_bind_text64(s.c.tls, s.handle, int32(i), data, uint64(len(v)), free, sqlite3.SQLITE_UTF8))
}

// BindBytes sets parameter i to a copy of v. No bytes are an empty blob, also
// where v is nil.
func (s *Stmt) BindBytes(i int, v []byte) {
	if !s.bindable() {
		return
	}
	data, free, ok := s.c.lend(stringView(v))
	if !ok {
		s.bound(sqlite3.SQLITE_NOMEM)
		return
	}
	s.bound(sqlite3.Xsqlite3_bind_blob64(s.c.tls, s.handle, int32(i), data, uint64(len(v)), free))
}

// Bind sets the parameters from the first on to values that are nil, string,
// int64 or []byte.
func (s *Stmt) Bind(values ...any) {
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			s.BindNull(i + 1)
		case string:
			s.BindText(i+1, v)
		case int64:
			s.BindInt(i+1, v)
		case []byte:
			s.BindBytes(i+1, v)
		default:
			panic(fmt.Sprintf("sqlite: a value of type %T cannot be bound", v))
		}
	}
}

// lend puts v where SQLite can read it during the next call: short values into
// the connection's own memory, of which SQLite makes its copy, long ones into
// memory that SQLite takes over and frees.
func (c *Conn) lend(v string) (data, free uintptr, ok bool) {
	if len(v) <= scratchSize {
		copy(memory(c.scratch, scratchSize), v)
		return c.scratch, sqlite3.SQLITE_TRANSIENT, true
	}
	data = copyIn(c.tls, v)
	return data, function(sqlite3.Xsqlite3_free), data != 0
}

const scratchSize = 4096

func (s *Stmt) bindable() bool {
	s.inUse = true
	if s.err == nil && s.handle == 0 {
		s.err = misuse("the statement is finalised")
	}
	return s.err == nil
}

func (s *Stmt) bound(rc int32) {
	if rc != sqlite3.SQLITE_OK {
		s.err = s.c.fail(rc)
	}
}

// Step runs the statement up to its next row and reports whether there is one.
// After the last row and after an error only Reset makes sense.
func (s *Stmt) Step() (bool, error) {
	if !s.bindable() {
		return false, s.err
	}
	switch rc := sqlite3.Xsqlite3_step(s.c.tls, s.handle); rc {
	case sqlite3.SQLITE_ROW:
		return true, nil
	case sqlite3.SQLITE_DONE:
		return false, nil
	default:
		return false, s.c.fail(rc)
	}
}

// Reset ends the run of the statement, sets every parameter to NULL and gives
// the statement back to the cache. Its error is a failure to bind that no Step
// has seen.
func (s *Stmt) Reset() error {
	err := s.err
	s.err = nil
	if s.handle != 0 {
		sqlite3.Xsqlite3_reset(s.c.tls, s.handle) // repeats the failure of the last step
		sqlite3.Xsqlite3_clear_bindings(s.c.tls, s.handle)
	}
	s.inUse = false
	if len(s.sql) > cacheableText {
		s.c.cache.remove(s)
	}
	return err
}

// Columns is the number of columns of a row.
func (s *Stmt) Columns() int { return int(sqlite3.Xsqlite3_column_count(s.c.tls, s.handle)) }
