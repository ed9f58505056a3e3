package sqlstore_test

import (
	"slices"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/requestlog/sqlstore/logtest"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
)

func TestRequestLogSQLite(t *testing.T) {
	logtest.Run(t, func(t *testing.T) *storage.Store { return storagetest.Open(t, storage.Config{}) })
}

// TestRequestLogSQLServer truncates the table for each test, so that IDs start at 1.
func TestRequestLogSQLServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	s := storagetest.Open(t, storage.Config{DSN: dsn, Schema: "own tables", Migrate: true})
	logtest.Run(t, func(t *testing.T) *storage.Store {
		mssqltest.Exec(t, dsn, "TRUNCATE TABLE [own tables].WH_RequestLog")
		return s
	})
}

// TestRequestLogColumns checks that the written columns are the fields of the kind.
func TestRequestLogColumns(t *testing.T) {
	kind, ok := record.System().Lookup("RequestLog")
	if !ok {
		t.Fatal("no record kind RequestLog")
	}
	columns := []string{"Id", "DateTime", "StatusCode"}
	for i := range requestlog.Texts {
		columns = append(columns, requestlog.Column(i))
	}
	columns = append(columns, "RequestDuration")
	if !slices.Equal(columns, kind.FieldNames()) {
		t.Errorf("got the columns\n%s, want the fields\n%s", columns, kind.FieldNames())
	}
}
