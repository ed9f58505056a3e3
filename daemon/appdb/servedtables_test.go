package appdb_test

import (
	"slices"
	"testing"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/storage"
)

func TestServedTablesSQLite(t *testing.T) { checkServedTables(t, open(t, storage.Config{})) }

func TestServedTablesSQLServer(t *testing.T) {
	checkServedTables(t, open(t, storage.Config{DSN: mssqltest.Database(t), Schema: "own tables", Migrate: true}))
}

// checkServedTables checks that tables are added and replaced, by names in which case counts.
func checkServedTables(t *testing.T, s *storage.Store) {
	for _, step := range []struct {
		put  appdb.ServedTable
		want []appdb.ServedTable
	}{
		{appdb.ServedTable{Name: "b"}, []appdb.ServedTable{{Name: "b"}}},
		{appdb.ServedTable{Name: "B"}, []appdb.ServedTable{{Name: "B"}, {Name: "b"}}},
		{appdb.ServedTable{Name: "b", IsGone: true}, []appdb.ServedTable{{Name: "B"}, {Name: "b", IsGone: true}}},
		{appdb.ServedTable{Name: "b", IsGone: true}, []appdb.ServedTable{{Name: "B"}, {Name: "b", IsGone: true}}},
		{appdb.ServedTable{Name: "b"}, []appdb.ServedTable{{Name: "B"}, {Name: "b"}}},
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
