package store_test

import (
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/store"
	"github.com/bizhook/whd/daemon/store/storetest"
)

func TestWebhooksSQLite(t *testing.T) {
	storetest.Webhooks(t, func(t *testing.T) func() *store.Store {
		dir := t.TempDir()
		return func() *store.Store { return openedStore(t, store.Config{Dir: dir}) }
	})
}

// TestWebhooksSQLServer has one schema for all tests, and empties it for each.
func TestWebhooksSQLServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	storetest.Webhooks(t, func(t *testing.T) func() *store.Store {
		open := func() *store.Store {
			return openedStore(t, store.Config{Dir: t.TempDir(), DSN: dsn, Schema: "own tables", Migrate: true})
		}
		first := open()
		mssqltest.Exec(t, dsn, `DELETE FROM [own tables].WH_Partition; DELETE FROM [own tables].SY_WebhookSubscriber;
DELETE FROM [own tables].SY_WebhookSubscription; DELETE FROM [own tables].SY_WebhookSubscriptionRequestHeader;
DELETE FROM [own tables].WH_SubscriptionRemoved; DELETE FROM [own tables].WH_Event; DELETE FROM [own tables].SY_WebhookMessage;
DELETE FROM [own tables].SY_WebhookMessageResponse; DELETE FROM [own tables].WH_IdempotencyKey`)
		return func() *store.Store {
			if s := first; s != nil {
				first = nil
				return s
			}
			return open()
		}
	})
}

func openedStore(t *testing.T, c store.Config) *store.Store {
	t.Helper()
	c.Registry, c.Connections = record.Builtin(), 4
	s, err := store.Open(t.Context(), c)
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
