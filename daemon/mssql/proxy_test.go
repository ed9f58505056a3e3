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
	rows, err := c.Query(context.Background(), mssql.Query{SQL: sql, Types: []record.Type{record.Int}})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer rows.Close()
	cells, err := rows.Next()
	if err != nil || cells == nil || cells[0].Text(record.Int) != want {
		t.Errorf("%s: %v %v", sql, cells, err)
	}
}

func pooled(t *testing.T, s *mssql.Server) *mssql.Conn {
	t.Helper()
	c, err := s.Get(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestAbortedRunsOnce: a statement that was aborted because the server did not respond is
// not retried on another connection, but the next statement opens one.
func TestAbortedRunsOnce(t *testing.T) {
	s, proxy := openProxied(t, 1)
	c := pooled(t, s)
	expect(t, c, "SELECT 1 AS n", "1")
	before := proxy.Made()
	held := proxy.Freeze()
	ended := make(chan error)
	go func() {
		_, err := c.Query(context.Background(), mssql.Query{SQL: "SELECT 2 AS n", Types: []record.Type{record.Int}})
		ended <- err
	}()
	<-held
	c.Abort()
	if err := <-ended; !errors.Is(err, mssql.ErrLost) {
		t.Error(err)
	}
	if proxy.Made() != before {
		t.Errorf("%d connections were opened for it", proxy.Made()-before)
	}
	proxy.Thaw()
	expect(t, c, "SELECT 3 AS n", "3")
	proxy.Down()
	if _, err := c.Query(context.Background(), mssql.Query{SQL: "SELECT 4 AS n", Types: []record.Type{record.Int}}); !errors.Is(err, mssql.ErrLost) {
		t.Error(err)
	}
	proxy.Up()
	expect(t, c, "SELECT 5 AS n", "5")
}

// TestLineBreaks: a broken connection is an error while rows are read, but is replaced
// without an error if it was idle in the pool.
func TestLineBreaks(t *testing.T) {
	const connections = 2
	s, proxy := openProxied(t, connections)
	c := pooled(t, s)
	many := "SELECT 1 AS n FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b"
	rows, err := c.Query(context.Background(), mssql.Query{SQL: many, Types: []record.Type{record.Int}})
	if err != nil {
		t.Fatal(err)
	}
	for broken := false; err == nil; broken = true {
		cells, failed := rows.Next()
		if err = failed; err == nil && cells == nil {
			t.Fatal("the rows ended without an error")
		}
		if !broken {
			proxy.Reset()
		}
	}
	if !errors.Is(err, mssql.ErrLost) {
		t.Error(err)
	}
	c.Close()
	for range 3 {
		var all []*mssql.Conn
		for range connections {
			all = append(all, pooled(t, s))
		}
		for _, c := range all {
			expect(t, c, "SELECT 7 AS n", "7")
			c.Close()
		}
		proxy.Reset()
	}
}
