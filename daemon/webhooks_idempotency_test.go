package daemon_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// publishConcurrently publishes an event 32 times concurrently under one idempotency key,
// alternating between the publishers. All must get the same receipt.
func publishConcurrently(t *testing.T, key, event, body string, publishers ...*client.Client) {
	t.Helper()
	var posts sync.WaitGroup
	var mu sync.Mutex
	receipts := make(map[wire.EventReceipt]int)
	for n := range 32 {
		posts.Go(func() {
			r, err := publishers[n%len(publishers)].PublishEventOnce(context.Background(), key, event, body)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			receipts[*r]++
		})
	}
	posts.Wait()
	first := 0
	ids := make(map[string]bool)
	for receipt, n := range receipts {
		ids[receipt.EventID] = true
		if !receipt.Replayed {
			first += n
		}
	}
	if len(ids) != 1 || first > 1 {
		t.Errorf("receipts by content: %v, want those of one event, at most one of them not replayed", receipts)
	}
}

// TestIdempotentPublish publishes one event many times under one key.
func TestIdempotentPublish(t *testing.T) {
	_, as := startWebhooks(t)
	admin, publisher := as("admin"), as("publisher")
	ctx := context.Background()
	shop, err := admin.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}

	to, got := receiver(t, 200)
	for _, pattern := range []string{"debtor.*", "*"} {
		_, err := admin.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
			URL:       &to,
			EventName: &pattern,
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	publishConcurrently(t, "order 4711", "debtor.updated", `{"DebtorID":"0001"}`, publisher)
	for range 2 {
		await(t, got)
	}

	if page, err := admin.Messages(ctx, shop.RecID, nil); err != nil || page.Total != 2 {
		t.Errorf("%d messages, want one for each subscription (%v)", page.Total, err)
	}

	for _, other := range [][2]string{
		{"debtor.updated", `{"DebtorID":"0002"}`},
		{"debtor.created", `{"DebtorID":"0001"}`},
	} {
		_, err := publisher.PublishEventOnce(ctx, "order 4711", other[0], other[1])
		if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != http.StatusConflict {
			t.Errorf("%s under the same key: %v", other, err)
		}
	}
}

// TestSubscriptionCreatedDisabled checks that its messages are queued.
func TestSubscriptionCreatedDisabled(t *testing.T) {
	_, as := startWebhooks(t)
	admin, publisher := as("admin"), as("publisher")
	ctx := context.Background()
	shop, err := admin.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}
	to, got := receiver(t, 200)
	s, err := admin.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
		URL:       &to,
		EventName: pointer("debtor.*"),
		IsEnabled: pointer(false),
	})
	if err != nil || s.IsEnabled {
		t.Fatal(s, err)
	}
	if r, err := publisher.PublishEvent(ctx, "debtor.updated", "{}"); err != nil || r.Messages != 1 {
		t.Fatal(r, err)
	}
	page, err := admin.Messages(ctx, shop.RecID, nil)
	if err != nil || len(page.Results) != 1 || page.Results[0].Status != 0 || len(got) != 0 {
		t.Errorf("messages are %+v (%v)", page, err)
	}
	_, err = admin.UpdateSubscription(ctx, shop.RecID, s.RecID,
		wire.SubscriptionRequest{IsEnabled: pointer(true)})
	if err != nil {
		t.Fatal(err)
	}
	await(t, got)
}

// TestIdempotencyKeysOnTheWire checks that invalid keys are rejected and that replayed
// responses are marked.
func TestIdempotencyKeysOnTheWire(t *testing.T) {
	i, _ := startWebhooks(t)
	key := i.Key(t, "publisher")
	publish := func(keys ...string) (*http.Response, string) {
		t.Helper()
		req, err := http.NewRequest(http.MethodPost, i.URL+"/Webhooks/Events",
			strings.NewReader(`{"EventName":"debtor.updated","Body":{"a":1}}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header["Idempotency-Key"] = keys
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(text)
	}

	for name, keys := range map[string][]string{
		"empty":     {""},
		"long":      {strings.Repeat("k", 256)},
		"two":       {"a", "b"},
		"not ASCII": {"Größe"},
	} {
		resp, text := publish(keys...)
		if resp.StatusCode != http.StatusBadRequest ||
			!strings.Contains(text, `"FieldName":"Idempotency-Key"`) {
			t.Errorf("%s: status %d, %s; want 400 for Idempotency-Key", name, resp.StatusCode, text)
		}
	}

	for n, want := range []string{"", "true"} {
		resp, text := publish(strings.Repeat("k", 255))
		if resp.StatusCode != http.StatusCreated || resp.Header.Get("Idempotent-Replayed") != want {
			t.Errorf("response %d: %d %q %s", n+1, resp.StatusCode, resp.Header.Get("Idempotent-Replayed"), text)
		}
	}
}
