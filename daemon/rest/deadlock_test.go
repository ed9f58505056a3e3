package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/storage"
)

// deadlockStore fails the first queries as SQL Server does to resolve a deadlock.
type deadlockStore struct {
	rest.Store
	failures int
	queries  int
}

func (s *deadlockStore) Select(ctx context.Context, plan *query.Plan) (*executor.Result, error) {
	s.queries++
	if s.queries <= s.failures {
		return nil, executor.Classify(&mssql.Error{Number: 1205, Message: "deadlock victim"})
	}
	return s.Store.Select(ctx, plan)
}

// TestDeadlockVictimsAreRepeated checks that a query is repeated after a deadlock, but not
// without end.
func TestDeadlockVictimsAreRepeated(t *testing.T) {
	for failures, status := range map[int]int{
		0:                        200,
		2:                        200,
		executor.MaxAttempts - 1: 200,
		executor.MaxAttempts:     503,
	} {
		var store *deadlockStore
		handler, _ := newServer(t, storage.Config{Dir: t.TempDir()}, func(c *rest.Config) {
			store = &deadlockStore{Store: c.Store, failures: failures}
			c.Store = store
		})
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/Queries/DB_Class?Take=1", nil))
		if w.Code != status || store.queries != min(failures+1, executor.MaxAttempts) {
			t.Errorf("%d failures: status %d after %d queries", failures, w.Code, store.queries)
		}
	}
}
