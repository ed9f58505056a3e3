package delivery_test

import (
	"context"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// A subscription becomes ordered while several of its messages are in flight, all of
// which fail: they are all retried, one after another.
func TestBecomesOrderedWithAttemptsInFlight(t *testing.T) {
	simulate(t, func(x *simulation) {
		gate := make(chan struct{})
		sub := x.subscribe("https://shop.example/", "debtor.*")
		x.advance(time.Second)
		x.fakeSender.setStatus(func(n int, _ *webhook.Message) int {
			if n > 1 {
				return 200
			}
			<-gate
			return 500
		})
		for _, body := range []string{"1", "2", "3"} {
			x.publish("debtor.updated", body)
		}
		x.advance(time.Second)
		yes := true
		if _, err := x.service.ChangeSubscription(context.Background(), x.subscriber, sub.GUID, admin.SubscriptionChange{Ordered: &yes}, true); err != nil {
			t.Fatal(err)
		}
		x.advance(time.Second)
		close(gate)
		x.advance(time.Hour)
		x.expect("SY_WebhookMessage WHERE Status = 1", 3)
	})
}
