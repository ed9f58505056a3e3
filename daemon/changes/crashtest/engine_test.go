package crashtest

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// engine is a kind of database that an ERP uses.
type engine struct {
	name string

	// create returns the path of a new file in dir, or the connection string of a new database.
	create func(t *testing.T, dir string) (place string)
	open   func(t *testing.T, place string) session

	// erpOption returns the value of the daemon's option --erp for a database.
	erpOption func(place string) string

	columns       string // declarations of the columns of all tables
	hasRowversion bool

	// maxHold is the time for which writers hold a transaction at most.
	maxHold time.Duration
	// openTransactions is the average number of transactions that writers hold at a time.
	openTransactions float64

	// killsPerComparison divides the flag -rounds: the result is the number of comparisons of
	// copies. One on a server takes longer.
	killsPerComparison int
}

// sqliteFile is a file in the data directory of the daemon. Its writers wait for each other, so
// that they cannot hold transactions for long. It is free for half of the time.
var sqliteFile = &engine{
	name:      "SQLite",
	create:    func(_ *testing.T, dir string) string { return filepath.Join(dir, "records.db") },
	open:      openFile,
	erpOption: func(string) string { return "demo" },
	columns: `Branch INTEGER NOT NULL,
		No TEXT NOT NULL,
		Counter INTEGER NOT NULL,
		Amount TEXT_DECIMAL,
		Note TEXT,
		LastSavedDateTime TEXT NOT NULL`,
	maxHold:            40 * time.Millisecond,
	openTransactions:   0.5,
	killsPerComparison: 4,
}

// sqlServer is a database on the server of the tests. Without a server the test is skipped.
var sqlServer = &engine{
	name:      "SQLServer",
	create:    func(t *testing.T, _ string) string { return mssqltest.Database(t) },
	open:      openServer,
	erpOption: func(place string) string { return place },
	columns: `Branch int NOT NULL,
		No nvarchar(40) NOT NULL,
		Counter bigint NOT NULL,
		Amount decimal(18,2),
		Note nvarchar(100),
		LastSavedDateTime datetime2(7) NOT NULL`,
	hasRowversion:      true,
	maxHold:            5 * time.Second,
	openTransactions:   writerCount,
	killsPerComparison: 20,
}

// session is a connection to a database, in the SQL of its engine.
type session interface {
	exec(statements string) error
	query(statement string, read func(row []string)) error

	// begin starts a transaction that writes.
	begin() error

	// now returns the time that programs of the ERP set as the time of the last change.
	now() (stamp string, err error)

	// asTexts returns the expressions by which an independent reader selects the columns of a
	// table as texts. The first keyColumns are the key.
	asTexts() string

	Close() error
}

// fileSession is a connection to a file: that of an ERP, or one with copies.
type fileSession struct{ *sqlite.Conn }

// lockTimeout limits the wait for the other writers of a file.
const lockTimeout = 5 * time.Minute

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

// begin takes the lock of writers at once. A transaction that takes it later can fail instead of
// waiting.
func (s fileSession) begin() error { return s.Exec("BEGIN IMMEDIATE") }

func (s fileSession) now() (string, error) { return time.Now().Format(wire.DateLayout), nil }

func (s fileSession) asTexts() string {
	return `CAST(Branch AS TEXT), No, CAST(Counter AS TEXT), COALESCE(CAST(Amount AS TEXT), 'null'),
		COALESCE(Note, 'null'), LastSavedDateTime`
}

// serverSession is a connection to a server.
type serverSession struct {
	pool *mssql.Server
	conn *sql.Conn
}

func openServer(t *testing.T, dsn string) session {
	t.Helper()
	pool, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.DB().Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return serverSession{pool, conn}
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
		row := make([]string, len(columns))
		fields := make([]any, len(columns))
		for i := range row {
			fields[i] = &row[i]
		}
		if err := rows.Scan(fields...); err != nil {
			return err
		}
		read(row)
	}
	return rows.Err()
}

func (s serverSession) begin() error { return s.exec("BEGIN TRANSACTION") }

// now reads the clock of the server, which may differ from that of the tests.
func (s serverSession) now() (stamp string, err error) {
	const now = "SELECT CONVERT(varchar(33), SYSDATETIME(), 126)"
	err = s.query(now, func(row []string) { stamp = normalStamp(row[0]) })
	return stamp, err
}

func (s serverSession) asTexts() string {
	return `CAST(Branch AS varchar(20)), No, CAST(Counter AS varchar(20)), COALESCE(CAST(Amount AS varchar(40)), 'null'),
		COALESCE(Note, 'null'), CONVERT(varchar(33), LastSavedDateTime, 126)`
}

func (s serverSession) Close() error {
	s.conn.Close()
	return s.pool.Close()
}
