// Package mssqltest makes databases for tests on a real server.
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

// Variable names the server that tests run on, as a connection string.
const Variable = "WHD_TEST_SQLSERVER_DSN"

// Database makes an empty database and gives its connection string. It is
// dropped when the test ends. Without a server the test is skipped.
func Database(tb testing.TB) string {
	tb.Helper()
	server := os.Getenv(Variable)
	if server == "" {
		tb.Skip("skipped, since " + Variable + " names no server")
	}
	name := "whd_test_" + strings.ToLower(rand.Text()[:12])
	insist(tb, server, "CREATE DATABASE "+name)
	tb.Cleanup(func() { insist(tb, server, "DROP DATABASE "+name) })
	u, err := url.Parse(server)
	if err != nil {
		tb.Fatal(Variable + " is no URL")
	}
	options := u.Query()
	options.Set("database", name)
	u.RawQuery = options.Encode()
	return u.String()
}

// Exec runs statements, each by itself.
func Exec(tb testing.TB, dsn string, statements ...string) {
	tb.Helper()
	for _, statement := range statements {
		if err := exec(dsn, statement); err != nil {
			tb.Fatalf("%s: %v", statement, err)
		}
	}
}

func exec(dsn, statement string) error {
	s, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.DB().ExecContext(context.Background(), statement)
	return err
}

// Count is the number that a statement gives.
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

// AwaitSessions waits until the service has no more than so many sessions on the
// server, in the database of the connection string, and gives their number.
func AwaitSessions(tb testing.TB, dsn string, most int) int {
	tb.Helper()
	s, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	for enough := time.After(time.Minute); ; {
		var n int
		err := s.DB().QueryRow(`SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE program_name = 'whd' AND database_id = DB_ID() AND session_id <> @@SPID`).Scan(&n)
		if err != nil {
			tb.Fatal(err)
		}
		if n <= most {
			return n
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-enough:
			tb.Fatalf("the service has %d sessions on the server, more than %d", n, most)
		}
	}
}

// DropLogin drops a login at the end of a test, once its last connection has ended.
func DropLogin(tb testing.TB, login string) {
	tb.Cleanup(func() { insist(tb, os.Getenv(Variable), "DROP LOGIN "+login) })
}

// insist tries for a while what the server refuses: Babelfish makes one database
// at a time, and drops none that a connection which is about to end still uses. A
// server that cannot be reached would cost each test a minute, and fails at once.
func insist(tb testing.TB, dsn, statement string) {
	tb.Helper()
	err := exec(dsn, statement)
	for enough := time.After(time.Minute); err != nil; err = exec(dsn, statement) {
		if errors.Is(err, mssql.ErrLost) {
			tb.Fatalf("%s: %v", statement, err)
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-enough:
			tb.Fatalf("%s: %v", statement, err)
		}
	}
}
