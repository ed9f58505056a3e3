package mssql_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// TestWritesAfterCut: the server has closed all connections that lie in the
// pool. Nobody who writes notices.
func TestWritesAfterCut(t *testing.T) {
	const connections = 4
	s, line := overLine(t, connections)
	s.Hasten()
	for range 3 {
		var all []*sql.Conn
		for range connections {
			c, err := s.DB().Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		for _, c := range all {
			c.Close()
		}
		line.HangUp()
		if _, err := s.DB().ExecContext(t.Context(), "DECLARE @n int = 1"); err != nil {
			t.Errorf("a statement: %v", err)
		}
		line.HangUp()
		tx, err := s.DB().BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatalf("a transaction: %v", err)
		}
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
	}
}

// TestBeginsAfterCut: a transaction begins on another connection even where the
// cut came a moment ago.
func TestBeginsAfterCut(t *testing.T) {
	s, line := overLine(t, 1)
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	line.HangUp()
	tx, err := s.DB().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
}

// TestCommitStalls: a server that stalls in the end of a transaction holds up
// nobody for ever.
func TestCommitStalls(t *testing.T) {
	for name, end := range map[string]func(*sql.Tx) error{"commit": (*sql.Tx).Commit, "rollback": (*sql.Tx).Rollback} {
		t.Run(name, func(t *testing.T) {
			s, line := overLine(t, 1)
			s.Hasten()
			tx, err := s.DB().BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.ExecContext(t.Context(), "DECLARE @n int = 1"); err != nil {
				t.Fatal(err)
			}
			line.Freeze()
			if err := end(tx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it ended with %v", err)
			}
			line.Thaw()
			if err := s.Ping(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLimitOfDriver: a statement that a limit of the connection string has ended
// is not begun anew on another connection.
func TestLimitOfDriver(t *testing.T) {
	dsn := os.Getenv(mssqltest.Variable)
	if dsn == "" {
		t.Skip("skipped, since " + mssqltest.Variable + " names no server")
	}
	line := mssqltest.NewProxy(t, dsn+"&connection+timeout=2")
	s, err := mssql.Open(mssql.Config{DSN: line.DSN, Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	one, other := lent(t, s), lent(t, s)
	expect(t, one, "SELECT 1 AS n", "1")
	expect(t, other, "SELECT 1 AS n", "1")
	other.Close() // it waits in the pool
	line.Freeze()
	if _, err := one.Query(t.Context(), mssql.Query{SQL: "SELECT 2 AS n", Types: []record.Type{record.Int}}); !errors.Is(err, mssql.ErrLost) {
		t.Error(err)
	}
	one.Close()
	if open := s.DB().Stats().OpenConnections; open != 1 {
		t.Errorf("%d connections are left, want the one that was not used", open)
	}
}
