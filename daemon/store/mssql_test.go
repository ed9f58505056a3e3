package store_test

import (
	"fmt"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/store"
	"github.com/bizhook/whd/daemon/store/storetest"
)

func TestSQLServer(t *testing.T) {
	dsn, schemas := mssqltest.Database(t), 0
	open := func(t *testing.T, registry *record.Registry) *store.Store {
		schemas++
		schema := fmt.Sprintf("erp %d", schemas)
		mssqltest.Exec(t, dsn, "CREATE SCHEMA ["+schema+"]")
		s, err := store.Open(t.Context(), store.Config{Dir: t.TempDir(), DSN: dsn, ERPSchema: schema, Registry: registry, Connections: 4})
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
	storetest.Run(t, open, storetest.Capabilities{Scale: 19, Microseconds: true, NoNUL: true, Collation: true, GuidOrder: true, PaddedBytes: true, ASCIISets: true})
}
