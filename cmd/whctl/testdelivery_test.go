//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// TestTestDeliveryWithOpenBreaker checks that whctl subscriptions test does not wait for an
// endpoint to which no message is sent now, and prints the time of the next attempt.
func TestTestDeliveryWithOpenBreaker(t *testing.T) {
	unavailable := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	receiver := httptest.NewServer(http.HandlerFunc(unavailable))
	defer receiver.Close()
	service := daemontest.Start(t,
		"--webhooks-allow-targets", "127.0.0.0/8", "--webhooks-retry-schedule", "10h")
	subscription := subscribeWithOpenBreaker(t, service.URL, receiver.URL)

	wait := fmt.Sprint(2 * testTimeout)
	cmd := adminProcess(t, service.URL, "subscriptions", "test", "--wait", wait, subscription)
	out, err := cmd.CombinedOutput()
	code := exitOf(t, err)
	want := "test message queued, circuit breaker open; next attempt in "
	if code != 7 || !strings.Contains(string(out), want) {
		t.Errorf("whctl subscriptions test: got exit code %d and %q, want 7 and %q", code, out, want)
	}
}

// TestTestDeliveryBehindOthers checks that whctl subscriptions test names the messages that the test
// message waits for, since single messages are sent while the circuit breaker is open.
func TestTestDeliveryBehindOthers(t *testing.T) {
	unavailable := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	receiver := httptest.NewServer(http.HandlerFunc(unavailable))
	defer receiver.Close()
	service := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8",
		"--webhooks-retry-schedule", strings.TrimSuffix(strings.Repeat("1s,", 50), ","))
	subscription := subscribeWithOpenBreaker(t, service.URL, receiver.URL)
	publish := adminProcess(t, service.URL, "events", "publish", "debtor.updated", "--body", "{}")
	if out, err := publish.CombinedOutput(); err != nil {
		t.Fatalf("whctl events publish: %v: %s", err, out)
	}

	cmd := adminProcess(t, service.URL, "subscriptions", "test", "--wait", "2s", subscription)
	out, _ := cmd.CombinedOutput()
	want := regexp.MustCompile(`not sent within 2s; circuit breaker open; next attempt .*, with one message at a time: ` +
		`the test message waits for its turn among [0-9]+ other messages; show its state`)
	if !want.Match(out) {
		t.Errorf("whctl subscriptions test: got %q, want %s", out, want)
	}
}

// subscribeWithOpenBreaker creates a subscription to a receiver that fails, and publishes events
// until its circuit breaker is open. It returns the ID of the subscription.
func subscribeWithOpenBreaker(t *testing.T, service, receiver string) (subscription string) {
	t.Helper()
	admin, err := client.New(client.Options{
		URL:      service,
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
	created, err := admin.AddSubscription(t.Context(), shop.RecID, wire.SubscriptionRequest{
		URL:       &receiver,
		EventName: new("debtor.updated"),
	})
	if err != nil {
		t.Fatal(err)
	}

	deadline := time.Now().Add(testTimeout)
	for {
		if _, err := admin.PublishEvent(t.Context(), "debtor.updated", "{}"); err != nil {
			t.Fatal(err)
		}
		stats, err := admin.Stats(t.Context(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if stats.InHand.OpenBreakers == 1 {
			return created.RecID
		}
		if time.Now().After(deadline) {
			t.Fatalf("the circuit breaker does not open within %s", testTimeout)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
