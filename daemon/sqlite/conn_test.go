package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// open opens a new database file, which is closed when the test ends.
func open(tb testing.TB) *Conn {
	tb.Helper()
	return openFile(tb, filepath.Join(tb.TempDir(), "records.db"), Options{})
}

func openFile(tb testing.TB, path string, o Options) *Conn {
	tb.Helper()
	c, err := Open(path, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Error(err)
		}
	})
	return c
}

func exec(tb testing.TB, c *Conn, sql string) {
	tb.Helper()
	if err := c.Exec(sql); err != nil {
		tb.Fatalf("%s: %v", sql, err)
	}
}

// query executes a statement with text parameters and returns its rows, with columns
// separated by bars and rows by commas.
func query(tb testing.TB, c *Conn, sql string, parameters ...string) string {
	tb.Helper()
	s, err := c.Prepare(sql)
	if err != nil {
		tb.Fatalf("%s: %v", sql, err)
	}
	defer s.Reset()
	for i, p := range parameters {
		s.BindText(i+1, p)
	}
	var rows []string
	for {
		hasRow, err := s.Step()
		if err != nil {
			tb.Fatalf("%s: %v", sql, err)
		}
		if !hasRow {
			return strings.Join(rows, ",")
		}
		rows = append(rows, line(s))
	}
}

func line(s *Stmt) string {
	columns := make([]string, s.Columns())
	for i := range columns {
		columns[i] = s.Text(i)
		if s.Null(i) {
			columns[i] = "NULL"
		}
	}
	return strings.Join(columns, "|")
}

// failure returns err as an error of SQLite and fails if it is not one.
func failure(tb testing.TB, err error) *Error {
	tb.Helper()
	var e *Error
	if !errors.As(err, &e) {
		tb.Fatalf("the error is %v, want an error of SQLite", err)
	}
	return e
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ärger & co.db")
	c := openFile(t, path, Options{
		BusyTimeout: 1500 * time.Millisecond,
		Pragmas:     []string{"synchronous = FULL", "cache_size = -321"},
	})
	for sql, want := range map[string]string{
		"PRAGMA journal_mode": "wal",
		"PRAGMA foreign_keys": "1",
		"PRAGMA busy_timeout": "1500",
		"PRAGMA synchronous":  "2",
		"PRAGMA cache_size":   "-321",
	} {
		if got := query(t, c, sql); got != want {
			t.Errorf("%s = %s, want %s", sql, got, want)
		}
	}
	exec(t, c, "CREATE TABLE a(x)")

	reader := openFile(t, path, Options{ReadOnly: true})
	if got := query(t, reader, "SELECT count(*) FROM a"); got != "0" {
		t.Errorf("the reader sees %s rows, want 0", got)
	}
	const want = "the file is read-only"
	if e := failure(t, reader.Exec("INSERT INTO a VALUES (1)")); Reason(e) != want {
		t.Errorf("writing to a read-only connection: got %v, want %s", e, want)
	}
}

func TestOpenFails(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("this is no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, try := range map[string]struct {
		path string
		o    Options
	}{
		"no folder":              {filepath.Join(dir, "no", "such.db"), Options{}},
		"read only, but no file": {filepath.Join(dir, "none.db"), Options{ReadOnly: true}},
		"no database":            {garbage, Options{}},
	} {
		_, err := Open(try.path, try.o)
		if e := failure(t, err); Reason(e) == "" || e.Message == "" {
			t.Errorf("%s: got error %v, want one with a reason and a message", name, e)
		}
	}
	if _, err := Open(filepath.Join(dir, "a\x00b.db"), Options{}); err == nil {
		t.Error("no error for a name with a zero byte")
	}
	if _, err := Open(filepath.Join(dir, "b.db"), Options{Pragmas: []string{"= nonsense"}}); err == nil {
		t.Error("no error for an invalid pragma")
	}
}

func TestExec(t *testing.T) {
	c := open(t)
	exec(t, c, "")
	exec(t, c, " -- nothing here\n")
	exec(t, c, `CREATE TABLE a(x INTEGER PRIMARY KEY, y TEXT UNIQUE);; -- two
		INSERT INTO a VALUES (1, 'one'), (7, 'seven'); SELECT * FROM a; /* done */ `)
	if got := c.Changes(); got != 2 {
		t.Errorf("got %d changes, want 2", got)
	}

	const secondFails = `INSERT INTO a VALUES (2, 'two');
		INSERT INTO a VALUES (3, 'one');
		INSERT INTO a VALUES (4, 'four')`
	if e := failure(t, c.Exec(secondFails)); !e.Constraint() || !e.Duplicate() {
		t.Errorf("inserting a text twice: got error %v, want a duplicate", e)
	}
	if got := query(t, c, "SELECT x FROM a ORDER BY x"); got != "1,2,7" {
		t.Errorf("after a script with an error in the middle: got rows %s, want 1,2,7", got)
	}
}

func TestInTransaction(t *testing.T) {
	c := open(t)
	if c.InTransaction() {
		t.Error("InTransaction is true outside a transaction")
	}
	exec(t, c, "BEGIN")
	if !c.InTransaction() {
		t.Error("InTransaction is false in a transaction")
	}
	exec(t, c, "ROLLBACK")
}

func TestErrors(t *testing.T) {
	c := open(t)
	exec(t, c, "CREATE TABLE a(x TEXT NOT NULL)")
	for sql, isExpected := range map[string]func(*Error) bool{
		"SELECT * FROM nowhere":               (*Error).NoTable,
		"SELECT z FROM a":                     (*Error).NoColumn,
		`SELECT "z" FROM a`:                   (*Error).NoColumn, // not a string literal
		"INSERT INTO a(z) VALUES (1)":         (*Error).NoColumn,
		"INSERT INTO a VALUES (NULL)":         (*Error).Constraint,
		"PRAGMA max_page_count = 3; " + large: func(e *Error) bool { return Reason(e) == "the disk is full" },
	} {
		e := failure(t, c.Exec(sql))
		isOther := e.Duplicate() || e.Busy() || e.Interrupted()
		if !isExpected(e) || isOther {
			t.Errorf("%s: error %v is not recognized, or as another one", sql, e)
		}
	}
}

// TestReasonOfFullDisk checks the error of a disk that became full while the file was closed: the -shm
// file is the first one that grows.
func TestReasonOfFullDisk(t *testing.T) {
	err := &Error{Code: sqlite3.SQLITE_IOERR_SHMSIZE, Message: "disk I/O error"}
	if Reason(err) != "the disk is full" || Remedy(err) == "" {
		t.Errorf("%v has the reason %q and the remedy %q, want those of a full disk", err, Reason(err), Remedy(err))
	}
}

const large = "INSERT INTO a VALUES (zeroblob(100000))"

func TestClosed(t *testing.T) {
	c := open(t)
	s, err := c.Prepare("SELECT ?")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
	c.Interrupt()
	s.BindText(1, "x")
	if _, err := s.Step(); err == nil {
		t.Error("a statement of a closed connection runs")
	}
	if err := c.Exec("SELECT 1"); err == nil {
		t.Error("a closed connection runs a script")
	}
	if _, err := c.Prepare("SELECT 1"); err == nil {
		t.Error("a closed connection prepares a statement")
	}
}

const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

func TestInterrupt(t *testing.T) {
	c := open(t)
	finished := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-finished:
				return
			default:
				c.Interrupt()
			}
		}
	}()
	e := failure(t, c.Exec(endless))
	close(finished)
	<-stopped
	if !e.Interrupted() {
		t.Errorf("got error %v, want that the statement is interrupted", e)
	}
	if got := query(t, c, "SELECT 1"); got != "1" {
		t.Errorf("afterwards: got %s, want 1", got)
	}
}

// TestInterruptOn cancels the context before the statement starts, when a single interrupt
// would have no effect.
func TestInterruptOn(t *testing.T) {
	c := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	stop := c.InterruptOn(ctx)
	if got := query(t, c, "SELECT 1"); got != "1" {
		t.Errorf("before cancelling: got %s, want 1", got)
	}
	cancel()
	if e := failure(t, c.Exec(endless)); !e.Interrupted() {
		t.Errorf("cancelled: got error %v, want that the statement is interrupted", e)
	}
	stop()
	stop()
	if got := query(t, c, "SELECT 2"); got != "2" {
		t.Errorf("afterwards: got %s, want 2", got)
	}
	c.InterruptOn(context.Background())()
}

// TestInterruptOnInsideMatch interrupts a statement during a single call of a function.
// SQLite only checks for interrupts between rows: the function must check for itself.
func TestInterruptOnInsideMatch(t *testing.T) {
	c := open(t)
	long := make([]byte, longText)
	probe := func(tls *libc.TLS, ctx uintptr, _ int32, _ uintptr) {
		stop := interrupted(tls, ctx, long)
		for !stop() {
			runtime.Gosched()
		}
		result(tls, ctx, true, stop)
	}
	if err := c.function("probe", 0, function(probe), 0, 0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer c.InterruptOn(ctx)()
	cancel()
	if e := failure(t, c.Exec("SELECT probe()")); !e.Interrupted() {
		t.Errorf("got error %v, want that the statement is interrupted", e)
	}
}

func TestBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.db")
	writer := openFile(t, path, Options{})
	other := openFile(t, path, Options{BusyTimeout: time.Millisecond})
	exec(t, writer, "CREATE TABLE a(x); BEGIN IMMEDIATE; INSERT INTO a VALUES (1)")
	if got := query(t, other, "SELECT count(*) FROM a"); got != "0" {
		t.Errorf("while another connection writes, a reader sees %s rows, want 0", got)
	}
	if e := failure(t, other.Exec("INSERT INTO a VALUES (2)")); !e.Busy() {
		t.Errorf("a second writer: got error %v, want that the file is busy", e)
	}
	exec(t, writer, "COMMIT")
	exec(t, other, "INSERT INTO a VALUES (2)")
}

// TestSync checks that the file is synced without a transaction, also while another
// connection writes.
func TestSync(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.db")
	c := openFile(t, path, Options{})
	writer := openFile(t, path, Options{})
	exec(t, writer, "CREATE TABLE a(x); BEGIN IMMEDIATE; INSERT INTO a VALUES (1)")
	if err := c.Sync(); err != nil {
		t.Error(err)
	}
	exec(t, writer, "COMMIT")
	if got := query(t, c, "SELECT x FROM a"); got != "1" {
		t.Errorf("after the commit: got x = %s, want 1", got)
	}
}
