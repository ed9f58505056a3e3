package daemon_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// twins are two daemons on one server, each with a client of an admin, and a
// subscriber.
type twins struct {
	dsn    string
	daemon [2]*daemontest.Instance
	admin  [2]*client.Client
	shop   string
}

func startTwins(t *testing.T, args ...string) *twins {
	t.Helper()
	x := &twins{dsn: mssqltest.Database(t)}
	for n := range x.daemon {
		x.daemon[n] = daemontest.Start(t, append([]string{"--store", x.dsn, "--migrate", "--webhooks-allow-targets", "127.0.0.0/8"}, args...)...)
		x.admin[n] = signedIn(t, x.daemon[n])
	}
	shop, err := x.admin[0].AddSubscriber(t.Context(), wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}
	x.shop = shop.RecID
	return x
}

// with is a client of one of the daemons.
func (x *twins) with(t *testing.T, n int, o client.Options) *client.Client {
	t.Helper()
	o.URL = x.daemon[n].URL
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// subscribe makes a subscription at one daemon.
func (x *twins) subscribe(t *testing.T, n int, r wire.SubscriptionRequest) *wire.Subscription {
	t.Helper()
	s, err := x.admin[n].AddSubscription(t.Context(), x.shop, r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// raise raises an event at one daemon, which goes to so many subscriptions.
func (x *twins) raise(t *testing.T, n int, event, body string, messages int) {
	t.Helper()
	receipt, err := x.admin[n].RaiseEvent(t.Context(), event, body)
	if err != nil {
		t.Fatal(err)
	}
	if receipt.Messages != messages {
		t.Errorf("%q raised at daemon %d goes to %d subscriptions, want %d", body, n, receipt.Messages, messages)
	}
}

// refused waits until a client is no longer authenticated, and returns how long it took.
func refused(t *testing.T, what string, c *client.Client) {
	t.Helper()
	began := time.Now()
	for enough := began.Add(time.Minute); ; {
		_, err := c.CurrentSession(t.Context())
		if client.Is(err, client.Unauthorized) {
			t.Logf("%s is refused by the other daemon after %v", what, time.Since(began).Round(100*time.Millisecond))
			return
		}
		if err != nil || time.Now().After(enough) {
			t.Fatalf("%s still works at the other daemon: %v", what, err)
		}
	}
}

// TestLoginsOfTwoDaemons: who signs in at one of two daemons is known to the
// other one, until the login ends there.
func TestLoginsOfTwoDaemons(t *testing.T) {
	x := startTwins(t)
	ctx := t.Context()
	for n := range x.daemon {
		here := x.with(t, n, client.Options{})
		login, err := here.Login(ctx, "admin", daemontest.AdminPassword)
		if err != nil {
			t.Fatal(err)
		}
		there := x.with(t, 1-n, client.Options{Session: login.SessionID})
		if who, err := there.CurrentSession(ctx); err != nil || who.UserName != "admin" {
			t.Fatalf("a session of daemon %d at the other: %+v, %v", n, who, err)
		}
		if err := here.Logout(ctx); err != nil {
			t.Fatal(err)
		}
		refused(t, "a session that has ended", there)

		key, err := x.admin[n].AddAPIKey(ctx, wire.APIKeyRequest{Name: fmt.Sprint("key ", n), Role: "reader"})
		if err != nil {
			t.Fatal(err)
		}
		keyed := x.with(t, 1-n, client.Options{Token: key.Key})
		if _, err := keyed.CurrentSession(ctx); err != nil {
			t.Fatalf("a key of daemon %d at the other: %v", n, err)
		}
		if err := x.admin[n].RemoveAPIKey(ctx, key.Name); err != nil {
			t.Fatal(err)
		}
		refused(t, "a key that was removed", keyed)
	}
}

// TestPublishingOnceAtTwoDaemons raises one event many times under one key, at
// both daemons at once.
func TestPublishingOnceAtTwoDaemons(t *testing.T) {
	x := startTwins(t)
	to, got := receiver(t, 200)
	for _, pattern := range []string{"debtor.*", "*"} {
		x.subscribe(t, 0, wire.SubscriptionRequest{URL: &to, EventName: &pattern})
	}
	const key, event, body = "order 4711", "debtor.updated", `{"DebtorID":"0001"}`
	raiseAtOnce(t, key, event, body, x.admin[0], x.admin[1])
	for range 2 {
		await(t, got)
	}
	for statement, want := range map[string]int64{
		"SELECT COUNT(*) FROM whd.WH_Event": 1, "SELECT COUNT(*) FROM whd.SY_WebhookMessage": 2, "SELECT COUNT(*) FROM whd.WH_IdempotencyKey": 1,
	} {
		if n := mssqltest.Count(t, x.dsn, statement); n != want {
			t.Errorf("%s: %d, want %d", statement, n, want)
		}
	}
	for n, c := range x.admin {
		_, err := c.RaiseEventOnce(t.Context(), key, event, `{"DebtorID":"0002"}`)
		if e, is := errors.AsType[*client.Error](err); !is || e.Status != http.StatusConflict {
			t.Errorf("another body at daemon %d gives %v", n, err)
		}
	}
}

// TestSubscriptionsOfTwoDaemons: what is subscribed, turned off and removed at
// one daemon counts at once for events at the other.
func TestSubscriptionsOfTwoDaemons(t *testing.T) {
	x := startTwins(t)
	ctx := t.Context()
	to, got := receiver(t, 200)
	for n := range x.daemon {
		here, there := x.admin[n], 1-n
		s := x.subscribe(t, n, wire.SubscriptionRequest{URL: &to, EventName: pointer("debtor.*")})
		x.raise(t, there, "debtor.updated", "subscribed", 1)
		if d := await(t, got); d.body != "subscribed" {
			t.Errorf("delivered %q", d.body)
		}
		if _, err := here.UpdateSubscription(ctx, x.shop, s.RecID, wire.SubscriptionRequest{EventName: pointer("creditor.*")}); err != nil {
			t.Fatal(err)
		}
		x.raise(t, there, "debtor.updated", "without subscription", 0)
		if err := here.RemoveSubscription(ctx, x.shop, s.RecID); err != nil {
			t.Fatal(err)
		}
		x.raise(t, there, "creditor.updated", "without subscription again", 0)
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
