package delivery_test

import (
	"context"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// A subscription becomes ordered while several of its messages are under way,
// all of which fail: none is forgotten, and they follow one after another.
func TestOrderedWhileSeveralAreUnderWay(t *testing.T) {
	inBubble(t, func(x *trial) {
		gate := make(chan struct{})
		sub := x.subscribe("https://shop.example/", "debtor.*")
		x.pass(time.Second)
		x.postman.answers(func(n int, _ *webhook.Message) int {
			if n > 1 {
				return 200
			}
			<-gate
			return 500
		})
		for _, body := range []string{"1", "2", "3"} {
			x.publish("debtor.updated", body)
		}
		x.pass(time.Second)
		yes := true
		if _, err := x.desk.ChangeSubscription(context.Background(), x.subject, sub.GUID, admin.SubscriptionChange{Ordered: &yes}, true); err != nil {
			t.Fatal(err)
		}
		x.pass(time.Second)
		close(gate)
		x.pass(time.Hour)
		x.expect("SY_WebhookMessage WHERE Status = 1", 3)
	})
}
