package erp_test

import (
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/erp/erptest"
	"github.com/bizhook/whd/daemon/storage"
)

func openSQLite(t *testing.T, registry *record.Registry) *storage.Store {
	t.Helper()
	s, err := storage.Open(t.Context(), storage.Config{Dir: t.TempDir(), Registry: registry, Connections: 4})
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
	erptest.Run(t, openSQLite, erptest.Capabilities{}, erptest.Part{})
}
