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
	for _, c := range []struct {
		name    string
		quote   func(string) string
		dialect func(func(string) string) billDialect
	}{
		{"SQLite", sqlite.Quote, fileBillDialect},
		{"SQL Server", func(name string) string { return "[dbo]." + mssql.Quote(name) }, serverBillDialect},
	} {
		w := c.dialect(c.quote)
		fmt.Fprintf(&got, "== %s\n\n", c.name)
		for _, statement := range []billStatement{findValue, findValues, updateValue, storedValue, someIDs, insertValue, someBills} {
			fmt.Fprintf(&got, "%s\n\n", w.write(statement))
		}
	}
	goldentest.Compare(t, "testdata/bills.sql", got.String())
}

// TestBillWriteRetryable: a transaction is retried if the server has rolled it back or if
// the ERP has inserted the row concurrently.
func TestBillWriteRetryable(t *testing.T) {
	for number, want := range map[int]bool{1205: true, 2627: true, 2601: true, 1222: false, 515: false, 208: false} {
		if got := isWriteRetryable(fmt.Errorf("wrapped: %w", &mssql.Error{Number: number})); got != want {
			t.Errorf("%d: %v", number, got)
		}
	}
	if isWriteRetryable(mssql.ErrLost) {
		t.Error("a change on a broken connection may have been committed")
	}
}

// TestBillWriteErrors: errors of the server become messages for users.
func TestBillWriteErrors(t *testing.T) {
	for number, want := range map[int]string{
		8152: "is longer than the column", 2628: "is longer than the column", 245: "does not support", 515: "NOT NULL column", 3906: "read-only", 229: "no permission to write",
	} {
		err := new(billChange).writeError(&mssql.Error{Number: number, Message: "canary"})
		if text := classifiedMessage(err); !strings.Contains(text, want) || strings.Contains(text, "canary") {
			t.Errorf("%d: %q, want %q", number, text, want)
		}
	}
	other := &mssql.Error{Number: 1205}
	if err := new(billChange).writeError(other); err != error(other) {
		t.Errorf("a deadlock became %v", err)
	}
}

func classifiedMessage(err error) string { return fault.From(executor.Classify(err)).Message }
