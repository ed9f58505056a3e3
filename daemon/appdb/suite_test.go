package appdb_test

import (
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/appdb/appdbtest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/storage"
)

func TestAccountsSQLite(t *testing.T) {
	appdbtest.Accounts(t, func(t *testing.T) *storage.Store { return open(t, storage.Config{}) })
}

func TestAuditSQLite(t *testing.T) { appdbtest.Audit(t, open(t, storage.Config{})) }

// TestAccountsSQLServer uses one schema for all tests, with a name that needs quoting. It is
// emptied before each test.
func TestAccountsSQLServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	empty := func(t *testing.T) *storage.Store {
		s := open(t, storage.Config{DSN: dsn, Schema: "own tables", Migrate: true})
		for _, table := range []string{"WH_Session", "WH_ApiKey", "WH_User", "WH_Audit"} {
			mssqltest.Exec(t, dsn, "DELETE FROM [own tables]."+table)
		}
		return s
	}
	appdbtest.Accounts(t, empty)
	t.Run("Audit", func(t *testing.T) { appdbtest.Audit(t, empty(t)) })
}

// open returns a store that is closed when the test ends.
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
