package daemon_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

const guardedParcel = parcelKind + "[Guarded]\nsource = 'Parcels'\nkey = ['No']\nrole = 'writer'\nevents = 'debtor'\n[Guarded.fields]\nNo = 'int'\n"

// TestHeldByRole takes the role of a subscription's owner and returns it: the statistics
// show that the subscription is held.
func TestHeldByRole(t *testing.T) {
	t.Parallel()
	dir, kinds := t.TempDir(), t.TempDir()
	makeRecords(t, dir, parcelRows...)
	i := daemontest.StartIn(t, dir, "--webhooks-allow-targets", "127.0.0.0/8")
	admin := clientAs(t, i, "admin", daemontest.AdminPassword)
	ctx := t.Context()
	_, err := admin.AddUser(ctx, wire.UserRequest{
		UserName: "ann",
		Password: pointer("a password of hers"),
		Role:     pointer("writer"),
	})
	if err != nil {
		t.Fatal(err)
	}

	shop, err := admin.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}

	url, event := "http://127.0.0.1:9/", "debtor.updated"
	sub, err := clientAs(t, i, "ann", "a password of hers").AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
		URL:       &url,
		EventName: &event,
	})
	if err != nil {
		t.Fatal(err)
	}

	writeKinds(t, kinds, "guarded", strings.Replace(guardedParcel, "events =", "capture = 'asked'\nevents =", 1))
	i.Set(t, "erp.kinds", filepath.Join(kinds, "guarded.toml"))
	checkOf(t, dir, 0, "events", "warning", "debtor.updated is published for changes of Guarded and no longer posted; subscription "+sub.RecID+" of Shop, to debtor.updated, receives the change",
		"--erp-kinds", kinds)
	for _, step := range []struct {
		role string
		held int
	}{{"reader", 1}, {"writer", 0}} {
		if _, err := admin.UpdateUser(ctx, "ann", wire.UserRequest{Role: &step.role}); err != nil {
			t.Fatal(err)
		}
		tick := time.NewTicker(20 * time.Millisecond)
		deadline := time.Now().Add(2 * time.Minute)
		for {
			stats, err := admin.Stats(ctx, 0)
			if err != nil {
				t.Fatal(err)
			}
			if stats.Disabled == step.held {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("as %s, %d subscriptions are inactive, want %d", step.role, stats.Disabled, step.held)
			}
			<-tick.C
		}
		tick.Stop()
		all, err := admin.Subscriptions(ctx, shop.RecID)
		if err != nil || len(all) != 1 || !all[0].IsEnabled || (all[0].DisabledReason != "") != (step.held > 0) ||
			strings.Contains(all[0].DisabledReason, "Guarded") {
			t.Errorf("as %s: %+v, %v", step.role, all, err)
		}
	}
}

func clientAs(t *testing.T, i *daemontest.Instance, name, password string) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{URL: i.URL})
	if err == nil {
		_, err = c.Login(t.Context(), name, password)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
