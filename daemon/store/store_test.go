package store_test

import (
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/store"
	"github.com/bizhook/whd/daemon/store/storetest"
)

func openSQLite(t *testing.T, registry *record.Registry) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Dir: t.TempDir(), Registry: registry, Connections: 4})
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

func TestSQLite(t *testing.T) {
	storetest.Run(t, openSQLite, storetest.Capabilities{}, storetest.Part{})
}
