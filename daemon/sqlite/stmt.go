package sqlite

import (
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"
)

// Stmt is a prepared statement of a connection. It is in use from Prepare, Bind or Step
// until Reset, which returns it to the connection's cache: afterwards Prepare may return
// it to another caller.
type Stmt struct {
	c      *Conn
	handle uintptr // *sqlite3_stmt, 0 once finalized
	err    error   // first error of a bind
	digits []byte  // digits of the doubles of the last row that was read

	sql   string
	inUse bool
}

// Prepare returns a statement for sql, which must be a single statement. It reuses a
// statement of the connection's cache that is not in use.
func (c *Conn) Prepare(sql string) (*Stmt, error) {
	if s := c.cache.get(sql); s != nil {
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
	sqlite3.Xsqlite3_finalize(s.c.tls, s.handle) // repeats the error of the last step
	s.handle = 0
}

// BindInt sets parameter i, counted from 1. An error is returned by the next Step.
func (s *Stmt) BindInt(i int, v int64) {
	if s.bindable() {
		s.checkBind(sqlite3.Xsqlite3_bind_int64(s.c.tls, s.handle, int32(i), v))
	}
}

// BindDouble sets parameter i.
func (s *Stmt) BindDouble(i int, v float64) {
	if s.bindable() {
		s.checkBind(sqlite3.Xsqlite3_bind_double(s.c.tls, s.handle, int32(i), v))
	}
}

// BindNull sets parameter i to NULL.
func (s *Stmt) BindNull(i int) {
	if s.bindable() {
		s.checkBind(sqlite3.Xsqlite3_bind_null(s.c.tls, s.handle, int32(i)))
	}
}

// BindText sets parameter i to a copy of v. Empty text is not NULL. Zero bytes are
// preserved.
func (s *Stmt) BindText(i int, v string) {
	if !s.bindable() {
		return
	}
	data, free, ok := s.c.passValue(v)
	if !ok {
		s.checkBind(sqlite3.SQLITE_NOMEM)
		return
	}
	s.checkBind(sqlite3.Xsqlite3_bind_text64(s.c.tls, s.handle, int32(i), data, uint64(len(v)), free,
		sqlite3.SQLITE_UTF8))
}

// BindBytes sets parameter i to a copy of v. A nil or empty v is an empty blob, not NULL.
func (s *Stmt) BindBytes(i int, v []byte) {
	if !s.bindable() {
		return
	}
	data, free, ok := s.c.passValue(stringView(v))
	if !ok {
		s.checkBind(sqlite3.SQLITE_NOMEM)
		return
	}
	s.checkBind(sqlite3.Xsqlite3_bind_blob64(s.c.tls, s.handle, int32(i), data, uint64(len(v)), free))
}

// Bind sets the parameters, from the first, to values of type nil, string, int64,
// float64 or []byte.
func (s *Stmt) Bind(values ...any) {
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			s.BindNull(i + 1)
		case string:
			s.BindText(i+1, v)
		case int64:
			s.BindInt(i+1, v)
		case float64:
			s.BindDouble(i+1, v)
		case []byte:
			s.BindBytes(i+1, v)
		default:
			panic(fmt.Sprintf("sqlite: cannot bind a value of type %T", v))
		}
	}
}

// passValue passes v to SQLite for the next call: short values in the connection's scratch
// memory, which SQLite copies, long values in new memory, which SQLite takes over and
// frees.
func (c *Conn) passValue(v string) (data, free uintptr, ok bool) {
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
		s.err = misuse("the statement is finalized")
	}
	return s.err == nil
}

func (s *Stmt) checkBind(rc int32) {
	if rc != sqlite3.SQLITE_OK {
		s.err = s.c.fail(rc)
	}
}

// Step executes the statement up to its next row and reports whether there is one. After
// the last row or an error, call Reset.
func (s *Stmt) Step() (bool, error) {
	if !s.bindable() {
		return false, s.err
	}
	isLimited := s.c.interrupts.limit > 0
	if isLimited {
		s.c.interrupts.steps.Add(1)
	}
	rc := sqlite3.Xsqlite3_step(s.c.tls, s.handle)
	if isLimited {
		s.c.interrupts.steps.Add(1)
	}
	switch rc {
	case sqlite3.SQLITE_ROW:
		return true, nil
	case sqlite3.SQLITE_DONE:
		return false, nil
	default:
		return false, s.c.fail(rc)
	}
}

// Reset ends the execution of the statement, sets all parameters to NULL and returns the
// statement to the cache. It returns an error of a bind that no Step has returned.
func (s *Stmt) Reset() error {
	err := s.err
	s.err = nil
	if s.handle != 0 {
		sqlite3.Xsqlite3_reset(s.c.tls, s.handle) // repeats the error of the last step
		sqlite3.Xsqlite3_clear_bindings(s.c.tls, s.handle)
	}
	s.inUse = false
	if len(s.sql) > cacheableText {
		s.c.cache.remove(s)
	}
	return err
}

// Columns returns the number of columns of a row.
func (s *Stmt) Columns() int { return int(sqlite3.Xsqlite3_column_count(s.c.tls, s.handle)) }
