package daemon_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// TestDemoActivity starts the demo as `make run` does, with shorter sweeps, and waits for the event of the first stock
// take that the demo adds by itself.
func TestDemoActivity(t *testing.T) {
	t.Parallel()
	i := daemontest.Start(t, "--demo", "--demo-activity", "--erp-kinds", "demo/kinds.toml",
		"--changes-sweep", "1s", "--webhooks-allow-targets", "127.0.0.0/8")
	admin := signedIn(t, i)
	shop, err := admin.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: pointer("Demo")})
	if err != nil {
		t.Fatal(err)
	}
	to, got := receiver(t, 200)
	sub, err := admin.AddSubscription(t.Context(), shop.RecID, wire.SubscriptionRequest{
		URL:       &to,
		EventName: pointer("stocktake.*"),
	})
	if err != nil {
		t.Fatal(err)
	}
	d := await(t, got)
	if d.header.Get("X-Event-Name") != "stocktake.created" ||
		!strings.Contains(d.body, `"KitStockTakeNo":"LIVE-`) ||
		!strings.HasPrefix(d.header.Get("Webhook-Signature"), "v1,") || sub.Secret == "" {
		t.Errorf("the first event is %+v", d)
	}
}
