package appdb_test

import (
	"sync"
	"testing"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
)

func TestSecretSQLite(t *testing.T) { checkSecret(t, storagetest.Open(t, storage.Config{})) }

func TestSecretSQLServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	config := storage.Config{DSN: dsn, Schema: "own tables", Migrate: true}
	checkSecret(t, storagetest.Open(t, config), storagetest.Open(t, config))
}

// checkSecret checks that several daemons that make a secret at the same time have the
// same one, and that secrets of other names differ.
func checkSecret(t *testing.T, daemons ...*storage.Store) {
	var secrets sync.Map // by name
	var callers sync.WaitGroup
	for range 4 {
		for _, s := range daemons {
			for _, name := range []string{"A", "B"} {
				callers.Go(func() {
					secret, err := appdb.Secret(t.Context(), s.AppDB, name)
					if err != nil {
						t.Error(err)
					}
					if first, _ := secrets.LoadOrStore(name, secret); first != secret {
						t.Errorf("the secret %s is %x for one caller and %x for another", name, first, secret)
					}
				})
			}
		}
	}
	callers.Wait()

	a, _ := secrets.Load("A")
	b, _ := secrets.Load("B")
	if a == b {
		t.Errorf("the secrets A and B are both %x, want different ones", a)
	}
	if a == [32]byte{} {
		t.Error("the secret A is zero, want a random one")
	}
}
