package daemon_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// TestStartAfterClockWasSetBack starts a daemon with a message and a lease of a daemon that was killed
// while the clock was a day ahead.
func TestStartAfterClockWasSetBack(t *testing.T) {
	before, as := startWebhooks(t)
	ctx := context.Background()
	shop, err := as("admin").AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}
	to, got := receiver(t, 200)
	sub, err := as("admin").AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
		URL:       &to,
		EventName: pointer("*"),
		IsEnabled: pointer(false),
	})
	if err == nil {
		_, err = as("publisher").RaiseEvent(ctx, "debtor.updated", "{}")
	}
	if err != nil {
		t.Fatal(err)
	}
	key := before.Key(t, "admin")
	if err := before.Stop(); err != nil {
		t.Fatal(err)
	}
	conn, err := sqlite.Open(filepath.Join(before.Dir, "whd.db"), sqlite.Options{Existing: true})
	if err == nil {
		err = conn.Exec(`UPDATE SY_WebhookMessage SET (NextAttemptDateTime, LastSavedDateTime) = (SELECT m.At, m.At FROM (SELECT strftime('%Y-%m-%dT%H:%M:%f0000', 'now', '1 day') AS At) m)`)
	}
	if err == nil {
		err = conn.Exec(`UPDATE WH_Partition SET LeaseUntil = strftime('%Y-%m-%dT%H:%M:%f0000', 'now', '1 day')`)
	}
	if err == nil {
		err = conn.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	after := daemontest.StartIn(t, before.Dir, "--webhooks-allow-targets", "127.0.0.0/8")
	c, err := client.New(client.Options{URL: after.URL, Token: key})
	if err == nil {
		_, err = c.UpdateSubscription(ctx, shop.RecID, sub.RecID, wire.SubscriptionRequest{IsEnabled: pointer(true)})
	}
	if err != nil {
		t.Fatal(err)
	}
	await(t, got)
}
