package mssql

import (
	"context"
	"errors"
	"flag"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
)

// endless is a query with a hundred million rows.
var endless = "SELECT CAST(a.n AS nvarchar(20)) AS name FROM " + strings.Join([]string{ten("a"), ten("b"), ten("c"), ten("d"), ten("e"), ten("f"), ten("g"), ten("h")}, " CROSS JOIN ")

func ten(name string) string {
	return "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS " + name + "(n)"
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
		func(c *Conn, rows *Rows, cancel func()) { cancel(); rows.Close() },
		func(c *Conn, rows *Rows, _ func()) { c.Abort(); rows.Close() },
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
			if cells, err := rows.Next(); err != nil || cells == nil {
				t.Fatalf("round %d: %v %v", round, cells, err)
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
		t.Errorf("%d goroutines, after a quarter of the rounds %d", now, before)
	}
	if open := s.DB().Stats().OpenConnections; open > connections {
		t.Errorf("%d connections", open)
	}
	allAnswer(t, s, connections)
}

// allAnswer runs a different query on each connection of the pool and checks the results.
func allAnswer(t *testing.T, s *Server, connections int) {
	t.Helper()
	var all []*Conn
	for range connections {
		all = append(all, getConn(t, s))
	}
	for i, c := range all {
		for n := i * 10; n < i*10+5; n++ {
			if got := selectOne(t, c, record.Int, "SELECT @p1 + 1 AS n", Whole(Column{}, int64(n))); got != strconv.Itoa(n+1) {
				t.Errorf("connection %d returns %q, want %d", i, got, n+1)
			}
		}
	}
	for _, c := range all {
		c.Close()
	}
}

// TestAbortErrors checks the errors returned by aborted statements.
func TestAbortErrors(t *testing.T) {
	s := server(t, 1)
	t.Run("context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		if err := aborted(t, ctx, s, func(*Conn) { cancel() }); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	t.Run("abort", func(t *testing.T) {
		if err := aborted(t, context.Background(), s, func(c *Conn) { c.Abort() }); !errors.Is(err, ErrLost) {
			t.Error(err)
		}
	})
	allAnswer(t, s, 1)
}

func aborted(t *testing.T, ctx context.Context, s *Server, abort func(*Conn)) error {
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
		if cells, err := rows.Next(); err != nil || cells == nil {
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
	first := session()
	for left := range 30 {
		c := getConn(t, s)
		rows, err := c.Query(context.Background(), Query{SQL: "SELECT TOP 30" + strings.TrimPrefix(endless, "SELECT"), Types: names})
		if err != nil {
			t.Fatal(err)
		}
		for range 30 - left {
			if cells, err := rows.Next(); err != nil || cells == nil {
				t.Fatal(cells, err)
			}
		}
		c.Close()
	}
	if last := session(); last != first {
		t.Errorf("session %s, was %s", last, first)
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
		var n int
		if err := s.DB().QueryRowContext(context.Background(), "SELECT @p1 + 1", round).Scan(&n); err != nil || n != round+1 {
			t.Fatalf("round %d: %d %v", round, n, err)
		}
	}
	allAnswer(t, s, 2)
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
	allAnswer(t, s, 1)
}

// TestReplacesLost closes connections while they are idle in the pool.
func TestReplacesLost(t *testing.T) {
	s := server(t, 3)
	var all []*Conn
	for range 3 {
		c := getConn(t, s)
		selectOne(t, c, record.Int, "SELECT 1 AS n")
		all = append(all, c)
	}
	for _, c := range all {
		for _, socket := range c.conn.transport.sockets {
			socket.Close() // like a restarted server: the transport is not marked as closed
		}
		c.Close()
	}
	c := getConn(t, s)
	if got := selectOne(t, c, record.Int, "SELECT 2 AS n"); got != "2" {
		t.Error(got)
	}
}
