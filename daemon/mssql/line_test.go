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

// overLine opens the server that the environment names over a line that breaks
// when it is told to.
func overLine(t *testing.T, connections int) (*mssql.Server, *mssqltest.Proxy) {
	t.Helper()
	dsn := os.Getenv(mssqltest.Variable)
	if dsn == "" {
		t.Skip("skipped, since " + mssqltest.Variable + " names no server")
	}
	line := mssqltest.NewProxy(t, dsn)
	s, err := mssql.Open(mssql.Config{DSN: line.DSN, Connections: connections})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, line
}

// expect asks for a number.
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

func lent(t *testing.T, s *mssql.Server) *mssql.Conn {
	t.Helper()
	c, err := s.Get(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestAbortedRunsOnce: a statement that was ended because its server says
// nothing is not begun anew on another connection. The next one is.
func TestAbortedRunsOnce(t *testing.T) {
	s, line := overLine(t, 1)
	c := lent(t, s)
	expect(t, c, "SELECT 1 AS n", "1")
	before := line.Made()
	waits := line.Freeze()
	ended := make(chan error)
	go func() {
		_, err := c.Query(context.Background(), mssql.Query{SQL: "SELECT 2 AS n", Types: []record.Type{record.Int}})
		ended <- err
	}()
	<-waits
	c.Abort()
	if err := <-ended; !errors.Is(err, mssql.ErrLost) {
		t.Error(err)
	}
	if line.Made() != before {
		t.Errorf("%d connections were made for it", line.Made()-before)
	}
	line.Thaw()
	expect(t, c, "SELECT 3 AS n", "3")
	line.Down()
	if _, err := c.Query(context.Background(), mssql.Query{SQL: "SELECT 4 AS n", Types: []record.Type{record.Int}}); !errors.Is(err, mssql.ErrLost) {
		t.Error(err)
	}
	line.Up()
	expect(t, c, "SELECT 5 AS n", "5")
}

// TestLineBreaks: in mid-stream it is an error; in the pool nobody notices.
func TestLineBreaks(t *testing.T) {
	const connections = 2
	s, line := overLine(t, connections)
	c := lent(t, s)
	many := "SELECT 1 AS n FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b"
	rows, err := c.Query(context.Background(), mssql.Query{SQL: many, Types: []record.Type{record.Int}})
	if err != nil {
		t.Fatal(err)
	}
	for broken := false; err == nil; broken = true {
		cells, failed := rows.Next()
		if err = failed; err == nil && cells == nil {
			t.Fatal("the rows ended well")
		}
		if !broken {
			line.Reset()
		}
	}
	if !errors.Is(err, mssql.ErrLost) {
		t.Error(err)
	}
	c.Close()
	for range 3 {
		var all []*mssql.Conn
		for range connections {
			all = append(all, lent(t, s))
		}
		for _, c := range all {
			expect(t, c, "SELECT 7 AS n", "7")
			c.Close()
		}
		line.Reset()
	}
}
