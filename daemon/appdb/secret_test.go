package appdb_test

import (
	"sync"
	"testing"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/storage"
)

func TestSecretSQLite(t *testing.T) { checkSecret(t, open(t, storage.Config{})) }

func TestSecretSQLServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	config := storage.Config{DSN: dsn, Schema: "own tables", Migrate: true}
	checkSecret(t, open(t, config), open(t, config))
}

// checkSecret checks that several daemons that make a secret at the same time have the
// same one, and that secrets of other names differ.
func checkSecret(t *testing.T, daemons ...*storage.Store) {
	var all sync.Map
	var callers sync.WaitGroup
	for range 4 {
		for _, s := range daemons {
			for _, name := range []string{"A", "B"} {
				callers.Go(func() {
					secret, err := appdb.Secret(t.Context(), s.AppDB, name)
					if err != nil {
						t.Error(err)
					}
					if before, had := all.LoadOrStore(name, secret); had && before != secret {
						t.Errorf("%s: %x and %x", name, before, secret)
					}
				})
			}
		}
	}
	callers.Wait()
	a, _ := all.Load("A")
	if b, _ := all.Load("B"); a == b || a == [32]byte{} {
		t.Errorf("the secrets are %x and %x", a, b)
	}
}
