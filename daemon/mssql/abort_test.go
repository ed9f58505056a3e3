package mssql

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
)

// endless is a query with a hundred million rows.
var endless = "SELECT CAST(a.n AS nvarchar(20)) AS name FROM " +
	crossJoin("a", "b", "c", "d", "e", "f", "g", "h")

// crossJoin returns the product of tables of ten rows with these names.
func crossJoin(tables ...string) string {
	const ten = "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS "
	sources := make([]string, len(tables))
	for i, table := range tables {
		sources[i] = ten + table + "(n)"
	}
	return strings.Join(sources, " CROSS JOIN ")
}

var names = []record.Type{record.Text}

// aborts is the number of rounds. It is small because each round costs a connection, which
// takes Babelfish half a second on a busy machine. Releases run 1,000.
var aborts = flag.Int("aborts", 40, "number of statements that TestAborts ends in mid-stream")

// TestAborts aborts statements while rows are read, in each possible way, and checks all
// connections of the pool afterwards.
func TestAborts(t *testing.T) {
	const connections = 4
	rounds := *aborts
	s := server(t, connections)
	ways := []func(c *Conn, rows *Rows, cancel func()){
		func(_ *Conn, rows *Rows, _ func()) { rows.Close() },
		func(c *Conn, _ *Rows, _ func()) { c.Close() },
		func(_ *Conn, rows *Rows, cancel func()) {
			cancel()
			rows.Close()
		},
		func(c *Conn, rows *Rows, _ func()) {
			c.Abort()
			rows.Close()
		},
	}
	before := 0
	for round := range rounds {
		ctx, cancel := context.WithCancel(context.Background())
		c, err := s.Get(ctx)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := c.Query(ctx, Query{SQL: endless, Types: names})
		if err != nil {
			t.Fatal(err)
		}
		for range round % 7 {
			cells, err := rows.Next()
			if err != nil || cells == nil {
				t.Fatalf("round %d: read %v, %v, want a row", round, cells, err)
			}
		}
		ways[round%len(ways)](c, rows, cancel)
		c.Close()
		cancel()
		if round == rounds/4 {
			before = runtime.NumGoroutine()
		}
	}
	if now := runtime.NumGoroutine(); now > before+2*connections {
		t.Errorf("%d goroutines, want about %d as after a quarter of the rounds", now, before)
	}
	if open := s.DB().Stats().OpenConnections; open > connections {
		t.Errorf("%d connections, want at most %d", open, connections)
	}
	checkPool(t, s, connections)
}

// checkPool runs a different query on each connection of the pool and checks the results.
func checkPool(t *testing.T, s *Server, connections int) {
	t.Helper()
	var pool []*Conn
	for range connections {
		pool = append(pool, getConn(t, s))
	}
	for i, c := range pool {
		for n := i * 10; n < i*10+5; n++ {
			number := Whole(Column{}, int64(n))
			got := selectOne(t, c, record.Int, "SELECT @p1 + 1 AS n", number)
			if want := strconv.Itoa(n + 1); got != want {
				t.Errorf("connection %d returns %q, want %s", i, got, want)
			}
		}
	}
	for _, c := range pool {
		c.Close()
	}
}

// TestAbortErrors checks the errors returned by aborted statements.
func TestAbortErrors(t *testing.T) {
	s := server(t, 1)
	t.Run("context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		err := abortedError(t, ctx, s, func(*Conn) { cancel() })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v, want %v", err, context.Canceled)
		}
	})
	t.Run("abort", func(t *testing.T) {
		err := abortedError(t, context.Background(), s, func(c *Conn) { c.Abort() })
		if !errors.Is(err, ErrLost) {
			t.Errorf("the error is %v, want %v", err, ErrLost)
		}
	})
	checkPool(t, s, 1)
}

// abortedError returns the error of a statement that is aborted before its first row is read.
func abortedError(t *testing.T, ctx context.Context, s *Server, abort func(*Conn)) error {
	t.Helper()
	c := getConn(t, s)
	defer c.Close()
	rows, err := c.Query(ctx, Query{SQL: endless, Types: names})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	abort(c)
	for {
		cells, err := rows.Next()
		if err != nil || cells == nil {
			return err
		}
	}
}

// TestEndsInStep reads results completely or almost completely, and expects the same
// connection to be reused.
func TestEndsInStep(t *testing.T) {
	s := server(t, 1)
	session := func() string {
		c := getConn(t, s)
		defer c.Close()
		return selectOne(t, c, record.Int, "SELECT CAST(@@SPID AS int) AS spid")
	}
	const size = 30
	query := Query{
		SQL:   fmt.Sprintf("SELECT TOP %d", size) + strings.TrimPrefix(endless, "SELECT"),
		Types: names,
	}
	first := session()
	for unread := range size {
		c := getConn(t, s)
		rows, err := c.Query(context.Background(), query)
		if err != nil {
			t.Fatal(err)
		}
		for range size - unread {
			cells, err := rows.Next()
			if err != nil || cells == nil {
				t.Fatalf("read %v, %v, want a row", cells, err)
			}
		}
		c.Close()
	}
	if last := session(); last != first {
		t.Errorf("the session is %s, want %s as before", last, first)
	}
}

// TestDatabaseSQL cancels statements of database/sql by their contexts.
func TestDatabaseSQL(t *testing.T) {
	s := server(t, 2)
	for round := range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		rows, err := s.DB().QueryContext(ctx, endless)
		if err != nil {
			t.Fatal(err)
		}
		for range round % 5 {
			rows.Next()
		}
		cancel()
		rows.Close()
		var got int
		row := s.DB().QueryRowContext(context.Background(), "SELECT @p1 + 1", round)
		if err := row.Scan(&got); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if want := round + 1; got != want {
			t.Fatalf("round %d: selected %d, want %d", round, got, want)
		}
	}
	checkPool(t, s, 2)
}

// TestResultSets closes the rows of a statement with a second set of fewer columns, before
// the first row, after it, and after the first set.
func TestResultSets(t *testing.T) {
	s := server(t, 1)
	for read := range 3 {
		rows, err := s.DB().QueryContext(t.Context(), "SELECT 1, 2, 3; SELECT 4; SELECT 5, 6")
		if err != nil {
			t.Fatal(err)
		}
		for range read {
			rows.Next()
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}
	checkPool(t, s, 1)
}

// TestReplacesLost closes connections while they are idle in the pool.
func TestReplacesLost(t *testing.T) {
	s := server(t, 3)
	var pool []*Conn
	for range 3 {
		c := getConn(t, s)
		selectOne(t, c, record.Int, "SELECT 1 AS n")
		pool = append(pool, c)
	}
	for _, c := range pool {
		for _, socket := range c.conn.transport.sockets {
			socket.Close() // like a restarted server: the transport is not marked as closed
		}
		c.Close()
	}
	c := getConn(t, s)
	if got := selectOne(t, c, record.Int, "SELECT 2 AS n"); got != "2" {
		t.Errorf("selected %q, want 2", got)
	}
}
