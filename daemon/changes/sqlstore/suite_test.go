package sqlstore_test

import (
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/changes/changestest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
)

func TestChangesSQLite(t *testing.T) {
	changestest.Run(t, func(t *testing.T) func() *storage.Store {
		dir := t.TempDir()
		storagetest.Fill(t, dir)
		return reopening(t, storage.Config{Dir: dir})
	})
}

// TestChangesSQLServer uses one schema for all tests, and empties it for each.
func TestChangesSQLServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	changestest.Run(t, func(t *testing.T) func() *storage.Store {
		open := reopening(t, storage.Config{Dir: t.TempDir(), DSN: dsn, Schema: "own tables", Migrate: true})
		open()
		mssqltest.Exec(t, dsn, `DELETE FROM [own tables].WH_Partition;
DELETE FROM [own tables].WH_Capture;
DELETE FROM [own tables].WH_CaptureEpoch;
DELETE FROM [own tables].WH_RecordChange;
DELETE FROM [own tables].WH_Shadow;
DELETE FROM [own tables].WH_Recheck;
DELETE FROM [own tables].WH_Number WHERE Name = 'ChangeID'`)
		return open
	})
}

// reopening returns a function that opens a store, and closes it first if it is open.
func reopening(t testing.TB, c storage.Config) func() *storage.Store {
	t.Helper()
	c.Registry = record.Builtin()
	c.Connections = 4
	var s *storage.Store
	closeStore := func() {
		if s == nil {
			return
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(closeStore)
	return func() *storage.Store {
		closeStore()
		var err error
		s, err = storage.Open(t.Context(), c)
		check(t, err)
		return s
	}
}
