package mssql

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/bizhook/whd/client/record"
	"go.uber.org/goleak"
)

// dsnVariable is the environment variable with the connection string of the test server.
// Objects that tests create there are temporary.
const dsnVariable = "WHD_TEST_SQLSERVER_DSN"

// TestMain fails on goroutines that outlive the tests.
func TestMain(m *testing.M) {
	if os.Getenv(dsnVariable) == "" {
		fmt.Println("mssql: tests that need a server are skipped: " + dsnVariable + " is not set")
	}
	goleak.VerifyTestMain(m)
}

// server opens a pool on the test server.
func server(tb testing.TB, connections int) *Server {
	tb.Helper()
	dsn := os.Getenv(dsnVariable)
	if dsn == "" {
		tb.Skip(dsnVariable + " is not set")
	}
	s, err := Open(Config{DSN: dsn, Connections: connections})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// getConn returns a connection of the pool until the end of the test.
func getConn(tb testing.TB, s *Server) *Conn {
	tb.Helper()
	c, err := s.Get(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	return c
}

// texts runs a query and returns its rows as texts.
func texts(tb testing.TB, c *Conn, q Query) [][]string {
	tb.Helper()
	rows, err := read(c, q)
	if err != nil {
		tb.Fatalf("%s: %v", q.SQL, err)
	}
	return rows
}

// read runs a query and returns its rows as texts, and NULL for null.
func read(c *Conn, q Query) ([][]string, error) {
	rows, err := c.Query(context.Background(), q)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var result [][]string
	for {
		cells, err := rows.Next()
		if err != nil || cells == nil {
			return result, err
		}
		texts := make([]string, len(cells))
		for i, cell := range cells {
			texts[i] = cell.Text(q.Types[i])
			if cell.Null {
				texts[i] = "NULL"
			}
		}
		result = append(result, texts)
	}
}

// selectOne returns the only value of a query.
func selectOne(tb testing.TB, c *Conn, t record.Type, sql string, params ...Param) string {
	tb.Helper()
	rows := texts(tb, c, Query{SQL: sql, Params: params, Types: []record.Type{t}})
	if len(rows) != 1 {
		tb.Fatalf("%s: %d rows, want 1", sql, len(rows))
	}
	return rows[0][0]
}
