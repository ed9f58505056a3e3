package daemon_test

import (
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// TestStartAfterClockWasSetBack starts a daemon with a message and a lease of a daemon that was
// killed while the clock was a day ahead. The message is delivered nevertheless.
func TestStartAfterClockWasSetBack(t *testing.T) {
	before, as := startWebhooks(t)
	target, deliveries := receiver(t, 200)
	subscriber, subscription := addDisabledSubscription(t, as("admin"), target)
	if _, err := as("publisher").PublishEvent(t.Context(), "debtor.updated", "{}"); err != nil {
		t.Fatal(err)
	}
	key := before.Key(t, "admin")
	if err := before.Stop(); err != nil {
		t.Fatal(err)
	}
	setADayAhead(t, filepath.Join(before.Dir, "whd.db"))

	after := daemontest.StartIn(t, before.Dir, "--webhooks-allow-targets", "127.0.0.0/8")
	c, err := client.New(client.Options{URL: after.URL, Token: key})
	if err != nil {
		t.Fatal(err)
	}
	enabled := wire.SubscriptionRequest{IsEnabled: pointer(true)}
	if _, err := c.UpdateSubscription(t.Context(), subscriber, subscription, enabled); err != nil {
		t.Fatal(err)
	}
	delivered := await(t, deliveries)
	if delivered.body != "{}" {
		t.Errorf("the message from a day ahead was delivered with the body %q, want {}", delivered.body)
	}
}

// addDisabledSubscription adds a subscriber with a disabled subscription to all events, and
// returns the IDs of both.
func addDisabledSubscription(
	t *testing.T, admin *client.Client, url string,
) (subscriber, subscription string) {
	t.Helper()
	shop, err := admin.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}
	all, err := admin.AddSubscription(t.Context(), shop.RecID, wire.SubscriptionRequest{
		URL:       &url,
		EventName: pointer("*"),
		IsEnabled: pointer(false),
	})
	if err != nil {
		t.Fatal(err)
	}
	return shop.RecID, all.RecID
}

// setADayAhead sets the times of messages and leases to tomorrow. The times of a message that
// was never attempted are equal.
func setADayAhead(t *testing.T, path string) {
	t.Helper()
	conn, err := sqlite.Open(path, sqlite.Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range []string{
		`UPDATE SY_WebhookMessage
		SET (NextAttemptDateTime, LastSavedDateTime) = (
			SELECT tomorrow.At, tomorrow.At
			FROM (SELECT strftime('%Y-%m-%dT%H:%M:%f0000', 'now', '1 day') AS At) AS tomorrow
		)`,
		`UPDATE WH_Partition
		SET LeaseUntil = strftime('%Y-%m-%dT%H:%M:%f0000', 'now', '1 day')`,
	} {
		if err := conn.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}
