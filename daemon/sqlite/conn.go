// Package sqlite is a thin layer on SQLite's C interface. It provides connections,
// prepared statements that read rows without copying, and a pool. Every connection
// has the collations TSQL (text) and DEC (decimal digits) and the functions of
// function.go, which implement the rules of package tsql.
package sqlite

import (
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Version is the version of SQLite.
const Version = sqlite3.SQLITE_VERSION

// Options configure how a database file is opened.
type Options struct {
	ReadOnly    bool          // the file must exist; nothing can be written
	Existing    bool          // the file must exist
	BusyTimeout time.Duration // how long a statement waits for a lock
	Pragmas     []string      // run in order on every connection, as "name = value"
}

// Conn is a connection. It must be used by one goroutine at a time; only Interrupt, Expired and the
// function that ends interrupts may be called concurrently.
type Conn struct {
	tls   *libc.TLS
	db    uintptr // *sqlite3, 0 once closed
	cache cache

	scratch uintptr // scratchSize bytes for values passed to SQLite

	closing sync.Mutex // protects db against Interrupt during Close

	interrupts     interrupts
	stopInterrupts func() // endInterrupts, allocated once
}

// Open opens the database file at path. It creates the file unless o.ReadOnly or
// o.Existing is set. A connection that can write enables WAL mode.
func Open(path string, o Options) (*Conn, error) {
	c := &Conn{tls: libc.NewTLS()}
	c.stopInterrupts = c.endInterrupts
	if err := c.open(path, o); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Conn) open(path string, o Options) error {
	flags := int32(sqlite3.SQLITE_OPEN_NOMUTEX | sqlite3.SQLITE_OPEN_EXRESCODE)
	if o.ReadOnly {
		flags |= sqlite3.SQLITE_OPEN_READONLY
	} else {
		flags |= sqlite3.SQLITE_OPEN_READWRITE
	}
	if !o.ReadOnly && !o.Existing {
		flags |= sqlite3.SQLITE_OPEN_CREATE
	}

	name, err := c.cstring(path)
	if err != nil {
		return err
	}
	defer c.free(name)
	out := c.tls.Alloc(wordSize)
	defer c.tls.Free(wordSize)
	rc := sqlite3.Xsqlite3_open_v2(c.tls, name, out, flags, 0)
	c.db = *(*uintptr)(pointer(out)) // most errors return a handle too, for the message
	if rc != sqlite3.SQLITE_OK {
		return c.fail(rc)
	}

	c.scratch = sqlite3.Xsqlite3_malloc64(c.tls, scratchSize)
	if c.scratch == 0 {
		return c.fail(sqlite3.SQLITE_NOMEM)
	}
	return c.configure(o)
}

func (c *Conn) configure(o Options) error {
	sqlite3.Xsqlite3_busy_timeout(c.tls, c.db, int32(o.BusyTimeout.Milliseconds()))
	for _, option := range []int32{sqlite3.SQLITE_DBCONFIG_DQS_DDL, sqlite3.SQLITE_DBCONFIG_DQS_DML} {
		// Otherwise a misspelled column in double quotes would be a string literal.
		if err := c.setOption(option, false); err != nil {
			return err
		}
	}
	// Otherwise SQLite compiles a statement again for each value of a parameter, to choose the
	// plan by the statistics of that value: a tenth of the time of a page.
	if err := c.setOption(sqlite3.SQLITE_DBCONFIG_ENABLE_QPSG, true); err != nil {
		return err
	}
	if err := c.register(); err != nil {
		return err
	}
	pragmas := []string{"foreign_keys = ON"}
	if !o.ReadOnly {
		pragmas = append(pragmas, "journal_mode = WAL")
	}
	for _, pragma := range append(pragmas, o.Pragmas...) {
		if err := c.Exec("PRAGMA " + pragma); err != nil {
			return err
		}
	}
	return nil
}

// setOption switches an option of sqlite3_db_config on or off.
func (c *Conn) setOption(option int32, on bool) error {
	state := int32(0)
	if on {
		state = 1
	}
	const dst = 2 * 8 // two arguments of sqlite3_db_config: the new state and a pointer for the result
	list := c.tls.Alloc(dst)
	defer c.tls.Free(dst)
	rc := sqlite3.Xsqlite3_db_config(c.tls, c.db, option, libc.VaList(list, state, uintptr(0)))
	return c.check(rc)
}

// Close finalizes all statements and closes the connection. It may be called several
// times.
func (c *Conn) Close() error {
	c.closing.Lock()
	defer c.closing.Unlock()
	if c.tls == nil {
		return nil
	}
	c.cache.clear()
	err := c.check(sqlite3.Xsqlite3_close_v2(c.tls, c.db))
	sqlite3.Xsqlite3_free(c.tls, c.scratch)
	c.tls.Close()
	c.tls = nil
	c.db = 0
	c.scratch = 0
	return err
}

// Interrupt makes the running statement fail, see Error.Interrupted. It has no effect if
// none is running, so it may be too early; InterruptOn repeats it. It may be called from
// any goroutine at any time.
func (c *Conn) Interrupt() {
	c.closing.Lock()
	defer c.closing.Unlock()
	if c.db == 0 {
		return
	}
	tls := libc.NewTLS() // the connection's TLS is in use by its goroutine
	defer tls.Close()
	sqlite3.Xsqlite3_interrupt(tls, c.db)
}

// LimitSteps interrupts statements, see Error.Interrupted, that need more than about n instructions
// of SQLite's virtual machine, until it is called with 0. Unlike a time limit, it does not depend
// on the load of the machine.
func (c *Conn) LimitSteps(n int) {
	sqlite3.Xsqlite3_progress_handler(c.tls, c.db, int32(n), function(interruptStatement), 0)
}

// interruptStatement is a progress handler.
func interruptStatement(*libc.TLS, uintptr) int32 { return 1 }

// Exec executes statements without parameters and stops at the first error.
func (c *Conn) Exec(sql string) error {
	script, err := c.cstring(sql)
	if err != nil {
		return err
	}
	defer c.free(script)
	remaining := script
	for *(*byte)(pointer(remaining)) != 0 {
		handle, tail, err := c.compile(remaining, 0)
		if err != nil {
			return err
		}
		if handle != 0 {
			if err := c.run(handle); err != nil {
				return err
			}
		}
		remaining = tail
	}
	return nil
}

// Query executes a statement and calls read, unless that is nil, for each row.
func (c *Conn) Query(sql string, read func(*Stmt) error, args ...any) error {
	s, err := c.Prepare(sql)
	if err != nil {
		return err
	}
	defer s.Reset()
	s.Bind(args...)
	for {
		hasRow, err := s.Step()
		if err != nil || !hasRow {
			return err
		}
		if read != nil {
			if err := read(s); err != nil {
				return err
			}
		}
	}
}

// Column is a column of a table or view.
type Column struct {
	Name     string
	Type     string // as declared; empty for an expression of a view
	Nullable bool
}

// DecimalType is the declared type of columns with the collation DEC. Its affinity is text.
const DecimalType = "TEXT_DECIMAL"

// Affinity returns the type affinity of a declared type according to SQLite's rules.
func Affinity(declared string) string {
	contains := func(part string) bool { return strings.Contains(strings.ToLower(declared), part) }
	has := func(parts ...string) bool { return slices.ContainsFunc(parts, contains) }
	switch {
	case declared == "":
		return "none"
	case has("int"):
		return "integer"
	case has("char", "clob", "text"):
		return "text"
	case has("blob"):
		return "blob"
	case has("real", "floa", "doub"):
		return "real"
	}
	return "numeric"
}

// Columns returns the columns of a table or view in their order, none if it does not exist.
func (c *Conn) Columns(table string) ([]Column, error) {
	const sql = `SELECT name, type, NOT "notnull" FROM pragma_table_info(?1)`
	var columns []Column
	read := func(s *Stmt) error {
		columns = append(columns, Column{Name: s.Text(0), Type: s.Text(1), Nullable: s.Int(2) != 0})
		return nil
	}
	err := c.Query(sql, read, table)
	return columns, err
}

// IsStored reports whether a name is that of a table that stores its values. Those of a view, or of a
// virtual table, can depend on the time of reading. Generated columns cannot.
func (c *Conn) IsStored(table string) (isStored bool, err error) {
	const sql = `SELECT 1 FROM pragma_table_list(?1) WHERE schema = 'main' AND type = 'table'`
	_, isStored, err = c.QueryInt(sql, table)
	return isStored, err
}

// HasRowID reports whether a name is that of a table with row IDs. A view has none, nor has a table
// that was created WITHOUT ROWID.
func (c *Conn) HasRowID(table string) (hasRowID bool, err error) {
	const sql = `SELECT 1 FROM pragma_table_list(?1) WHERE schema = 'main' AND type = 'table' AND NOT wr`
	_, hasRowID, err = c.QueryInt(sql, table)
	return hasRowID, err
}

// equalities is a query for the collation of a column, which the catalogue does not have for
// views: it compares values in a compound of which the column is the first part, and which
// therefore has its collation.
const equalities = `WITH sample(v) AS (SELECT column FROM source WHERE 0 UNION ALL VALUES ('1.0'), ('É'), ('A'), ('x '))
SELECT CASE
	WHEN max(v = '1') THEN 'DEC'
	WHEN max(v = 'é') THEN 'TSQL'
	WHEN max(v = 'a') THEN 'NOCASE'
	WHEN max(v = 'x') THEN 'RTRIM'
	ELSE 'BINARY'
END FROM sample`

// Collation returns the name of the collation with which a text is compared with a column of a
// table or view: the collation of the column, or BINARY for the result of an expression.
func (c *Conn) Collation(table, column string) (name string, err error) {
	sql := strings.NewReplacer("column", Quote(column), "source", Quote(table)).Replace(equalities)
	err = c.Query(sql, func(s *Stmt) error {
		name = s.Text(0)
		return nil
	})
	return name, err
}

// QueryInt returns the first column of a statement's first row, and whether there is a
// row.
func (c *Conn) QueryInt(sql string, args ...any) (n int64, found bool, err error) {
	s, err := c.Prepare(sql)
	if err != nil {
		return 0, false, err
	}
	defer s.Reset()
	s.Bind(args...)
	found, err = s.Step()
	return s.Int(0), found, err
}

// run steps a statement to its end and finalizes it.
func (c *Conn) run(handle uintptr) error {
	rc := int32(sqlite3.SQLITE_ROW)
	for rc == sqlite3.SQLITE_ROW {
		rc = sqlite3.Xsqlite3_step(c.tls, handle)
	}
	var err error
	if rc != sqlite3.SQLITE_DONE {
		err = c.fail(rc)
	}
	sqlite3.Xsqlite3_finalize(c.tls, handle) // repeats the error of the step
	return err
}

// compile prepares the first statement of the zero-terminated text at sql. handle is 0 if
// there is only white space or a comment. tail is the remaining text.
func (c *Conn) compile(sql uintptr, flags uint32) (handle, tail uintptr, err error) {
	if c.db == 0 {
		return 0, 0, misuse("the connection is closed")
	}
	out := c.tls.Alloc(2 * wordSize)
	defer c.tls.Free(2 * wordSize)
	rc := sqlite3.Xsqlite3_prepare_v3(c.tls, c.db, sql, -1, flags, out, out+uintptr(wordSize))
	if rc != sqlite3.SQLITE_OK {
		return 0, 0, c.fail(rc)
	}
	return *(*uintptr)(pointer(out)), *(*uintptr)(pointer(out + uintptr(wordSize))), nil
}

// Changes returns the number of rows changed by the last INSERT, UPDATE or DELETE.
func (c *Conn) Changes() int64 { return sqlite3.Xsqlite3_changes64(c.tls, c.db) }

// InTransaction reports whether a transaction is open.
func (c *Conn) InTransaction() bool { return sqlite3.Xsqlite3_get_autocommit(c.tls, c.db) == 0 }

// Sync writes the changes of the database file itself, without its WAL, to the disk.
func (c *Conn) Sync() error {
	out := c.tls.Alloc(wordSize)
	defer c.tls.Free(wordSize)
	rc := sqlite3.Xsqlite3_file_control(c.tls, c.db, 0, sqlite3.SQLITE_FCNTL_FILE_POINTER, out)
	if err := c.check(rc); err != nil {
		return err
	}
	file := *(*uintptr)(pointer(out)) // its first member is the table of its methods
	methods := (*sqlite3.Tsqlite3_io_methods)(pointer(*(*uintptr)(pointer(file))))
	sync := *(*func(*libc.TLS, uintptr, int32) int32)(unsafe.Pointer(&methods.FxSync))
	return c.check(sync(c.tls, file, sqlite3.SQLITE_SYNC_NORMAL))
}

// LogState returns the state of the write-ahead log that the open transaction reads. Each
// commit changes it. It is empty without a transaction or a log, which exists from the first
// commit until the last connection is closed.
func (c *Conn) LogState() string {
	name, err := c.cstring("main")
	if err != nil {
		return ""
	}
	defer c.free(name)
	out := c.tls.Alloc(wordSize)
	defer c.tls.Free(wordSize)
	if sqlite3.Xsqlite3_snapshot_get(c.tls, c.db, name, out) != sqlite3.SQLITE_OK {
		return ""
	}
	handle := *(*uintptr)(pointer(out))
	defer sqlite3.Xsqlite3_snapshot_free(c.tls, handle)
	return string(memory(handle, int(unsafe.Sizeof(sqlite3.Tsqlite3_snapshot{}))))
}

const wordSize = int(unsafe.Sizeof(uintptr(0)))

// Quote quotes an identifier.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// check returns the error of a result code, nil for success.
func (c *Conn) check(rc int32) error {
	if rc == sqlite3.SQLITE_OK {
		return nil
	}
	return c.fail(rc)
}

// fail returns the error of a result code, with the connection's message if it belongs to
// that code.
func (c *Conn) fail(rc int32) *Error {
	text := sqlite3.Xsqlite3_errstr(c.tls, rc)
	if c.db != 0 && sqlite3.Xsqlite3_errcode(c.tls, c.db)&0xff == rc&0xff {
		rc = sqlite3.Xsqlite3_extended_errcode(c.tls, c.db)
		text = sqlite3.Xsqlite3_errmsg(c.tls, c.db)
	}
	return &Error{Code: int(rc), Message: libc.GoString(text)}
}

// cstring is copyIn for names and statements, which must not contain a zero byte.
func (c *Conn) cstring(s string) (uintptr, error) {
	if c.tls == nil {
		return 0, misuse("the connection is closed")
	}
	if strings.IndexByte(s, 0) >= 0 {
		return 0, misuse("a zero byte in a name or a statement")
	}
	p := copyIn(c.tls, s)
	if p == 0 {
		return 0, c.fail(sqlite3.SQLITE_NOMEM)
	}
	return p, nil
}

func (c *Conn) free(p uintptr) { sqlite3.Xsqlite3_free(c.tls, p) }
