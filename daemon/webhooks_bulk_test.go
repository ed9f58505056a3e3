package daemon_test

import (
	"net/url"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// TestManyMessagesByTheClient retries what an endpoint has refused, and then
// deletes what it has received.
func TestManyMessagesByTheClient(t *testing.T) {
	_, as := hookHouse(t, "--webhooks-retry-schedule", "1h")
	boss, stranger, ctx := as("admin"), as(""), t.Context()
	shop, err := boss.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}
	to, got := receiver(t, 422, 422, 200)
	s, err := stranger.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{URL: &to, EventName: pointer("*")})
	if err != nil {
		t.Fatal(err)
	}
	ids := make(map[string]bool)
	for range 2 {
		if _, err := boss.RaiseEvent(ctx, "debtor.updated", "x"); err != nil {
			t.Fatal(err)
		}
		ids[await(t, got).header.Get("Webhook-Id")] = true
	}
	for n := 0; n < 2; { // until both refusals are written down
		p, err := boss.AllMessages(ctx, url.Values{"Status": {"2"}})
		if err != nil {
			t.Fatal(err)
		}
		n = len(p.Results)
	}
	filter := url.Values{"StatusIn": {"2", "3"}, "SubscriptionID": {s.RecID}, "DryRun": {"true"}}
	if r, err := boss.RetryMessages(ctx, filter); err != nil || *r != (wire.MessagesRetried{Matched: 2, Retried: 2, DryRun: true}) {
		t.Errorf("a dry run: %+v, %v", r, err)
	}
	filter.Del("DryRun")
	if r, err := boss.RetryMessages(ctx, filter); err != nil || *r != (wire.MessagesRetried{Matched: 2, Retried: 2}) {
		t.Errorf("%+v, %v", r, err)
	}
	for range 2 {
		if id := await(t, got).header.Get("Webhook-Id"); !ids[id] {
			t.Errorf("message %s came", id)
		}
	}
	for n := 0; n < 2; {
		p, err := boss.AllMessages(ctx, url.Values{"Status": {"1"}, "Retries": {"1"}})
		if err != nil {
			t.Fatal(err)
		}
		n = len(p.Results)
	}
	if _, err := boss.DeleteMessages(ctx, url.Values{}); !client.Is(err, client.Rejected) {
		t.Errorf("without a filter: %v", err)
	}
	if _, err := stranger.DeleteMessages(ctx, url.Values{"All": {"true"}}); !client.Is(err, client.Unauthorized) {
		t.Errorf("a stranger: %v", err)
	}
	if r, err := boss.DeleteMessages(ctx, url.Values{"All": {"true"}}); err != nil || *r != (wire.MessagesDeleted{Matched: 2, Deleted: 2}) {
		t.Errorf("%+v, %v", r, err)
	}
	all, err := boss.AllSubscriptions(ctx, url.Values{"URL": {to}})
	if err != nil || len(all.Results) != 1 || all.Results[0].RecID != s.RecID || !all.Results[0].IsEnabled {
		t.Errorf("%+v, %v", all, err)
	}
	if r, err := stranger.RotateSecret(ctx, shop.RecID, s.RecID, wire.SecretRequest{KeepFor: "0"}); err != nil || r.Secret == s.Secret {
		t.Errorf("%v", err)
	}
}
