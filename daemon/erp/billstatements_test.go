package erp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/sqlite"
)

// TestBillStatements compares the SQL of the statements on bills on both databases
// with a golden file.
func TestBillStatements(t *testing.T) {
	var got strings.Builder
	quoteInSchema := func(name string) string { return "[dbo]." + mssql.Quote(name) }
	statements := []billStatement{
		findValue, findValues, updateValue, storedValue, someIDs, insertValue, someBills,
	}
	for _, c := range []struct {
		name    string
		dialect billDialect
	}{
		{"SQLite", fileBillDialect(sqlite.Quote)},
		{"SQL Server", serverBillDialect(quoteInSchema)},
	} {
		fmt.Fprintf(&got, "== %s\n\n", c.name)
		for _, statement := range statements {
			fmt.Fprintf(&got, "%s\n\n", c.dialect.write(statement))
		}
	}
	goldentest.Compare(t, "testdata/bills.sql", got.String())
}

// TestBillWriteRetryable: a transaction is retried if the server has rolled it back or if
// the ERP has inserted the row concurrently.
func TestBillWriteRetryable(t *testing.T) {
	for number, want := range map[int]bool{
		1205: true,  // deadlock
		2627: true,  // violation of a unique constraint
		2601: true,  // duplicate key in a unique index
		1222: false, // lock timeout
		515:  false, // null in a column that does not allow it
		208:  false, // no such table
	} {
		err := fmt.Errorf("wrapped: %w", &mssql.Error{Number: number})
		if got := isWriteRetryable(err); got != want {
			t.Errorf("error %d: got retryable %v, want %v", number, got, want)
		}
	}
	if isWriteRetryable(mssql.ErrLost) {
		t.Error("a lost connection is retryable, but the change may have been committed")
	}
}

// TestBillWriteErrors: errors of the server become messages for users.
func TestBillWriteErrors(t *testing.T) {
	for number, want := range map[int]string{
		8152: "is longer than the column",
		2628: "is longer than the column",
		245:  "does not support",
		515:  "NOT NULL column",
		3906: "read-only",
		229:  "no permission to write",
	} {
		err := new(billChange).writeError(&mssql.Error{Number: number, Message: "canary"})
		text := classifiedMessage(err)
		if !strings.Contains(text, want) || strings.Contains(text, "canary") {
			t.Errorf("error %d: got %q, want %q without the server's own text", number, text, want)
		}
	}
	deadlock := &mssql.Error{Number: 1205}
	if err := new(billChange).writeError(deadlock); err != error(deadlock) {
		t.Errorf("a deadlock became %v, want it unchanged", err)
	}
}

func classifiedMessage(err error) string { return fault.From(executor.Classify(err)).Message }
