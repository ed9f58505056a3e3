package mssql_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// openProxied opens the test server through a proxy that simulates failures.
func openProxied(t *testing.T, connections int) (*mssql.Server, *mssqltest.Proxy) {
	t.Helper()
	dsn := os.Getenv(mssqltest.Variable)
	if dsn == "" {
		t.Skip(mssqltest.Variable + " is not set")
	}
	proxy := mssqltest.NewProxy(t, dsn)
	s, err := mssql.Open(mssql.Config{DSN: proxy.DSN, Connections: connections})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, proxy
}

// expect runs a query and compares the integer that it returns.
func expect(t *testing.T, c *mssql.Conn, sql, want string) {
	t.Helper()
	rows, err := c.Query(context.Background(), intQuery(sql))
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer rows.Close()
	cells, err := rows.Next()
	if err != nil || cells == nil {
		t.Errorf("%s: read %v, %v, want a row", sql, cells, err)
		return
	}
	if got := cells[0].Text(record.Int); got != want {
		t.Errorf("%s: %s, want %s", sql, got, want)
	}
}

// intQuery returns a query of one column of integers.
func intQuery(sql string) mssql.Query {
	return mssql.Query{SQL: sql, Types: []record.Type{record.Int}}
}

// runQuery starts a query of one column of integers, and returns its error.
func runQuery(ctx context.Context, c *mssql.Conn, sql string) error {
	_, err := c.Query(ctx, intQuery(sql))
	return err
}

// pooled returns a connection of the pool until the end of the test.
func pooled(t *testing.T, s *mssql.Server) *mssql.Conn {
	t.Helper()
	c, err := s.Get(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestAbortedRunsOnce checks that a statement that was aborted because the server did not respond
// is not retried on another connection, but that the next statement opens one.
func TestAbortedRunsOnce(t *testing.T) {
	s, proxy := openProxied(t, 1)
	c := pooled(t, s)
	expect(t, c, "SELECT 1 AS n", "1")
	before := proxy.Made()
	held := proxy.Freeze()
	ended := make(chan error)
	go func() { ended <- runQuery(context.Background(), c, "SELECT 2 AS n") }()
	<-held
	c.Abort()
	if err := <-ended; !errors.Is(err, mssql.ErrLost) {
		t.Errorf("the aborted statement: %v, want %v", err, mssql.ErrLost)
	}
	if opened := proxy.Made() - before; opened != 0 {
		t.Errorf("%d connections were opened for the aborted statement, want none", opened)
	}
	proxy.Thaw()
	expect(t, c, "SELECT 3 AS n", "3")
	proxy.Down()
	err := runQuery(context.Background(), c, "SELECT 4 AS n")
	if !errors.Is(err, mssql.ErrLost) {
		t.Errorf("a statement without a server: %v, want %v", err, mssql.ErrLost)
	}
	proxy.Up()
	expect(t, c, "SELECT 5 AS n", "5")
}

// TestLineBreaks checks that a broken connection is an error while rows are read, but is replaced
// without an error if it was idle in the pool.
func TestLineBreaks(t *testing.T) {
	const connections = 2
	s, proxy := openProxied(t, connections)
	c := pooled(t, s)
	many := "SELECT 1 AS n FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b"
	rows, err := c.Query(context.Background(), intQuery(many))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := rows.Next()
	proxy.Reset()
	for err == nil && cells != nil {
		cells, err = rows.Next()
	}
	if !errors.Is(err, mssql.ErrLost) {
		t.Errorf("the rows ended with %v, want %v", err, mssql.ErrLost)
	}
	c.Close()
	for range 3 {
		var pool []*mssql.Conn
		for range connections {
			pool = append(pool, pooled(t, s))
		}
		for _, c := range pool {
			expect(t, c, "SELECT 7 AS n", "7")
			c.Close()
		}
		proxy.Reset()
	}
}
