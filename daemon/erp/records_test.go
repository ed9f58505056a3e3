package erp_test

import (
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/erp/erptest"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
)

func openSQLite(t *testing.T, registry *record.Registry) *storage.Store {
	t.Helper()
	return storagetest.Open(t, storage.Config{Registry: registry})
}

func TestSQLite(t *testing.T) {
	erptest.Run(t, openSQLite, erptest.Capabilities{}, erptest.Part{})
}
