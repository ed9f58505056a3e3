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

// A subscription whose endpoint has only failed for as long as the settings say
// is disabled; those who subscribe to that hear of it.
func TestNothingButFailuresDisable(t *testing.T) {
	inBubble(t, func(x *trial) {
		var err error
		if x.policy.Schedule, err = webhook.ParseSchedule("5s,30s,2m,10m,30m,1h,3h,6h,12h"); err != nil {
			t.Fatal(err)
		}
		x.policy.DisableAfter = 48 * time.Hour
		dead := x.subscribe("https://dead.example/", "debtor.*")
		x.subscribe("https://watch.example/", "webhooks.*")
		var told []string
		x.postman.answers(func(_ int, m *webhook.Message) int {
			if m.URL == dead.URL {
				return 404
			}
			told = append(told, string(m.Event.Body))
			return 200
		})
		for range 60 { // an event an hour
			x.publish("debtor.updated", "x")
			x.pass(time.Hour)
		}
		x.expect("SY_WebhookSubscription WHERE IsEnabled = 0 AND URL = 'https://dead.example/' AND DisabledReason LIKE 'every attempt since %'", 1)
		x.expect("SY_WebhookSubscription WHERE IsEnabled = 1", 1)
		if len(told) != 1 {
			t.Fatalf("told %q, want one event", told)
		}
		var body struct{ SubscriptionID, EventName, Reason string }
		if err := json.Unmarshal([]byte(told[0]), &body); err != nil || body.SubscriptionID != dead.GUID || body.EventName != "debtor.*" || body.Reason == "" {
			t.Errorf("told %s (%v)", told[0], err)
		}
		if strings.Contains(told[0], x.subject) || strings.Contains(told[0], "dead.example") {
			t.Errorf("%s gives away what opens something", told[0])
		}
		x.postman.answers(func(int, *webhook.Message) int { return 200 })
		yes := true
		if _, err := x.desk.ChangeSubscription(context.Background(), x.subject, dead.GUID, admin.SubscriptionChange{Enabled: &yes}, true); err != nil {
			t.Fatal(err)
		}
		x.expect("SY_WebhookSubscription WHERE FailingSince IS NOT NULL", 0)
		x.pass(24 * time.Hour) // what had waited goes out
	})
}

// One success begins the time anew, also across a restart of the service.
func TestASuccessBeginsAnew(t *testing.T) {
	inBubble(t, func(x *trial) {
		x.policy.Schedule = []time.Duration{time.Minute}
		x.policy.DisableAfter = 10 * time.Hour
		x.subscribe("https://shop.example/", "debtor.*")
		hours := 0
		x.postman.answers(func(int, *webhook.Message) int {
			if hours == 9 {
				return 200
			}
			return 500
		})
		for range 18 {
			if hours == 5 {
				x.stop(patience)
				x.begin()
			}
			x.publish("debtor.updated", "x")
			x.pass(time.Hour)
			hours++
		}
		x.expect("SY_WebhookSubscription WHERE IsEnabled = 1 AND FailingSince IS NOT NULL", 1)
		for range 5 {
			x.publish("debtor.updated", "x")
			x.pass(time.Hour)
		}
		x.expect("SY_WebhookSubscription WHERE IsEnabled = 0", 1)
		x.policy.DisableAfter = 0
		x.postman.answers(func(int, *webhook.Message) int { return 200 })
		x.exec("UPDATE SY_WebhookSubscription SET IsEnabled = 1; UPDATE WH_Number SET Next = Next + 1 WHERE Name = 'SubscriptionVersion'")
		x.engine.Changed()
		x.pass(24 * time.Hour)
	})
}
