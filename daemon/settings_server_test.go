package daemon_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

const inForce = "settings of the service are in force"

// TestDaemonsShareSettings: of two daemons on one server each goes by what is
// changed at the other, one that was there before the tables as well.
func TestDaemonsShareSettings(t *testing.T) {
	o := newOnServer(t)
	early := daemontest.Start(t, "--store", o.dsn)
	early.Log.Await(t, "nobody can sign in yet")
	here := daemontest.Start(t, "--store", o.dsn, "--migrate")
	early.Log.Await(t, "the daemon's own tables are up to date now")
	ctx := t.Context()
	at := make(map[*daemontest.Instance]*client.Client)
	for _, i := range []*daemontest.Instance{early, here} {
		at[i] = signedIn(t, i)
	}
	if _, err := at[here].ChangeSettings(ctx, map[string]any{"query.max_take": 5, "webhooks.retry_schedule": "1s,2s"}); err != nil {
		t.Fatal(err)
	}
	early.Log.Await(t, inForce, "query.max_take", "webhooks.retry_schedule")
	expectSetting(t, at[early], "query.max_take", "5", "the service")
	page, err := at[early].Info(ctx)
	if err != nil || page.Limits.MaxTake != 5 {
		t.Errorf("%+v (%v)", page, err)
	}
	if _, err := at[early].ChangeSettings(ctx, map[string]any{"query.max_take": nil}); err != nil {
		t.Fatal(err)
	}
	expectSetting(t, at[early], "query.max_take", "0", "default")
	here.Log.Await(t, inForce, `changed=query.max_take`)
	expectSetting(t, at[here], "query.max_take", "0", "default")
	expectSetting(t, at[here], "webhooks.retry_schedule", "1s,2s", "the service")

	later := daemontest.Start(t, "--store", o.dsn, "--webhooks-retry-schedule", "9s")
	expectSetting(t, signedIn(t, later), "webhooks.retry_schedule", "9s", "flag --webhooks-retry-schedule")
	changeAtOnce(t, at[early], at[here])
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

func expectSetting(t *testing.T, c *client.Client, name, value, origin string) {
	t.Helper()
	all, err := c.Settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s := named(all, name); s.Value != value || s.Origin != origin {
		t.Errorf("%+v, want %s of %s", s, value, origin)
	}
}

func named(all []wire.Setting, name string) wire.Setting {
	for _, s := range all {
		if s.Name == name {
			return s
		}
	}
	return wire.Setting{}
}

// changeAtOnce: what several daemons change at once are all in the store, since
// none writes on the ground of what another has changed meanwhile.
func changeAtOnce(t *testing.T, clients ...*client.Client) {
	t.Helper()
	names := []string{"requestlog.days", "query.max_take"}
	var all sync.WaitGroup
	for n, c := range clients {
		all.Go(func() {
			for i := range 5 {
				_, err := c.ChangeSettings(context.Background(), map[string]any{names[n]: 10 + i})
				if e, is := errors.AsType[*client.Error](err); err != nil && (!is || e.Status != http.StatusConflict) {
					t.Error(err)
				}
			}
			if _, err := c.ChangeSettings(context.Background(), map[string]any{names[n]: 20}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, name := range names {
		if _, err := clients[0].ChangeSettings(t.Context(), map[string]any{"query.timeout": "31s"}); err != nil { // which reads what the other has done
			t.Fatal(err)
		}
		expectSetting(t, clients[0], name, "20", "the service")
	}
}
