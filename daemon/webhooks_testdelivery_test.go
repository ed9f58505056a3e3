package daemon_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// TestTestDelivery sends one subscription a test message with the content of an event.
// A header marks it as a test in every attempt, and so does the list of messages.
func TestTestDelivery(t *testing.T) {
	_, as := startWebhooks(t, "--webhooks-retry-schedule", "1s,1s")
	admin := as("admin")
	publisher := as("publisher")
	anonymous := as("")
	ctx := context.Background()
	shop, err := admin.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}

	to, got := receiver(t, 500, 200)
	s, err := admin.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
		URL:       &to,
		EventName: pointer("debtor.*"),
	})
	if err != nil {
		t.Fatal(err)
	}

	other, others := receiver(t, 200)
	_, err = admin.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
		URL:       &other,
		EventName: pointer("*"),
	})
	if err != nil {
		t.Fatal(err)
	}

	const body = `{ "DebtorID" : "0001" }`
	state, err := publisher.TestSubscriptionWith(ctx, shop.RecID, s.RecID, wire.TestRequest{
		EventName: "Debtor.Updated",
		Body:      body,
	})
	if err != nil {
		t.Fatal(err)
	}

	for range 2 { // the first gets status 500
		d := await(t, got)
		if d.body != body || d.header.Get("X-Event-Name") != "debtor.updated" ||
			d.header.Get("Webhook-Test") != "true" || d.header.Get("Webhook-Id") != state.MessageID {
			t.Errorf("delivered %+v", d)
		}
	}

	m := settled(t, anonymous, shop.RecID, url.Values{"Status": {"1"}})
	if m.EventName != "webhooks.test:debtor.updated" || m.MessageID != state.MessageID {
		t.Errorf("message %+v", m)
	}

	for _, request := range []wire.TestRequest{{EventName: "debtor.created"}, {Body: "just text"}, {}} {
		if _, err := publisher.TestSubscriptionWith(ctx, shop.RecID, s.RecID, request); err != nil {
			t.Fatal(err)
		}
		d, want := await(t, got), request.Body
		if request.EventName != "" {
			want = record.SampleBody(request.EventName)
		}
		if !strings.Contains(d.body, want) || d.header.Get("Webhook-Test") != "true" {
			t.Errorf("%+v delivered %+v", request, d)
		}
	}

	if _, err := publisher.PublishEvent(ctx, "salesorder.created", "x"); err != nil {
		t.Fatal(err)
	}
	if d := await(t, others); d.body != "x" || d.header["Webhook-Test"] != nil {
		t.Errorf("the other subscription first got %+v", d)
	}
}

// TestTestDeliveryOfServiceEvent checks that a subscription to the service's own events can be tested
// with each of them, although clients cannot publish them.
func TestTestDeliveryOfServiceEvent(t *testing.T) {
	_, as := startWebhooks(t)
	admin := as("admin")
	ctx := t.Context()
	shop, err := admin.AddSubscriber(ctx, wire.SubscriberRequest{Name: new("Shop")})
	if err != nil {
		t.Fatal(err)
	}
	to, got := receiver(t, 200)
	s, err := admin.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
		URL:       &to,
		EventName: new("webhooks.*"),
	})
	if err != nil {
		t.Fatal(err)
	}

	for _, event := range record.ServiceEvents() {
		request := wire.TestRequest{EventName: strings.ToUpper(event.Name)}
		if _, err := admin.TestSubscriptionWith(ctx, shop.RecID, s.RecID, request); err != nil {
			t.Errorf("test with %s: %v", request.EventName, err)
			continue
		}
		d := await(t, got)
		if d.header.Get("X-Event-Name") != event.Name || d.header.Get("Webhook-Test") != "true" ||
			d.body != record.SampleBody(event.Name) {
			t.Errorf("test with %s: delivered %+v", request.EventName, d)
		}
		_, err := admin.PublishEvent(ctx, event.Name, "x")
		const want = "which only the service publishes"
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("publishing %s: got the error %v, want %q", event.Name, err, want)
		}
	}
}

// TestInvalidTestDeliveries checks that only publishers choose the content of a signed
// test message, and that invalid requests are rejected.
func TestInvalidTestDeliveries(t *testing.T) {
	i, as := startWebhooks(t)
	admin := as("admin")
	ctx := context.Background()
	shop, err := admin.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}

	to, got := receiver(t, 200)
	s, err := admin.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
		URL:       &to,
		EventName: pointer("debtor.*"),
	})
	if err != nil {
		t.Fatal(err)
	}

	path := "/Webhooks/Subscribers/" + shop.RecID + "/Subscriptions/" + s.RecID + "/Test"
	for _, tt := range []struct {
		role, body string
		status     int
		want       string
	}{
		{"", `{"EventName":"debtor.updated"}`, 401, "Unauthorized"},
		{"", `{"Body":"x"}`, 401, "Unauthorized"},
		{"reader", `{"EventName":"debtor.updated"}`, 403, "publisher"},
		{"admin", `{"EventName":"debtor.vanished"}`, 400, `"FieldName":"EventName"`},
		{"admin", `{"EventName":"salesorder.created"}`, 400, `which are debtor.*`},
		{"admin", `{"EventName":"webhooks.subscription.disabled"}`, 400, `"FieldName":"EventName"`},
		{"admin", `{"EventName":["debtor.updated","debtor.created"]}`, 400, `"FieldName":"EventName"`},
		{"admin", `{"Body":"a\u0000b"}`, 400, `"FieldName":"Body"`},
		{"admin", `{"Bodi":"x","Strict":true}`, 400, `"FieldName":"Bodi"`},
		{"admin", `{"Body":`, 400, "SerializationException"},
		{"admin", `{"Body":"` + strings.Repeat("x", 4<<20) + `"}`, 413, "RequestTooLarge"},
	} {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, i.URL+path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "application/json")
		if tt.role != "" {
			r.Header.Set("Authorization", "Bearer "+i.Key(t, tt.role))
		}
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		if err != nil || reply.StatusCode != tt.status || !strings.Contains(string(text), tt.want) {
			t.Errorf("%s with the role %q: status %d, %s (%v); want %d with %s",
				tt.body, tt.role, reply.StatusCode, text, err, tt.status, tt.want)
		}
	}

	if _, err := as("").TestSubscription(ctx, shop.RecID, s.RecID); err != nil {
		t.Error(err)
	}
	if d := await(t, got); d.header.Get("X-Event-Name") != "webhooks.test" {
		t.Errorf("the first message is %+v", d)
	}
	_, err = admin.TestSubscriptionWith(ctx, shop.RecID, shop.RecID,
		wire.TestRequest{EventName: "debtor.updated"})
	if !client.Is(err, client.NotFound) {
		t.Errorf("no such subscription: %v", err)
	}
}
