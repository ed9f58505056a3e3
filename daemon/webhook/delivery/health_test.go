package delivery_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// TestPersistentFailureDisables checks that a subscription with an endpoint that has only
// failed for the configured time is disabled, and that an event reports this.
func TestPersistentFailureDisables(t *testing.T) {
	simulate(t, func(x *simulation) {
		schedule, err := webhook.ParseSchedule("5s,30s,2m,10m,30m,1h,3h,6h,12h")
		if err != nil {
			t.Fatal(err)
		}
		x.policy.Schedule = schedule
		x.policy.DisableAfter = 48 * time.Hour
		x.restartWithRules()
		dead := x.subscribe("https://dead.example/", "debtor.*")
		x.subscribe("https://watch.example/", "webhooks.subscription.disabled", byAdmin)
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
		x.expect(`SY_WebhookSubscription WHERE IsEnabled = 0 AND URL = 'https://dead.example/'
			AND DisabledReason LIKE 'every attempt since %'`, 1)
		x.expect("SY_WebhookSubscription WHERE IsEnabled = 1", 1)
		if len(notices) != 1 {
			t.Fatalf("received %q, want one event", notices)
		}
		var body struct{ SubscriptionID, EventName, Reason string }
		if err := json.Unmarshal([]byte(notices[0]), &body); err != nil {
			t.Fatalf("received %s: %v", notices[0], err)
		}
		if body.SubscriptionID != dead.GUID || body.EventName != "debtor.*" || body.Reason == "" {
			t.Errorf("received %s, want the subscription %s of debtor.* and a reason", notices[0], dead.GUID)
		}
		for _, credential := range []string{x.subscriber, "dead.example"} {
			if strings.Contains(notices[0], credential) {
				t.Errorf("received %s with the credential %s", notices[0], credential)
			}
		}
		x.fakeSender.setStatus(func(int, *webhook.Message) int { return 200 })
		x.changeSubscription(dead, admin.SubscriptionChange{Enabled: new(true)})
		x.expect("SY_WebhookSubscription WHERE FailingSince IS NOT NULL", 0)
		x.advance(24 * time.Hour) // delivers the queued messages
	})
}

// TestSuccessResetsFailingSince checks that a success resets the start of the failures, also
// across a restart of the service.
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
		x.exec(`UPDATE SY_WebhookSubscription SET IsEnabled = 1;
			UPDATE WH_Number SET Next = Next + 1 WHERE Name = 'SubscriptionVersion'`)
		x.engine.NotifyChanged()
		x.advance(24 * time.Hour)
	})
}
