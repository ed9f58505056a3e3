package crashtest

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// table is a table of the ERP and its record kind. All tables have the same columns.
type table struct {
	name    string
	key     string // columns of the primary key
	stamp   string // of the kind; empty for none
	version bool   // has a rowversion; only on a server
}

// stamped is the table with an indexed time stamp.
const stamped = "Stamped"

var tables = []table{
	{name: stamped, key: "No", stamp: "LastSavedDateTime"},
	{name: "Plain", key: "Branch, No"},
	{name: "Versioned", key: "No", stamp: "Version", version: true},
}

// erp is the database of an ERP, on either engine.
type erp struct {
	server  bool
	place   string // path of the file, or connection string
	tables  []table
	args    []string      // of the daemon
	maxHold time.Duration // of transactions
}

// erpColumns are the columns of all tables, in a file and on a server.
var erpColumns = map[bool]string{
	false: `Branch INTEGER NOT NULL,
		No TEXT NOT NULL,
		Counter INTEGER NOT NULL,
		Amount TEXT_DECIMAL,
		Note TEXT,
		LastSavedDateTime TEXT NOT NULL`,
	true: `Branch int NOT NULL,
		No nvarchar(40) NOT NULL,
		Counter bigint NOT NULL,
		Amount decimal(18,2),
		Note nvarchar(100),
		LastSavedDateTime datetime2(7) NOT NULL`,
}

// erpFields are the declarations of these columns.
const erpFields = `Branch = "int"
No = "string"
Counter = "long"
Amount = "decimal?"
Note = "string?"
LastSavedDateTime = "DateTime"
`

// newERP creates an empty database; that in a file is in the daemon's data directory.
// Writers of a file wait for each other, so that they cannot hold transactions for long.
func newERP(t *testing.T, dir string, server bool) *erp {
	t.Helper()
	e := &erp{server: server, place: filepath.Join(dir, "records.db"), maxHold: 40 * time.Millisecond}
	connection := "demo"
	if server {
		e.place, e.maxHold = mssqltest.Database(t), 5*time.Second
		connection = e.place
	}
	s := e.open(t)
	defer s.Close()
	var declared strings.Builder
	for _, tb := range tables {
		if tb.version && !server {
			continue
		}
		e.tables = append(e.tables, tb)
		columns := erpColumns[server]
		if tb.version {
			_ = s.exec("EXEC sp_babelfish_configure 'escape_hatch_rowversion', 'ignore'") // SQL Server has none
			columns += ", Version rowversion NOT NULL"
		}
		e.exec(t, s, fmt.Sprintf("CREATE TABLE %s (%s, PRIMARY KEY (%s))", tb.name, columns, tb.key))
		if tb.name == stamped {
			e.exec(t, s, fmt.Sprintf("CREATE INDEX %sSaved ON %[1]s (%s)", tb.name, tb.stamp))
		}
		fmt.Fprintf(&declared, "[%s]\nsource = %[1]q\nevents = %q\ncapture = \"always\"\n", tb.name, strings.ToLower(tb.name))
		if tb.stamp != "" {
			fmt.Fprintf(&declared, "stamp = %q\n", tb.stamp)
		}
		fmt.Fprintf(&declared, "[%s.fields]\n%s", tb.name, erpFields)
		if tb.version {
			fmt.Fprintln(&declared, `Version = "byte[]"`)
		}
	}
	e.args = []string{"--erp", connection, "--erp-kinds", write(t, filepath.Join(dir, "captured.toml"), declared.String()),
		"--changes-sweep", "1s", "--changes-share", "1", "--webhooks-allow-targets", "127.0.0.0/8"}
	return e
}

// session is a connection to a database.
type session interface {
	exec(statements string) error
	query(statement string, read func(row []string)) error
	Close() error
}

// lockTimeout limits the wait for the other writers of a file.
const lockTimeout = 5 * time.Minute

func (e *erp) open(t *testing.T) session {
	t.Helper()
	if !e.server {
		return openFile(t, e.place)
	}
	pool, err := mssql.Open(mssql.Config{DSN: e.place, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.DB().Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return serverSession{pool, conn}
}

func (e *erp) exec(t *testing.T, s session, statements string) {
	t.Helper()
	if err := s.exec(statements); err != nil {
		t.Fatalf("%s: %v", statements, err)
	}
}

// now selects the time that programs of the ERP set as the time of the last change.
func (e *erp) now(s session) (stamp string, err error) {
	if !e.server {
		return time.Now().Format(wire.DateLayout), nil
	}
	err = s.query("SELECT CONVERT(varchar(33), SYSDATETIME(), 126)", func(row []string) { stamp = normalStamp(row[0]) })
	return stamp, err
}

// fileSession is a connection to a file.
type fileSession struct{ *sqlite.Conn }

func openFile(t *testing.T, path string) session {
	t.Helper()
	conn, err := sqlite.Open(path, sqlite.Options{BusyTimeout: lockTimeout})
	if err != nil {
		t.Fatal(err)
	}
	return fileSession{conn}
}

func (s fileSession) exec(statements string) error { return s.Exec(statements) }

func (s fileSession) query(statement string, read func([]string)) error {
	return s.Query(statement, func(r *sqlite.Stmt) error {
		row := make([]string, r.Columns())
		for i := range row {
			row[i] = r.Text(i)
		}
		read(row)
		return nil
	})
}

// serverSession is a connection to a server.
type serverSession struct {
	pool *mssql.Server
	conn *sql.Conn
}

func (s serverSession) exec(statements string) error {
	_, err := s.conn.ExecContext(context.Background(), statements)
	return err
}

func (s serverSession) query(statement string, read func([]string)) error {
	rows, err := s.conn.QueryContext(context.Background(), statement)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		row, into := make([]string, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		read(row)
	}
	return rows.Err()
}

func (s serverSession) Close() error {
	s.conn.Close()
	return s.pool.Close()
}

// The expressions by which an independent reader selects the columns as texts: from a file,
// which copies are too, and from a server. The first two are the key.
var asTexts = map[bool]string{
	false: `CAST(Branch AS TEXT), No, CAST(Counter AS TEXT), COALESCE(CAST(Amount AS TEXT), 'null'),
		COALESCE(Note, 'null'), LastSavedDateTime`,
	true: `CAST(Branch AS varchar(20)), No, CAST(Counter AS varchar(20)), COALESCE(CAST(Amount AS varchar(40)), 'null'),
		COALESCE(Note, 'null'), CONVERT(varchar(33), LastSavedDateTime, 126)`,
}

// contents are the rows of a table as texts, by key.
type contents map[string]string

// keyColumns is the number of columns in the key of contents.
const keyColumns = 2

func readContents(s session, server bool, name string) (contents, error) {
	all := make(contents)
	err := s.query("SELECT "+asTexts[server]+" FROM "+name, func(row []string) {
		row[len(row)-1] = normalStamp(row[len(row)-1])
		all.add(row)
	})
	return all, err
}

func (c contents) add(row []string) {
	c[strings.Join(row[:keyColumns], " ")] = strings.Join(row[keyColumns:], " ")
}

// normalStamp writes a time with a T and all digits, which servers leave out in different
// ways.
func normalStamp(text string) string {
	at, err := time.Parse("2006-01-02T15:04:05", strings.Replace(text, " ", "T", 1))
	if err != nil {
		return text
	}
	return at.Format(wire.DateLayout)
}

// differences counts the differences of a copy from its source.
type differences struct{ missing, extra, stale int }

// compare counts the differences of a copy, and describes up to ten of them.
func (c contents) compare(source contents) (d differences, samples []string) {
	for key, values := range source {
		copied, ok := c[key]
		if !ok {
			d.missing++
			samples = append(samples, fmt.Sprintf("missing %s: %s", key, values))
		} else if copied != values {
			d.stale++
			samples = append(samples, fmt.Sprintf("stale %s: %s, in the source %s", key, copied, values))
		}
	}
	for key, values := range c {
		if _, exists := source[key]; !exists {
			d.extra++
			samples = append(samples, fmt.Sprintf("extra %s: %s", key, values))
		}
	}
	slices.Sort(samples)
	return d, samples[:min(len(samples), 10)]
}
