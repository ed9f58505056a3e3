package appdb_test

import (
	"slices"
	"testing"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
)

func TestServedTablesSQLite(t *testing.T) {
	checkServedTables(t, storagetest.Open(t, storage.Config{}))
}

func TestServedTablesSQLServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	config := storage.Config{DSN: dsn, Schema: "own tables", Migrate: true}
	checkServedTables(t, storagetest.Open(t, config))
}

// checkServedTables checks that tables are added and replaced, by names in which case counts.
func checkServedTables(t *testing.T, s *storage.Store) {
	upper := appdb.ServedTable{Name: "B"}
	lower := appdb.ServedTable{Name: "b"}
	lowerGone := appdb.ServedTable{Name: "b", IsGone: true}
	for _, step := range []struct {
		put  appdb.ServedTable
		want []appdb.ServedTable
	}{
		{lower, []appdb.ServedTable{lower}},
		{upper, []appdb.ServedTable{upper, lower}},
		{lowerGone, []appdb.ServedTable{upper, lowerGone}},
		{lowerGone, []appdb.ServedTable{upper, lowerGone}},
		{lower, []appdb.ServedTable{upper, lower}},
	} {
		err := s.AppDB.PutServedTable(t.Context(), step.put)
		if err != nil {
			t.Fatalf("putting %+v: %v", step.put, err)
		}
		got, err := s.AppDB.ServedTables(t.Context())
		if err != nil || !slices.Equal(got, step.want) {
			t.Errorf("after putting %+v: %+v, %v; want %+v", step.put, got, err, step.want)
		}
	}
}
