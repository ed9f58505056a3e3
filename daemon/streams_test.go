package daemon_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// TestLiveStreamBehindNginx checks that a proxy with default settings forwards each event
// immediately: each one triggers the next. Below /old the proxy uses HTTP/1.0.
func TestLiveStreamBehindNginx(t *testing.T) {
	b := startBehindNginx(t)
	for _, path := range []string{"/erp", "/old"} {
		c, err := client.New(client.Options{
			URL:      b.plain + path,
			User:     "admin",
			Password: daemontest.AdminPassword,
		})
		if err != nil {
			t.Fatal(err)
		}

		t.Cleanup(c.Close)
		n := 0
		for e, err := range c.Stream(t.Context(), client.StreamOptions{Topics: []string{wire.TopicRequests}}) {
			switch e := e.(type) {
			case nil:
				t.Fatalf("%s: %v", path, err)
			case client.Disconnected:
				t.Fatalf("%s: after %d events: %v", path, n, e.Err)
			case client.RequestEvent:
				if strings.HasSuffix(e.PathInfo, "/Stream") {
					continue // the previous stream, which has ended
				}
				if want := fmt.Sprintf("%s-%d", path[1:], n); e.RequestID != want {
					t.Errorf("%s: %+v, want request ID %s", path, e, want)
				}
				n++
			case client.Connected:
				continue
			}
			if n == 5 {
				break
			}
			b.want(404, "GET /erp/nothing", "", fmt.Sprintf("X-Request-Id: %s-%d", path[1:], n))
		}
	}
}

// TestLiveStreamOfDeliveries checks that the changes of a message arrive in order.
func TestLiveStreamOfDeliveries(t *testing.T) {
	_, as := startWebhooks(t)
	admin := as("admin")
	ctx := t.Context()
	shop, err := admin.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}

	to, got := receiver(t, 200)
	s, err := admin.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
		URL:       &to,
		EventName: pointer("debtor.updated"),
	})
	if err != nil {
		t.Fatal(err)
	}

	var seen []string
	for e, err := range admin.Stream(ctx, client.StreamOptions{}) {
		switch e := e.(type) {
		case nil:
			t.Fatal(err)
		case client.HeartbeatEvent:
			if _, err := admin.PublishEvent(ctx, "debtor.updated", "{}"); err != nil {
				t.Fatal(err)
			}
			await(t, got)
		case client.MessageEvent:
			if e.SubscriberID != shop.RecID || e.SubscriptionID != s.RecID || e.EventName != "debtor.updated" ||
				time.Time(e.At).IsZero() {
				t.Errorf("got the event %+v, want that of the subscription, with its time", e)
			}
			code := 0
			if e.HTTPCode != nil {
				code = *e.HTTPCode
			}
			seen = append(seen, fmt.Sprintf("status %d, code %d, took time %v, deleted %v", e.Status,
				code, e.Duration > 0, e.Deleted))
			if e.Status == 1 && !e.Deleted {
				err = admin.RemoveMessage(ctx, shop.RecID, s.RecID, e.MessageID)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(seen) == 3 {
			break
		}
	}

	want := []string{
		"status 0, code 0, took time false, deleted false",
		"status 1, code 200, took time true, deleted false",
		"status 1, code 0, took time false, deleted true",
	}
	if !slices.Equal(seen, want) {
		t.Errorf("%q\nwant %q", seen, want)
	}
}
