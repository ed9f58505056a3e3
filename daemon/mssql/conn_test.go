package mssql_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// TestWritesAfterCut checks that writes succeed without an error after the server has closed all
// idle connections of the pool.
func TestWritesAfterCut(t *testing.T) {
	const connections = 4
	s, proxy := openProxied(t, connections)
	s.ShortenLimits()
	for range 3 {
		var pool []*sql.Conn
		for range connections {
			c, err := s.DB().Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			pool = append(pool, c)
		}
		for _, c := range pool {
			c.Close()
		}
		proxy.HangUp()
		if _, err := s.DB().ExecContext(t.Context(), "DECLARE @n int = 1"); err != nil {
			t.Errorf("a statement: %v", err)
		}
		proxy.HangUp()
		tx, err := s.DB().BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatalf("a transaction: %v", err)
		}
		if err := tx.Commit(); err != nil {
			t.Errorf("the commit: %v", err)
		}
	}
}

// TestBeginsAfterCut checks that a transaction begins on another connection if its connection
// was closed just before.
func TestBeginsAfterCut(t *testing.T) {
	s, proxy := openProxied(t, 1)
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	proxy.HangUp()
	tx, err := s.DB().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
}

// TestCommitStalls checks that a server that stops responding does not block the end of a
// transaction forever.
func TestCommitStalls(t *testing.T) {
	for name, end := range map[string]func(*sql.Tx) error{
		"commit":   (*sql.Tx).Commit,
		"rollback": (*sql.Tx).Rollback,
	} {
		t.Run(name, func(t *testing.T) {
			s, proxy := openProxied(t, 1)
			s.ShortenLimits()
			tx, err := s.DB().BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.ExecContext(t.Context(), "DECLARE @n int = 1"); err != nil {
				t.Fatal(err)
			}
			proxy.Freeze()
			if err := end(tx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the transaction ended with %v, want %v", err, context.DeadlineExceeded)
			}
			proxy.Thaw()
			if err := s.Ping(t.Context()); err != nil {
				t.Errorf("a connection after that: %v", err)
			}
		})
	}
}

// TestLimitOfDriver checks that a statement that a timeout of the connection string has ended is
// not retried on another connection.
func TestLimitOfDriver(t *testing.T) {
	dsn := os.Getenv(mssqltest.Variable)
	if dsn == "" {
		t.Skip("skipped, since " + mssqltest.Variable + " names no server")
	}
	proxy := mssqltest.NewProxy(t, dsn+"&connection+timeout=2")
	s, err := mssql.Open(mssql.Config{DSN: proxy.DSN, Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	used := pooled(t, s)
	idle := pooled(t, s)
	expect(t, used, "SELECT 1 AS n", "1")
	expect(t, idle, "SELECT 1 AS n", "1")
	idle.Close() // stays idle in the pool
	proxy.Freeze()
	if err := runQuery(t.Context(), used, "SELECT 2 AS n"); !errors.Is(err, mssql.ErrLost) {
		t.Errorf("the statement: %v, want %v", err, mssql.ErrLost)
	}
	used.Close()
	if open := s.DB().Stats().OpenConnections; open != 1 {
		t.Errorf("%d connections are open, want only the unused one", open)
	}
}

// TestLimitStatements checks that a time limit holds for each statement, not for all of a
// connection, and that the connection can be used afterwards.
func TestLimitStatements(t *testing.T) {
	conn := open(t, mssqltest.Database(t))
	// A cross join of constants that takes minutes.
	const endless = `
WITH c AS (SELECT v FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) t (v))
SELECT COUNT_BIG(*) FROM c c1
	CROSS JOIN c c2 CROSS JOIN c c3 CROSS JOIN c c4 CROSS JOIN c c5
	CROSS JOIN c c6 CROSS JOIN c c7 CROSS JOIN c c8 CROSS JOIN c c9
WHERE c1.v + c2.v + c3.v + c4.v + c5.v + c6.v + c7.v + c8.v + c9.v < 0`
	run := func(statement string) error {
		query := mssql.Query{SQL: statement, Types: []record.Type{record.Long}}
		rows, err := conn.Query(t.Context(), query)
		if err != nil {
			return err
		}
		defer rows.Close()
		_, err = rows.Next()
		return err
	}
	conn.LimitStatements(time.Second)
	if err := run(endless); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a statement over the limit: %v, want the end of the time", err)
	}
	conn.LimitStatements(time.Minute)
	for range 3 {
		if err := run("SELECT CAST(1 AS bigint)"); err != nil {
			t.Errorf("a later statement: %v", err)
		}
	}
}
