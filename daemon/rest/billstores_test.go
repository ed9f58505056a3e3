package rest_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// billsFixture is a daemon with the demo bills for tests that change them, optionally
// with a second daemon on the same store.
type billsFixture struct {
	*daemontest.Instance
	second *daemontest.Instance
	sql    func(t *testing.T, query string) [][]string // runs a query in the store
}

func TestBills(t *testing.T) {
	i := daemontest.Start(t, "--demo")
	testBills(t, billsFixture{
		Instance: i,
		second:   i,
		sql: func(t *testing.T, query string) [][]string {
			t.Helper()
			return queryFile(t, i.Dir, query)
		},
	})
}

// TestBillsOnAServer runs two daemons on one database.
func TestBillsOnAServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	var out bytes.Buffer
	for _, command := range []string{"migrate", "demo"} {
		args := []string{command, "--store", dsn, "--data-dir", t.TempDir()}
		status := whd.Main(whd.Process{Args: args, Stdout: &out, Stderr: &out})
		if status != 0 {
			t.Fatalf("whd %s: got status %d, want 0: %s", command, status, &out)
		}
	}
	testBills(t, billsFixture{
		Instance: daemontest.Start(t, "--store", dsn),
		second:   daemontest.Start(t, "--store", dsn),
		sql: func(t *testing.T, query string) [][]string {
			t.Helper()
			return queryServer(t, dsn, query)
		},
	})
}

func queryFile(t *testing.T, dir, query string) (rows [][]string) {
	t.Helper()
	conn, err := sqlite.Open(filepath.Join(dir, "records.db"), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stmt, err := conn.Prepare(query)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Reset()
	for {
		hasRow, err := stmt.Step()
		if err != nil {
			t.Fatal(err)
		}
		if !hasRow {
			return rows
		}
		row := make([]string, stmt.Columns())
		for i := range row {
			row[i] = stmt.Text(i)
		}
		rows = append(rows, row)
	}
}

func queryServer(t *testing.T, dsn, query string) (rows [][]string) {
	t.Helper()
	server, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	found, err := server.DB().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	columns, err := found.Columns()
	for err == nil && found.Next() {
		row, into := make([]*string, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		err = found.Scan(into...)
		texts := make([]string, len(row))
		for i, text := range row {
			if text != nil {
				texts[i] = *text
			}
		}
		rows = append(rows, texts)
	}

	if err := errors.Join(err, found.Err()); err != nil {
		t.Fatal(err)
	}

	return rows
}
