package daemon_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// daemonPair is two daemons that share a store on a server, each with an admin's
// client, and one subscriber.
type daemonPair struct {
	dsn    string
	daemon [2]*daemontest.Instance
	admin  [2]*client.Client
	shop   string
}

func startPair(t *testing.T, args ...string) *daemonPair {
	t.Helper()
	x := &daemonPair{dsn: mssqltest.Database(t)}
	for n := range x.daemon {
		x.daemon[n] = daemontest.Start(t, append([]string{
			"--store", x.dsn,
			"--migrate",
			"--webhooks-allow-targets", "127.0.0.0/8",
		}, args...)...)
		x.admin[n] = signedIn(t, x.daemon[n])
	}
	shop, err := x.admin[0].AddSubscriber(t.Context(), wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}
	x.shop = shop.RecID
	return x
}

// with returns a client of one of the daemons.
func (x *daemonPair) with(t *testing.T, n int, o client.Options) *client.Client {
	t.Helper()
	o.URL = x.daemon[n].URL
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// subscribe adds a subscription at one daemon.
func (x *daemonPair) subscribe(t *testing.T, n int, r wire.SubscriptionRequest) *wire.Subscription {
	t.Helper()
	s, err := x.admin[n].AddSubscription(t.Context(), x.shop, r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// publish publishes an event at one daemon and expects this number of messages.
func (x *daemonPair) publish(t *testing.T, n int, event, body string, messages int) {
	t.Helper()
	receipt, err := x.admin[n].PublishEvent(t.Context(), event, body)
	if err != nil {
		t.Fatal(err)
	}
	if receipt.Messages != messages {
		t.Errorf("%q published at daemon %d: %d messages, want %d", body, n, receipt.Messages, messages)
	}
}

// awaitUnauthorized waits until a client is no longer authenticated, and logs how long it
// took. credential describes the client's credential.
func awaitUnauthorized(t *testing.T, credential string, c *client.Client) {
	t.Helper()
	began := time.Now()
	deadline := began.Add(time.Minute)
	for {
		_, err := c.CurrentSession(t.Context())
		if client.Is(err, client.Unauthorized) {
			t.Logf("%s is rejected by the other daemon after %v",
				credential, time.Since(began).Round(100*time.Millisecond))
			return
		}
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%s still works at the other daemon: %v", credential, err)
		}
	}
}

// TestLoginsOfTwoDaemons checks that sessions and keys created at one daemon are valid at
// the other, and that their removal takes effect there.
func TestLoginsOfTwoDaemons(t *testing.T) {
	x := startPair(t)
	ctx := t.Context()
	for n := range x.daemon {
		here := x.with(t, n, client.Options{})
		login, err := here.Login(ctx, "admin", daemontest.AdminPassword)
		if err != nil {
			t.Fatal(err)
		}
		there := x.with(t, 1-n, client.Options{Session: login.SessionID})
		if session, err := there.CurrentSession(ctx); err != nil || session.UserName != "admin" {
			t.Fatalf("session of daemon %d used at the other: %+v, %v", n, session, err)
		}
		if err := here.Logout(ctx); err != nil {
			t.Fatal(err)
		}
		awaitUnauthorized(t, "a session that has ended", there)

		key, err := x.admin[n].AddAPIKey(ctx, wire.APIKeyRequest{Name: fmt.Sprint("key ", n), Role: "reader"})
		if err != nil {
			t.Fatal(err)
		}
		keyed := x.with(t, 1-n, client.Options{Token: key.Key})
		if _, err := keyed.CurrentSession(ctx); err != nil {
			t.Fatalf("key of daemon %d used at the other: %v", n, err)
		}
		if err := x.admin[n].RemoveAPIKey(ctx, key.Name); err != nil {
			t.Fatal(err)
		}
		awaitUnauthorized(t, "a key that was removed", keyed)
	}
}

// TestIdempotentPublishAtTwoDaemons publishes one event many times under one
// idempotency key, at both daemons concurrently.
func TestIdempotentPublishAtTwoDaemons(t *testing.T) {
	x := startPair(t)
	to, got := receiver(t, 200)
	for _, pattern := range []string{"debtor.*", "*"} {
		x.subscribe(t, 0, wire.SubscriptionRequest{URL: &to, EventName: &pattern})
	}

	const (
		key   = "order 4711"
		event = "debtor.updated"
		body  = `{"DebtorID":"0001"}`
	)
	publishConcurrently(t, key, event, body, x.admin[0], x.admin[1])
	for range 2 {
		await(t, got)
	}

	for statement, want := range map[string]int64{
		"SELECT COUNT(*) FROM whd.WH_Event":          1,
		"SELECT COUNT(*) FROM whd.SY_WebhookMessage": 2,
		"SELECT COUNT(*) FROM whd.WH_IdempotencyKey": 1,
	} {
		if n := mssqltest.Count(t, x.dsn, statement); n != want {
			t.Errorf("%s: %d, want %d", statement, n, want)
		}
	}

	for n, c := range x.admin {
		_, err := c.PublishEventOnce(t.Context(), key, event, `{"DebtorID":"0002"}`)
		if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != http.StatusConflict {
			t.Errorf("same key with another body at daemon %d: %v", n, err)
		}
	}
}

// TestSubscriptionsOfTwoDaemons checks that a subscription that is added, disabled or
// removed at one daemon immediately affects events published at the other.
func TestSubscriptionsOfTwoDaemons(t *testing.T) {
	x := startPair(t)
	ctx := t.Context()
	to, got := receiver(t, 200)
	for n := range x.daemon {
		here, there := x.admin[n], 1-n
		s := x.subscribe(t, n, wire.SubscriptionRequest{URL: &to, EventName: pointer("debtor.*")})
		x.publish(t, there, "debtor.updated", "subscribed", 1)
		if d := await(t, got); d.body != "subscribed" {
			t.Errorf("delivered %q", d.body)
		}
		_, err := here.UpdateSubscription(ctx, x.shop, s.RecID,
			wire.SubscriptionRequest{EventName: pointer("creditor.*")})
		if err != nil {
			t.Fatal(err)
		}
		x.publish(t, there, "debtor.updated", "without subscription", 0)
		if err := here.RemoveSubscription(ctx, x.shop, s.RecID); err != nil {
			t.Fatal(err)
		}
		x.publish(t, there, "creditor.updated", "without subscription again", 0)
	}
}

func signedIn(t *testing.T, i *daemontest.Instance) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{URL: i.URL, User: "admin", Password: daemontest.AdminPassword})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestPortalSessionOfDaemons checks that each daemon knows the sessions of subscribers on their pages,
// and their ends.
func TestPortalSessionOfDaemons(t *testing.T) {
	x := startPair(t, "--webhooks-portal")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	send := func(daemon int, method, path, cookie, body string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, x.daemon[daemon].URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Cookie", cookie)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		reply, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		return reply
	}
	opened := send(0, http.MethodPost, "/Webhooks/Portal/Open", "", "SubscriberID="+x.shop)
	if opened.StatusCode != http.StatusSeeOther || len(opened.Cookies()) != 1 {
		t.Fatalf("status %d with the cookies %v, want a session", opened.StatusCode, opened.Cookies())
	}
	cookie := opened.Cookies()[0].Name + "=" + opened.Cookies()[0].Value
	const page = "/Webhooks/Portal/Subscriptions"
	for daemon := range x.daemon {
		if reply := send(daemon, http.MethodGet, page, cookie, ""); reply.StatusCode != http.StatusOK {
			t.Errorf("daemon %d: status %d, want the page", daemon, reply.StatusCode)
		}
	}
	disabled := false
	if _, err := x.admin[1].UpdateSubscriber(t.Context(), x.shop, wire.SubscriberRequest{IsEnabled: &disabled}); err != nil {
		t.Fatal(err)
	}
	for daemon := range x.daemon {
		if reply := send(daemon, http.MethodGet, page, cookie, ""); reply.StatusCode != http.StatusSeeOther {
			t.Errorf("daemon %d: status %d after the subscriber was disabled, want the entry", daemon, reply.StatusCode)
		}
	}
}
