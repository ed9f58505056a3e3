package daemon_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// delivery is a request that reached a receiver.
type delivery struct {
	header http.Header
	body   string
}

// receiver starts an endpoint and returns its URL and its requests. It responds with the
// codes in turn, and repeats the last.
func receiver(t *testing.T, codes ...int) (string, <-chan delivery) {
	t.Helper()
	got := make(chan delivery, 64)
	var n atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(codes[min(int(n.Add(1)), len(codes))-1])
		got <- delivery{r.Header, string(body)}
	}))
	t.Cleanup(srv.Close)
	return srv.URL, got
}

func await(t *testing.T, got <-chan delivery) delivery {
	t.Helper()
	select {
	case d := <-got:
		return d
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing was delivered")
		return delivery{}
	}
}

// startWebhooks starts a daemon that may send to this host. The function that it returns
// creates a client with a key of a role, without a key if role is "".
func startWebhooks(t *testing.T, args ...string) (*daemontest.Instance, func(role string) *client.Client) {
	t.Helper()
	i := daemontest.Start(t, append([]string{"--webhooks-allow-targets", "127.0.0.0/8"}, args...)...)
	return i, func(role string) *client.Client {
		o := client.Options{URL: i.URL}
		if role != "" {
			o.Token = i.Key(t, role)
		}
		c, err := client.New(o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
}

func pointer[T any](v T) *T { return &v }

// TestRateWithSubscriberID checks that a SubscriberID alone cannot raise the limit of a subscription
// above the default, but keeps a higher one that an admin has set.
func TestRateWithSubscriberID(t *testing.T) {
	_, as := startWebhooks(t, "--webhooks-max-per-minute", "120")
	admin, anonymous := as("admin"), as("")
	shop, err := admin.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}
	to, _ := receiver(t, 200)
	request := wire.SubscriptionRequest{URL: &to, EventName: pointer("debtor.updated"), MaxPerMinute: pointer(121)}
	const want = "MaxPerMinute can be at most 120"
	_, err = anonymous.AddSubscription(t.Context(), shop.RecID, request)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("adding a subscription with 121: %v, want %q", err, want)
	}
	request.MaxPerMinute = pointer(120)
	s, err := anonymous.AddSubscription(t.Context(), shop.RecID, request)
	if err != nil {
		t.Fatal(err)
	}
	change := wire.SubscriptionRequest{MaxPerMinute: pointer(6000)}
	_, err = anonymous.UpdateSubscription(t.Context(), shop.RecID, s.RecID, change)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("changing it to 6000: %v, want %q", err, want)
	}
	_, err = admin.UpdateSubscription(t.Context(), shop.RecID, s.RecID, change)
	if err != nil {
		t.Fatal(err)
	}
	change.EventName = pointer("debtor.created") // with the limit that it has
	_, err = anonymous.UpdateSubscription(t.Context(), shop.RecID, s.RecID, change)
	if err != nil {
		t.Error(err)
	}
}

// TestSubscriptionLifecycle adds, changes, tests and removes a subscription and its
// subscriber.
func TestSubscriptionLifecycle(t *testing.T) {
	_, as := startWebhooks(t)
	admin := as("admin")
	publisher := as("publisher")
	anonymous := as("")
	ctx := context.Background()
	shop, err := admin.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil || !shop.IsEnabled || shop.Name != "Shop" {
		t.Fatal(shop, err)
	}

	to, got := receiver(t, 200)
	s, err := anonymous.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
		URL:       &to,
		EventName: pointer("Debtor.Updated"),
		Headers:   &[]wire.Header{{Name: "X-Token", Value: "a"}, {Name: "X-Shop", Value: "7"}},
	})
	if err != nil || s.EventName != "debtor.updated" || !strings.HasPrefix(s.Secret, "whsec_") ||
		s.Headers[0].Value != "***" {
		t.Fatal(s, err)
	}

	const body = `{ "DebtorID" : "0001", "Balance": 1.50 }`
	receipt, err := publisher.PublishEvent(ctx, "debtor.updated", body)
	if err != nil || receipt.Messages != 1 {
		t.Fatal(receipt, err)
	}

	d := await(t, got)
	if d.body != body || d.header.Get("X-Token") != "a" || d.header.Get("X-Shop") != "7" ||
		d.header.Get("Webhook-Signature") == "" {
		t.Errorf("delivered %+v", d)
	}

	m := settled(t, anonymous, shop.RecID, url.Values{"Status": {"1"}})
	if m.MessageID != d.header.Get("Webhook-Id") || m.Body != body || m.Retries != 0 ||
		*m.LastMessageResponseHTTPCode != 200 || m.LastMessageResponseMessage != "OK" {
		t.Errorf("message %+v", m)
	}

	responses, err := anonymous.MessageResponses(ctx, shop.RecID, url.Values{"MessageID": {m.MessageID}})
	if err != nil || len(responses.Results) != 1 || *responses.Results[0].HTTPCode != 200 {
		t.Errorf("responses %+v, %v", responses, err)
	}
	if state, err := anonymous.TestSubscription(ctx, shop.RecID, s.RecID); err != nil || state.Status != 0 {
		t.Errorf("test: %+v, %v", state, err)
	}
	if d := await(t, got); d.header.Get("X-Event-Name") != "webhooks.test" || !strings.Contains(d.body, s.RecID) {
		t.Errorf("the test delivered %+v", d)
	}

	for range 2 {
		if err := anonymous.RemoveMessage(ctx, shop.RecID, s.RecID, m.MessageID); err != nil {
			t.Error(err)
		}
	}

	if err := anonymous.RemoveSubscription(ctx, shop.RecID, s.RecID); err != nil {
		t.Error(err)
	}
	if err := anonymous.RemoveSubscription(ctx, shop.RecID, s.RecID); !client.Is(err, client.NotFound) {
		t.Errorf("removed twice: %v", err)
	}
	if err := admin.RemoveSubscriber(ctx, shop.RecID); err != nil {
		t.Error(err)
	}
	if _, err := anonymous.Subscriptions(ctx, shop.RecID); !client.Is(err, client.NotFound) {
		t.Errorf("removed subscriber: %v", err)
	}
}

// settleTimeout is how long settled waits for a message on a busy machine.
const settleTimeout = time.Minute

// settled polls until a message matches the parameters, and returns it.
func settled(t *testing.T, c *client.Client, subscriber string, members url.Values) wire.Message {
	t.Helper()
	for end := time.Now().Add(settleTimeout); time.Now().Before(end); {
		p, err := c.Messages(t.Context(), subscriber, members)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Results) > 0 {
			return p.Results[0]
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("no message with %s after %s", members.Encode(), settleTimeout)
	return wire.Message{}
}

// TestSubscribersAreIsolated combines the IDs of two subscribers.
func TestSubscribersAreIsolated(t *testing.T) {
	_, as := startWebhooks(t)
	admin, anonymous := as("admin"), as("")
	ctx := context.Background()
	var ids [2]string
	var subs [2]*wire.Subscription
	to, got := receiver(t, 422)
	for i := range ids {
		b, err := admin.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("B")})
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = b.RecID
		if subs[i], err = anonymous.AddSubscription(ctx, b.RecID, wire.SubscriptionRequest{
			URL:       &to,
			EventName: pointer("*"),
		}); err != nil {
			t.Fatal(err)
		}
	}

	if _, err := as("publisher").PublishEvent(ctx, "debtor.updated", "x"); err != nil {
		t.Fatal(err)
	}

	await(t, got)
	await(t, got)
	m := settled(t, anonymous, ids[0], url.Values{"Status": {"2"}})
	for name, err := range map[string]error{
		"remove subscription": anonymous.RemoveSubscription(ctx, ids[1], subs[0].RecID),
		"remove message":      anonymous.RemoveMessage(ctx, ids[1], subs[0].RecID, m.MessageID),
		"change": second(anonymous.UpdateSubscription(ctx, ids[1], subs[0].RecID,
			wire.SubscriptionRequest{EventName: pointer("*")})),
		"retry": second(anonymous.RetryMessage(ctx, ids[1], subs[1].RecID, m.MessageID)),
	} {
		if !client.Is(err, client.NotFound) {
			t.Errorf("%s: got the error %v, want NotFound", name, err)
		}
	}

	for _, members := range []url.Values{
		{"SubscriberID": {ids[0]}},
		{"SubscriberIDIn": {ids[0]}},
		{"MessageID": {m.MessageID}},
		{"Include": {"COUNT(*)"}, "MessageID": {m.MessageID}},
	} {
		p, err := anonymous.Messages(ctx, ids[1], members)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range p.Results {
			if row.SubscriberID != ids[1] {
				t.Errorf("%v shows a message of another subscriber", members)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestInvalidWebhookRequests(t *testing.T) {
	i, as := startWebhooks(t)
	admin := as("admin")
	shop, err := admin.AddSubscriber(context.Background(), wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}

	here := "/Webhooks/Subscribers/" + shop.RecID + "/Subscriptions"
	key := i.Key(t, "publisher")
	tests := []struct {
		method, path, body string
		status             int
		field              string
	}{
		{
			method: "POST",
			path:   here,
			body:   `{"URL":"ftp://example.com/","EventName":"*"}`,
			status: 400,
			field:  "URL",
		},
		{
			method: "POST",
			path:   here,
			body:   `{"URL":"http://10.0.0.1/","EventName":"*"}`,
			status: 400,
			field:  "URL",
		},
		{
			method: "POST",
			path:   here,
			body:   `{"URL":"http://169.254.169.254/","EventName":"*"}`,
			status: 400,
			field:  "URL",
		},
		{
			method: "POST",
			path:   here,
			body:   `{"URL":"http://u:p@example.com/","EventName":"*"}`,
			status: 400,
			field:  "URL",
		},
		{
			method: "POST",
			path:   here,
			body:   `{"URL":"http://example.com/` + strings.Repeat("x", 2049) + `","EventName":"*"}`,
			status: 400,
			field:  "URL",
		},
		{
			method: "POST",
			path:   here,
			body:   `{"URL":"http://example.com/","EventName":"nothing.happened"}`,
			status: 400,
			field:  "EventName",
		},
		{method: "POST", path: here, body: `{"EventName":"*"}`, status: 400, field: "URL"},
		{method: "POST", path: here, body: `{"URL":"http://example.com/"}`, status: 400, field: "EventName"},
		{
			method: "POST",
			path:   here,
			body:   `{"URL":"http://example.com/","EventName":"*","Headers":[{"Name":"X Y","Value":"1"}]}`,
			status: 400,
			field:  "Headers",
		},
		{
			method: "POST",
			path:   here,
			body:   `{"URL":"http://example.com/","EventName":"*","Headers":[{"Name":"X","Value":"1\r\nY: 2"}]}`,
			status: 400,
			field:  "Headers",
		},
		{
			method: "POST",
			path:   here,
			body:   `{"URL":"http://example.com/","EventName":"*","Headers":"rubbish"}`,
			status: 400,
			field:  "Headers",
		},
		{
			method: "POST",
			path:   here,
			body:   `{"URL":"http://example.com/","EventName":"*","RetrySchedule":"soon"}`,
			status: 400,
			field:  "RetrySchedule",
		},
		{
			method: "POST",
			path:   "/Webhooks/Subscribers/" + strings.Repeat("0", 32) + "/Subscriptions",
			body:   `{"URL":"http://example.com/","EventName":"*"}`,
			status: 404,
		},
		{
			method: "POST",
			path:   "/Webhooks/Subscribers/unknown/Subscriptions",
			body:   `{"URL":"http://example.com/","EventName":"*"}`,
			status: 404,
		},
		{method: "GET", path: "/Webhooks/Subscribers/unknown/Messages", body: ``, status: 404, field: ""},
		{
			method: "POST",
			path:   "/Webhooks/Events",
			body:   `{"EventName":"debtor.vanished","Body":"x"}`,
			status: 400,
			field:  "EventName",
		},
		{
			method: "POST",
			path:   "/Webhooks/Events",
			body:   `{"EventName":"debtor.updated"}`,
			status: 400,
			field:  "Body",
		},
		{method: "POST", path: "/Webhooks/Events", body: `{"Body":"x"}`, status: 400, field: "EventName"},
		{
			method: "POST",
			path:   "/Webhooks/Events",
			body:   `{"EventName":"debtor.updated","Body":"` + strings.Repeat("x", 4<<20) + `"}`,
			status: 413,
		},
		{
			method: "POST",
			path:   "/Webhooks/Events",
			body:   "{\"EventName\":\"debtor.updated\",\"Body\":\"\xff\"}",
			status: 400,
		},
		{method: "POST", path: "/Webhooks/Subscribers", body: `{"Name":"x"}`, status: 403, field: ""},
		{method: "PUT", path: "/Webhooks/Events", body: `{}`, status: 405, field: ""},
	}

	for _, tt := range tests {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, i.URL+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(tt.path, "Subscriptions") {
			req.Header.Set("Authorization", "Bearer "+key)
		}
		reply, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var failure wire.Failure
		err = json.NewDecoder(reply.Body).Decode(&failure)
		reply.Body.Close()
		field := ""
		if errors := failure.ResponseStatus.Errors; len(errors) > 0 {
			field = errors[0].FieldName
		}
		if err != nil || reply.StatusCode != tt.status {
			t.Errorf("%s %s %.80s: %d %+v (%v), want status %d",
				tt.method, tt.path, tt.body, reply.StatusCode, failure.ResponseStatus, err, tt.status)
		}
		if tt.field != "" && field != tt.field {
			t.Errorf("%s %s %.80s: the error is for the member %q, want %q",
				tt.method, tt.path, tt.body, field, tt.field)
		}
	}
}

// TestBodiesAreDeliveredUnchanged publishes bodies with text, spacing, escapes and
// numbers that re-encoding would change.
func TestBodiesAreDeliveredUnchanged(t *testing.T) {
	i, as := startWebhooks(t)
	shop, err := as("admin").AddSubscriber(context.Background(), wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}

	to, got := receiver(t, 200)
	if _, err := as("").AddSubscription(context.Background(), shop.RecID, wire.SubscriptionRequest{
		URL:       &to,
		EventName: pointer("*"),
	}); err != nil {
		t.Fatal(err)
	}

	key := i.Key(t, "publisher")
	for raw, want := range map[string]string{
		`{"b": 1.10,  "a":"\u00e9\/<", "b":2}`: `{"b": 1.10,  "a":"\u00e9\/<", "b":2}`,
		`[1e400, 12345678901234567890]`:        `[1e400, 12345678901234567890]`,
		`"plain \"text\"\n日本😀"`:                "plain \"text\"\n日本😀",
		`true`:                                 `true`,
	} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, i.URL+"/Webhooks/Events",
			strings.NewReader(`{"eventname":"shipment.created","body":`+raw+`}`))
		req.Header.Set("Authorization", "Bearer "+key)
		reply, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode != http.StatusCreated {
			t.Errorf("publishing %s: got %s, want status 201", raw, reply.Status)
			continue
		}
		if d := await(t, got); d.body != want {
			t.Errorf("%s was delivered as %s", raw, d.body)
		}
	}
}

// TestAnonymousPublish allows a network to publish events without a login.
func TestAnonymousPublish(t *testing.T) {
	_, as := startWebhooks(t, "--webhooks-publish", "anonymous", "--webhooks-publish-from", "127.0.0.0/8")
	if _, err := as("").PublishEvent(context.Background(), "debtor.updated", "x"); err != nil {
		t.Error(err)
	}
	_, as = startWebhooks(t, "--webhooks-publish", "anonymous", "--webhooks-publish-from", "192.0.2.0/24")
	_, err := as("").PublishEvent(context.Background(),
		"debtor.updated", "x")
	if !client.Is(err, client.Unauthorized) {
		t.Error(err)
	}
}

func TestWebhooksDisabled(t *testing.T) {
	_, as := startWebhooks(t, "--webhooks-enabled=false")
	_, err := as("").Events(context.Background())
	if !client.Is(err, client.NotFound) || !strings.Contains(err.Error(), "webhooks.enabled") {
		t.Error(err)
	}
}

// TestAnonymousRetriesAreLimited requests more retries than a SubscriberID allows.
func TestAnonymousRetriesAreLimited(t *testing.T) {
	_, as := startWebhooks(t, "--webhooks-retry-schedule", "1h")
	admin, anonymous := as("admin"), as("")
	ctx := context.Background()
	shop, err := admin.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}

	to, got := receiver(t, 422)
	s, err := anonymous.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
		URL:       &to,
		EventName: pointer("*"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := as("publisher").PublishEvent(ctx, "debtor.updated", "x"); err != nil {
		t.Fatal(err)
	}

	id := await(t, got).header.Get("Webhook-Id")
	refused := 0
	for range 12 {
		_, err := anonymous.RetryMessage(ctx, shop.RecID, s.RecID, id)
		if e, ok := errors.AsType[*client.Error](err); ok && e.Status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused == 0 {
		t.Error("12 retries in a row were accepted")
	}
	if _, err := admin.RetryMessage(ctx, shop.RecID, s.RecID, id); err != nil {
		t.Errorf("an admin's retry: %v", err)
	}
}

// TestBodiesOfServiceEvents checks that a SubscriberID does not show the body of an event about the
// deliveries of others before it is delivered.
func TestBodiesOfServiceEvents(t *testing.T) {
	_, as := startWebhooks(t)
	admin, anonymous := as("admin"), as("")
	ctx := t.Context()
	shop, err := admin.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}
	watcher, err := admin.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Watcher")})
	if err != nil {
		t.Fatal(err)
	}
	gone, _ := receiver(t, 410)
	down, _ := receiver(t, 503)
	for id, request := range map[string]wire.SubscriptionRequest{
		watcher.RecID: {URL: &down, EventName: pointer("webhooks.*")},
		shop.RecID:    {URL: &gone, EventName: pointer("debtor.updated")},
	} {
		_, err = admin.AddSubscription(ctx, id, request)
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = admin.PublishEvent(ctx, "debtor.updated", "{}")
	if err != nil {
		t.Fatal(err)
	}
	events := url.Values{"EventName": {"webhooks.message.failed"}}
	awaitMessages(t, admin, 1, events)
	for name, c := range map[string]*client.Client{"an admin": admin, "the SubscriberID": anonymous} {
		page, err := c.Messages(ctx, watcher.RecID, events)
		if err != nil || len(page.Results) != 1 {
			t.Fatalf("%s: got %+v, %v; want one message", name, page, err)
		}
		body := page.Results[0].Body
		isShown := strings.Contains(body, `"SubscriberName":"Shop"`)
		if isShown != (name == "an admin") {
			t.Errorf("%s: got the body %q", name, body)
		}
		found, err := c.Messages(ctx, watcher.RecID, url.Values{"BodyContains": {"Shop"}})
		if err != nil || (len(found.Results) > 0) != (name == "an admin") {
			t.Errorf("%s: a search for Shop in bodies: %+v, %v", name, found, err)
		}
	}
}
