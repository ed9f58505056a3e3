package store_test

import (
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/store"
	"github.com/bizhook/whd/daemon/store/storetest"
)

func TestAccountsSQLite(t *testing.T) {
	storetest.Accounts(t, func(t *testing.T) *store.Store { return openSQLite(t, record.Builtin()) })
}

func TestAuditSQLite(t *testing.T) { storetest.Audit(t, openSQLite(t, record.Builtin())) }

// TestAccountsSQLServer has one schema for all tests, with a name that needs its
// quotes, and empties it for each.
func TestAccountsSQLServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	open := func(t *testing.T) *store.Store {
		s, err := store.Open(t.Context(), store.Config{
			Dir: t.TempDir(), DSN: dsn, Schema: "own tables", Migrate: true,
			Registry: record.Builtin(), Connections: 4,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		mssqltest.Exec(t, dsn, "DELETE FROM [own tables].WH_Session; DELETE FROM [own tables].WH_ApiKey; DELETE FROM [own tables].WH_User; DELETE FROM [own tables].WH_Audit")
		return s
	}
	storetest.Accounts(t, open)
	t.Run("Audit", func(t *testing.T) { storetest.Audit(t, open(t)) })
}
