package sqlstore_test

import (
	"testing"

	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
	"github.com/bizhook/whd/daemon/webhook/sqlstore/webhooktest"
)

func TestWebhooksSQLite(t *testing.T) {
	webhooktest.Run(t, func(t *testing.T) func() *storage.Store {
		dir := t.TempDir()
		storagetest.Fill(t, dir)
		return func() *storage.Store { return storagetest.Open(t, storage.Config{Dir: dir}) }
	})
}

// TestWebhooksSQLServer uses one schema for all tests, and empties it for each.
func TestWebhooksSQLServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	webhooktest.Run(t, func(t *testing.T) func() *storage.Store {
		open := func() *storage.Store {
			return storagetest.Open(t, storage.Config{Dir: t.TempDir(), DSN: dsn, Schema: "own tables", Migrate: true})
		}
		first := open()
		mssqltest.Exec(t, dsn, `DELETE FROM [own tables].WH_Partition; DELETE FROM [own tables].SY_WebhookSubscriber;
DELETE FROM [own tables].SY_WebhookSubscription; DELETE FROM [own tables].SY_WebhookSubscriptionRequestHeader;
DELETE FROM [own tables].WH_SubscriptionRemoved; DELETE FROM [own tables].WH_Event; DELETE FROM [own tables].SY_WebhookMessage;
DELETE FROM [own tables].SY_WebhookMessageResponse; DELETE FROM [own tables].WH_IdempotencyKey; DELETE FROM [own tables].WH_OutboxTaken;
DELETE FROM [own tables].WH_DeliveryMinute; DELETE FROM [own tables].WH_PortalSession;
DELETE FROM [own tables].WH_Capture; DELETE FROM [own tables].WH_RecordChange`)
		return func() *storage.Store {
			if s := first; s != nil {
				first = nil
				return s
			}
			return open()
		}
	})
}
