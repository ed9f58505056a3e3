package delivery_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// TestMessageIDsFollowEventID checks that the IDs of an event's messages directly follow the ID of
// the event. Pages of the messages of an event rely on it: they search events by ID, in the order
// of which their messages are. The events are from two daemons, some with more messages than are
// left of a block of IDs, and from writes that fail or have an unknown result.
func TestMessageIDsFollowEventID(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.stop(testTimeout)
		x.term = time.Minute
		x.startEngine()
		patterns := []string{"*", "debtor.*", "debtor.updated"}
		for i := range 7 {
			x.subscribe(fmt.Sprintf("https://shop.example/%d", i), patterns[i%len(patterns)])
		}
		second := x.startPeer()
		defer second.stop(testTimeout)
		x.advance(5 * time.Second)

		names := []string{"debtor.updated", "creditor.created", "debtor.created"}
		publish := func(daemon *simulation, n int) {
			daemon.publishMany(n, func(i int) delivery.Post {
				return delivery.Post{Name: names[i%len(names)], Body: []byte("x")}
			})
		}
		const perDaemon = 1500 // with their messages, more than one block of IDs
		publish(x, perDaemon)
		publish(second, perDaemon)

		x.faultyStore.SetRule(deliverytest.FailAfter(deliverytest.Unavailable("lost")), deliverytest.Write)
		x.publishRefused(5)
		x.faultyStore.SetRule(nil, deliverytest.Write)
		x.advance(time.Minute)
		publish(x, 100)
		x.advance(time.Minute)

		if n := x.count("WH_Event"); n < 2*perDaemon {
			t.Errorf("%d events have messages, want at least %d", n, 2*perDaemon)
		}
		x.expect("WH_Number WHERE Name = 'ID' AND Next > 3 * 4096", 1) // several blocks were used
		const apart = `(SELECT m.EventID FROM SY_WebhookMessage m GROUP BY m.EventID
	HAVING MIN(m.ID) <> m.EventID + 1 OR MAX(m.ID) <> m.EventID + COUNT(*))`
		if n := x.count(apart); n != 0 {
			t.Errorf("the messages of %d events have IDs that do not follow that of the event, want none", n)
		}
	})
}
