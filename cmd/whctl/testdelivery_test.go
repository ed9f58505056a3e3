//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest"
)

// TestTestDeliveryWithOpenBreaker checks that whctl subscriptions test does not wait for an
// endpoint to which no message is sent now, and prints the time of the next attempt.
func TestTestDeliveryWithOpenBreaker(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	defer receiver.Close()
	service := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8", "--webhooks-retry-schedule", "10h")
	admin, err := client.New(client.Options{
		URL:      service.URL,
		User:     "admin",
		Password: daemontest.AdminPassword,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	shop, err := admin.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: new("Shop")})
	if err != nil {
		t.Fatal(err)
	}
	sub, err := admin.AddSubscription(t.Context(), shop.RecID, wire.SubscriptionRequest{
		URL:       &receiver.URL,
		EventName: new("debtor.updated"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(testTimeout); ; {
		if _, err := admin.RaiseEvent(t.Context(), "debtor.updated", "{}"); err != nil {
			t.Fatal(err)
		}
		stats, err := admin.Stats(t.Context(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if stats.InHand.OpenBreakers == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the circuit breaker does not open")
		}
		time.Sleep(10 * time.Millisecond)
	}

	cmd := process(t, service.URL, "subscriptions", "test", "--wait", fmt.Sprint(2*testTimeout), sub.RecID)
	cmd.Env = append(cmd.Env, profile.EnvUser+"=admin", profile.EnvPassword+"="+daemontest.AdminPassword)
	out, err := cmd.CombinedOutput()
	if code := exitOf(t, err); code != 7 || !strings.Contains(string(out), "test message queued, circuit breaker open; next attempt in ") {
		t.Errorf("got exit code %d, want 7 and the next attempt\n%s", code, out)
	}
}
