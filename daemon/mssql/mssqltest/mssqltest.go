// Package mssqltest creates databases for tests on a real server.
package mssqltest

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/mssql"
)

// Variable is the environment variable with the connection string of the test server.
const Variable = "WHD_TEST_SQLSERVER_DSN"

// Database creates an empty database and returns its connection string. It is dropped
// when the test ends. Without a server the test is skipped.
func Database(tb testing.TB) string {
	tb.Helper()
	server := os.Getenv(Variable)
	if server == "" {
		tb.Skip(Variable + " is not set")
	}
	name := "whd_test_" + strings.ToLower(rand.Text()[:12])
	execRetrying(tb, server, "CREATE DATABASE "+name)
	tb.Cleanup(func() { execRetrying(tb, server, "DROP DATABASE "+name) })
	u, err := url.Parse(server)
	if err != nil {
		tb.Fatal(Variable + " is not a URL")
	}
	options := u.Query()
	options.Set("database", name)
	u.RawQuery = options.Encode()
	return u.String()
}

// Recreate replaces a database that Database created by an empty one with its name.
func Recreate(tb testing.TB, name string) {
	tb.Helper()
	server := os.Getenv(Variable)
	execRetrying(tb, server, "DROP DATABASE "+name)
	execRetrying(tb, server, "CREATE DATABASE "+name)
}

// Exec executes statements one by one.
func Exec(tb testing.TB, dsn string, statements ...string) {
	tb.Helper()
	for _, statement := range statements {
		if err := exec(dsn, statement); err != nil {
			tb.Fatalf("%s: %v", statement, err)
		}
	}
}

// Batches returns the batches of a script for sqlcmd, without the first one, which selects
// the database.
func Batches(tb testing.TB, file string) []string {
	tb.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Split(string(text), "\nGO\n")[1:]
}

// exec executes a statement on a connection of its own.
func exec(dsn, statement string) error {
	s, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.DB().ExecContext(context.Background(), statement)
	return err
}

// Count returns the number that a statement selects.
func Count(tb testing.TB, dsn, statement string) (n int64) {
	tb.Helper()
	s, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	if err := s.DB().QueryRow(statement).Scan(&n); err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
	return n
}

// pollInterval is the time between two attempts or looks at the server.
const pollInterval = 200 * time.Millisecond

// AwaitSessions waits until the service has at most maxSessions sessions in the database of
// the connection string, and returns their number.
func AwaitSessions(tb testing.TB, dsn string, maxSessions int) int {
	tb.Helper()
	s, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	const count = `SELECT COUNT(*) FROM sys.dm_exec_sessions
WHERE program_name = 'whd' AND database_id = DB_ID() AND session_id <> @@SPID`
	deadline := time.After(time.Minute)
	for {
		var n int
		err := s.DB().QueryRow(count).Scan(&n)
		if err != nil {
			tb.Fatal(err)
		}
		if n <= maxSessions {
			return n
		}
		select {
		case <-time.After(pollInterval):
		case <-deadline:
			tb.Fatalf("the service has %d sessions on the server, want at most %d", n, maxSessions)
		}
	}
}

// CreateLogin creates a login until the end of a test.
func CreateLogin(tb testing.TB, login, password string) {
	tb.Helper()
	execRetrying(tb, os.Getenv(Variable), "CREATE LOGIN "+login+" WITH PASSWORD = N'"+password+"'")
	DropLogin(tb, login)
}

// DropLogin drops a login at the end of a test, after its last connection has ended.
func DropLogin(tb testing.TB, login string) {
	tb.Cleanup(func() { execRetrying(tb, os.Getenv(Variable), "DROP LOGIN "+login) })
}

// execRetrying retries a statement for a minute: Babelfish creates one database at a time, no
// login while another database is dropped, and does not drop a database that a closing
// connection still uses. If the server is unreachable it fails immediately.
func execRetrying(tb testing.TB, dsn, statement string) {
	tb.Helper()
	deadline := time.After(time.Minute)
	for {
		err := exec(dsn, statement)
		if err == nil {
			return
		}
		if errors.Is(err, mssql.ErrLost) {
			tb.Fatalf("%s: %v", statement, err)
		}
		select {
		case <-time.After(pollInterval):
		case <-deadline:
			tb.Fatalf("%s: %v", statement, err)
		}
	}
}
