package store_test

import (
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/store"
	"github.com/bizhook/whd/daemon/store/storetest"
)

func TestSettingsSQLite(t *testing.T) {
	storetest.Settings(t, func(t *testing.T) *store.Store { return openSQLite(t, record.Builtin()) })
}

// TestSettingsSQLServer has one schema for all tests, and empties it for each.
func TestSettingsSQLServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	storetest.Settings(t, func(t *testing.T) *store.Store {
		s := openedStore(t, store.Config{Dir: t.TempDir(), DSN: dsn, Schema: "own tables", Migrate: true})
		mssqltest.Exec(t, dsn, "DELETE FROM [own tables].WH_Setting; DELETE FROM [own tables].WH_Audit")
		return s
	})
}
