package sqlstore_test

import (
	"slices"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/requestlog/sqlstore/logtest"
	"github.com/bizhook/whd/daemon/storage"
)

func TestRequestLogSQLite(t *testing.T) {
	logtest.Run(t, func(t *testing.T) *storage.Store { return open(t, storage.Config{}) })
}

// TestRequestLogSQLServer truncates the table for each test, so that IDs start at
// 1.
func TestRequestLogSQLServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	s := open(t, storage.Config{DSN: dsn, Schema: "own tables", Migrate: true})
	logtest.Run(t, func(t *testing.T) *storage.Store {
		mssqltest.Exec(t, dsn, "TRUNCATE TABLE [own tables].WH_RequestLog")
		return s
	})
}

// TestRequestLogColumns checks that the written columns are the fields of the kind.
func TestRequestLogColumns(t *testing.T) {
	kind, _ := record.System().Lookup("RequestLog")
	names := []string{"Id", "DateTime", "StatusCode"}
	for i := range requestlog.Texts {
		names = append(names, requestlog.Column(i))
	}
	names = append(names, "RequestDuration")
	if !slices.Equal(names, kind.FieldNames()) {
		t.Errorf("the columns are\n%s, the fields\n%s", names, kind.FieldNames())
	}
}

func open(t *testing.T, c storage.Config) *storage.Store {
	t.Helper()
	c.Dir = t.TempDir()
	c.Registry = record.Builtin()
	c.Connections = 4
	s, err := storage.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
