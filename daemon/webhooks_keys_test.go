package daemon_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// TestKeysOfEvents publishes events with keys, and finds their messages by them.
func TestKeysOfEvents(t *testing.T) {
	_, as := startWebhooks(t)
	admin := as("admin")
	publisher := as("publisher")
	anonymous := as("")
	ctx := context.Background()
	shop, err := admin.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}

	to, got := receiver(t, 200)
	if _, err := admin.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
		URL:       &to,
		EventName: pointer("*"),
	}); err != nil {
		t.Fatal(err)
	}

	longest := strings.Repeat("ß", 128)
	for _, key := range []string{"", "4711", "4711", " \"'~\\😀", longest} {
		r, err := publisher.PublishEventWith(ctx, wire.EventPost{
			EventName: "debtor.updated",
			Key:       key,
			Body:      "{}",
		}, "")
		if err != nil || r.Messages != 1 {
			t.Fatalf("publishing with the key %q: got %+v (%v), want one message", key, r, err)
		}
		await(t, got)
	}

	for key, want := range map[string]int64{"4711": 2, " \"'~\\😀": 1, longest: 1, "471": 0} {
		page, err := anonymous.Messages(ctx, shop.RecID, url.Values{"Key": {key}})
		all, allErr := admin.AllMessages(ctx, url.Values{"Key": {key}, "StatusIn": {"0,1"}})
		if errors.Join(err, allErr) != nil || page.Total != want || all.Total != want ||
			len(page.Results) != int(want) {
			t.Fatalf("%q: %+v and %+v (%v, %v)", key, page, all, err, allErr)
		}
		for _, m := range append(page.Results, all.Results...) {
			if m.Key != key {
				t.Errorf("a message about %q, want %q", m.Key, key)
			}
		}
	}

	for _, key := range []string{longest + "x", "a\nb", "\x7f"} {
		_, err := publisher.PublishEventWith(ctx, wire.EventPost{
			EventName: "debtor.updated",
			Key:       key,
			Body:      "{}",
		}, "")
		e, ok := errors.AsType[*client.Error](err)
		if !ok || e.Status != http.StatusBadRequest ||
			len(e.Fields) != 1 || e.Fields[0].FieldName != "Key" {
			t.Errorf("publishing with the key %q: got the error %v, want status 400 for Key", key, err)
		}
	}

	for _, e := range []wire.EventPost{{Key: "1"}, {Key: "1"}, {Key: "2"}, {}} {
		e.EventName, e.Body = "debtor.updated", "{}"
		_, err := publisher.PublishEventWith(ctx, e, "once")
		refused, ok := errors.AsType[*client.Error](err)
		if conflict := ok && refused.Status == http.StatusConflict; conflict != (e.Key != "1") {
			t.Errorf("another key of the event under the same idempotency key: %+v %v", e, err)
		}
	}
}

// TestOrderBy checks the order of subscriptions and Ordered, its boolean view.
func TestOrderBy(t *testing.T) {
	_, as := startWebhooks(t)
	admin := as("admin")
	ctx := context.Background()
	shop, err := admin.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}

	url, event := "http://127.0.0.1:9/", "debtor.*"
	sub, err := admin.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
		URL:       &url,
		EventName: &event,
		OrderBy:   pointer("Key"),
	})
	if err != nil || sub.OrderBy != "key" || sub.Ordered || !sub.OrderedByKey {
		t.Fatalf("got %+v (%v), want the order by key", sub, err)
	}

	yes, no := pointer(true), pointer(false)
	for _, c := range []struct {
		ordered *bool
		orderBy string // empty for none
		want    string
	}{
		{ordered: no, orderBy: "", want: "key"},
		{ordered: no, orderBy: "key", want: "key"},
		{ordered: yes, orderBy: "", want: "subscription"},
		{ordered: no, orderBy: "", want: "none"},
		{ordered: nil, orderBy: "subscription", want: "subscription"},
		{ordered: yes, orderBy: "subscription", want: "subscription"},
		{ordered: nil, orderBy: "key", want: "key"},
		{ordered: nil, orderBy: "none", want: "none"},
		{ordered: no, orderBy: "none", want: "none"},
		{ordered: yes, orderBy: "key", want: ""},
		{ordered: yes, orderBy: "none", want: ""},
		{ordered: no, orderBy: "subscription", want: ""},
		{ordered: nil, orderBy: "record", want: ""},
		{ordered: nil, orderBy: " ", want: ""},
	} {
		request := wire.SubscriptionRequest{Ordered: c.ordered}
		if c.orderBy != "" {
			request.OrderBy = &c.orderBy
		}
		body, err := json.Marshal(request) // for the messages of failures
		if err != nil {
			t.Fatal(err)
		}

		changed, err := admin.UpdateSubscription(ctx, shop.RecID, sub.RecID, request)
		if c.want == "" {
			e, ok := errors.AsType[*client.Error](err)
			if !ok || e.Status != http.StatusBadRequest || len(e.Fields) != 1 || e.Fields[0].FieldName != "OrderBy" {
				t.Errorf("update to %s: got %+v (%v), want an error about OrderBy", body, changed, err)
			}
			continue
		}

		if err != nil || changed.OrderBy != c.want || changed.Ordered != (c.want == "subscription") ||
			changed.OrderedByKey != (c.want == "key") {
			t.Errorf("update to %s: got %+v (%v), want the order %s", body, changed, err, c.want)
		}
		all, err := admin.AllSubscriptions(ctx, nil)
		if err != nil || len(all.Results) != 1 {
			t.Fatalf("list after %s: got %+v (%v), want one subscription", body, all, err)
		}
		listed := all.Results[0]
		if listed.Ordered != changed.Ordered || listed.OrderedByKey != changed.OrderedByKey {
			t.Errorf("list after %s: got %+v, want the order of %+v", body, listed, changed)
		}
	}
}
