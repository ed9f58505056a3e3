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
	s, err := anonymous.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{URL: &to, EventName: pointer("*")})
	if err != nil {
		t.Fatal(err)
	}
	ids := make(map[string]bool)
	for range 2 {
		if _, err := admin.RaiseEvent(ctx, "debtor.updated", "x"); err != nil {
			t.Fatal(err)
		}
		ids[await(t, got).header.Get("Webhook-Id")] = true
	}
	for n := 0; n < 2; { // until both failures are stored
		p, err := admin.AllMessages(ctx, url.Values{"Status": {"2"}})
		if err != nil {
			t.Fatal(err)
		}
		n = len(p.Results)
	}
	filter := url.Values{"StatusIn": {"2", "3"}, "SubscriptionID": {s.RecID}, "DryRun": {"true"}}
	if r, err := admin.RetryMessages(ctx, filter); err != nil || *r != (wire.MessagesRetried{Matched: 2, Retried: 2, DryRun: true}) {
		t.Errorf("a dry run: %+v, %v", r, err)
	}
	filter.Del("DryRun")
	if r, err := admin.RetryMessages(ctx, filter); err != nil || *r != (wire.MessagesRetried{Matched: 2, Retried: 2}) {
		t.Errorf("%+v, %v", r, err)
	}
	for range 2 {
		if id := await(t, got).header.Get("Webhook-Id"); !ids[id] {
			t.Errorf("message %s was sent", id)
		}
	}
	for n := 0; n < 2; {
		p, err := admin.AllMessages(ctx, url.Values{"Status": {"1"}, "Retries": {"1"}})
		if err != nil {
			t.Fatal(err)
		}
		n = len(p.Results)
	}
	if _, err := admin.DeleteMessages(ctx, url.Values{}); !client.Is(err, client.Rejected) {
		t.Errorf("without a filter: %v", err)
	}
	if _, err := anonymous.DeleteMessages(ctx, url.Values{"All": {"true"}}); !client.Is(err, client.Unauthorized) {
		t.Errorf("without a key: %v", err)
	}
	if r, err := admin.DeleteMessages(ctx, url.Values{"All": {"true"}}); err != nil || *r != (wire.MessagesDeleted{Matched: 2, Deleted: 2}) {
		t.Errorf("%+v, %v", r, err)
	}
	all, err := admin.AllSubscriptions(ctx, url.Values{"URL": {to}})
	if err != nil || len(all.Results) != 1 || all.Results[0].RecID != s.RecID || !all.Results[0].IsEnabled {
		t.Errorf("%+v, %v", all, err)
	}
	if r, err := anonymous.RotateSecret(ctx, shop.RecID, s.RecID, wire.SecretRequest{KeepFor: "0"}); err != nil || r.Secret == s.Secret {
		t.Errorf("%v", err)
	}
}
