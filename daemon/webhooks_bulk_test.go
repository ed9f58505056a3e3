package daemon_test

import (
	"net/url"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// TestBulkMessages retries all failed messages and then deletes the delivered ones.
func TestBulkMessages(t *testing.T) {
	_, as := startWebhooks(t, "--webhooks-retry-schedule", "1h")
	admin, anonymous := as("admin"), as("")
	ctx := t.Context()
	shop, err := admin.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}

	to, got := receiver(t, 422, 422, 200)
	s, err := anonymous.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
		URL:       &to,
		EventName: pointer("*"),
	})
	if err != nil {
		t.Fatal(err)
	}

	ids := make(map[string]bool)
	for range 2 {
		if _, err := admin.PublishEvent(ctx, "debtor.updated", "x"); err != nil {
			t.Fatal(err)
		}
		ids[await(t, got).header.Get("Webhook-Id")] = true
	}

	awaitMessages(t, admin, 2, url.Values{"Status": {"2"}})

	filter := url.Values{"StatusIn": {"2", "3"}, "SubscriptionID": {s.RecID}, "DryRun": {"true"}}
	wantRetried := wire.MessagesRetried{Matched: 2, Retried: 2, DryRun: true}
	retried, err := admin.RetryMessages(ctx, filter)
	if err == nil {
		filter.Set("Counted", retried.Counted)
		wantRetried.Counted = retried.Counted
	}
	if err != nil || *retried != wantRetried || retried.Counted == "" {
		t.Errorf("a dry run returned %+v (%v), want %+v", retried, err, wantRetried)
	}

	filter.Del("DryRun")
	wantRetried.DryRun = false
	wantRetried.Counted = ""
	retried, err = admin.RetryMessages(ctx, filter)
	if err != nil || *retried != wantRetried {
		t.Errorf("retrying the failed messages returned %+v (%v), want %+v", retried, err, wantRetried)
	}

	for range 2 {
		if id := await(t, got).header.Get("Webhook-Id"); !ids[id] {
			t.Errorf("message %s was sent", id)
		}
	}

	awaitMessages(t, admin, 2, url.Values{"Status": {"1"}, "Retries": {"1"}})

	if _, err := admin.DeleteMessages(ctx, url.Values{}); !client.Is(err, client.Rejected) {
		t.Errorf("without a filter: %v", err)
	}
	if _, err := anonymous.DeleteMessages(ctx, url.Values{"All": {"true"}}); !client.Is(err, client.Unauthorized) {
		t.Errorf("without a key: %v", err)
	}

	wantDeleted := wire.MessagesDeleted{Matched: 2, Deleted: 2}
	deleted, err := admin.DeleteMessages(ctx, url.Values{"All": {"true"}})
	if err != nil || *deleted != wantDeleted {
		t.Errorf("deleting all messages returned %+v (%v), want %+v", deleted, err, wantDeleted)
	}

	all, err := admin.AllSubscriptions(ctx, url.Values{"URL": {to}})
	if err != nil || len(all.Results) != 1 || all.Results[0].RecID != s.RecID || !all.Results[0].IsEnabled {
		t.Errorf("got the subscriptions %+v (%v), want %s, enabled", all, err, s.RecID)
	}

	rotated, err := anonymous.RotateSecret(ctx, shop.RecID, s.RecID, wire.SecretRequest{KeepFor: "0"})
	if err != nil || rotated.Secret == s.Secret {
		t.Errorf("rotating the secret returned %+v (%v), want another secret", rotated, err)
	}
}

// awaitMessages waits until at least n messages match a filter: results of attempts are stored
// asynchronously.
func awaitMessages(t *testing.T, admin *client.Client, n int, filter url.Values) {
	t.Helper()
	for {
		page, err := admin.AllMessages(t.Context(), filter)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Results) >= n {
			return
		}
	}
}
