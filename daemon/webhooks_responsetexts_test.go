package daemon_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
)

// TestOnlyAdminsSeeResponseTexts checks that requests that are authorized by a
// SubscriberID alone do not get the response texts of endpoints.
func TestOnlyAdminsSeeResponseTexts(t *testing.T) {
	const secret = "stack trace of the receiver"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusGone)
		_, _ = io.WriteString(w, secret+strings.Repeat(".", 8<<10))
	}))
	t.Cleanup(srv.Close)
	i, as := startWebhooks(t)
	admin, anonymous := as("admin"), as("")
	ctx := t.Context()
	shop, err := admin.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}

	_, err = anonymous.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
		URL:       &srv.URL,
		EventName: pointer("debtor.updated"),
	})
	if err != nil {
		t.Fatal(err)
	}

	if _, err := admin.PublishEvent(ctx, "debtor.updated", `{}`); err != nil {
		t.Fatal(err)
	}

	m := settled(t, admin, shop.RecID, url.Values{"Status": {"3"}})
	page, err := admin.Attempts(ctx, url.Values{"MessageID": {m.MessageID}})
	if err != nil || len(page.Results) != 1 {
		t.Fatalf("got %+v (%v), want one attempt", page, err)
	}

	a := page.Results[0]
	if a.AnswerText == nil || !strings.HasPrefix(*a.AnswerText, secret) || len(*a.AnswerText) != 4<<10 ||
		*a.HTTPCode != http.StatusGone || a.SubscriberID != shop.RecID {
		t.Errorf("response texts for an admin: %+v", a)
	}

	for _, path := range []string{
		"/Messages/Responses",
		"/Messages/" + m.MessageID + "/Responses",
		"/Messages",
	} {
		r, err := http.Get(i.URL + "/Webhooks/Subscribers/" + shop.RecID + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != http.StatusOK || strings.Contains(string(text), secret) ||
			!strings.Contains(string(text), m.MessageID) {
			t.Errorf("%s: status %d (%v), %s; want the message without the secret", path, r.StatusCode, err, text)
		}
	}

	if _, err := as("writer").Attempts(ctx, nil); err == nil {
		t.Error("the reply to a writer contains response texts")
	}
}
