package delivery_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// A subscription with an endpoint that has only failed for the configured time is disabled,
// and an event reports this.
func TestPersistentFailureDisables(t *testing.T) {
	simulate(t, func(x *simulation) {
		var err error
		if x.policy.Schedule, err = webhook.ParseSchedule("5s,30s,2m,10m,30m,1h,3h,6h,12h"); err != nil {
			t.Fatal(err)
		}
		x.policy.DisableAfter = 48 * time.Hour
		dead := x.subscribe("https://dead.example/", "debtor.*")
		x.subscribe("https://watch.example/", "webhooks.*")
		var notices []string
		x.fakeSender.setStatus(func(_ int, m *webhook.Message) int {
			if m.URL == dead.URL {
				return 404
			}
			notices = append(notices, string(m.Event.Body))
			return 200
		})
		for range 60 { // an event an hour
			x.publish("debtor.updated", "x")
			x.advance(time.Hour)
		}
		x.expect("SY_WebhookSubscription WHERE IsEnabled = 0 AND URL = 'https://dead.example/' AND DisabledReason LIKE 'every attempt since %'", 1)
		x.expect("SY_WebhookSubscription WHERE IsEnabled = 1", 1)
		if len(notices) != 1 {
			t.Fatalf("received %q, want one event", notices)
		}
		var body struct{ SubscriptionID, EventName, Reason string }
		if err := json.Unmarshal([]byte(notices[0]), &body); err != nil || body.SubscriptionID != dead.GUID || body.EventName != "debtor.*" || body.Reason == "" {
			t.Errorf("received %s (%v)", notices[0], err)
		}
		if strings.Contains(notices[0], x.subscriber) || strings.Contains(notices[0], "dead.example") {
			t.Errorf("%s contains credentials", notices[0])
		}
		x.fakeSender.setStatus(func(int, *webhook.Message) int { return 200 })
		yes := true
		if _, err := x.service.ChangeSubscription(context.Background(), x.subscriber, dead.GUID, admin.SubscriptionChange{Enabled: &yes}, admin.Caller{Admin: true}); err != nil {
			t.Fatal(err)
		}
		x.expect("SY_WebhookSubscription WHERE FailingSince IS NOT NULL", 0)
		x.advance(24 * time.Hour) // delivers the queued messages
	})
}

// A success resets the start of the failures, also across a restart of the service.
func TestSuccessResetsFailingSince(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.policy.Schedule = []time.Duration{time.Minute}
		x.policy.DisableAfter = 10 * time.Hour
		x.subscribe("https://shop.example/", "debtor.*")
		hours := 0
		x.fakeSender.setStatus(func(int, *webhook.Message) int {
			if hours == 9 {
				return 200
			}
			return 500
		})
		for range 18 {
			if hours == 5 {
				x.stop(testTimeout)
				x.startEngine()
			}
			x.publish("debtor.updated", "x")
			x.advance(time.Hour)
			hours++
		}
		x.expect("SY_WebhookSubscription WHERE IsEnabled = 1 AND FailingSince IS NOT NULL", 1)
		for range 5 {
			x.publish("debtor.updated", "x")
			x.advance(time.Hour)
		}
		x.expect("SY_WebhookSubscription WHERE IsEnabled = 0", 1)
		x.policy.DisableAfter = 0
		x.fakeSender.setStatus(func(int, *webhook.Message) int { return 200 })
		x.exec("UPDATE SY_WebhookSubscription SET IsEnabled = 1; UPDATE WH_Number SET Next = Next + 1 WHERE Name = 'SubscriptionVersion'")
		x.engine.NotifyChanged()
		x.advance(24 * time.Hour)
	})
}
