package appdb_test

import (
	"testing"

	"github.com/bizhook/whd/daemon/appdb/appdbtest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
)

func TestAccountsSQLite(t *testing.T) {
	appdbtest.Accounts(t, func(t *testing.T) *storage.Store { return storagetest.Open(t, storage.Config{}) })
}

func TestAuditSQLite(t *testing.T) { appdbtest.Audit(t, storagetest.Open(t, storage.Config{})) }

// TestAccountsSQLServer uses one schema for all tests, with a name that needs quoting. It is
// emptied before each test.
func TestAccountsSQLServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	empty := func(t *testing.T) *storage.Store {
		s := storagetest.Open(t, storage.Config{DSN: dsn, Schema: "own tables", Migrate: true})
		for _, table := range []string{"WH_Session", "WH_ApiKey", "WH_User", "WH_Audit"} {
			mssqltest.Exec(t, dsn, "DELETE FROM [own tables]."+table)
		}
		return s
	}
	appdbtest.Accounts(t, empty)
	t.Run("Audit", func(t *testing.T) { appdbtest.Audit(t, empty(t)) })
}
