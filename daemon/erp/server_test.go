package erp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/erp/erptest"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
)

// expectUnavailable checks for an error that the records are unavailable, and a part of its message.
func expectUnavailable(t *testing.T, action string, err error, want string) {
	t.Helper()
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.From(err).Message, want) {
		t.Errorf("%s: got error %v, want %q", action, err, want)
	}
}

// TestSQLServer runs the suite on nvarchar columns and, in part, on varchar columns. The
// capabilities are those of Babelfish; the suite has not been run on SQL Server, which
// supports more.
func TestSQLServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	schemas := 0
	open := func(t *testing.T, registry *record.Registry) *storage.Store {
		schemas++
		schema := fmt.Sprintf("erp %d", schemas)
		mssqltest.Exec(t, dsn, "CREATE SCHEMA ["+schema+"]")
		return storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn, Schema: schema}, Registry: registry})
	}
	babelfish := erptest.Capabilities{
		Scale:        19,
		Microseconds: true,
		NoNUL:        true,
		Collation:    true,
		GuidOrder:    true,
		PaddedBytes:  true,
		ASCIISets:    true,
	}
	for name, part := range map[string]erptest.Part{
		"nvarchar": {},
		"varchar":  {Kinds: []string{"SO_Totals", "IN_Colours", "SY_Filters"}, StoredASCII: true},
	} {
		t.Run(name, func(t *testing.T) { erptest.Run(t, open, babelfish, part) })
	}
}
