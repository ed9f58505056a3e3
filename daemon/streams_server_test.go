package daemon_test

import (
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// TestStreamsOfTwoDaemons checks that a live stream at one daemon shows messages that the
// other one sends. Until the other one has polled the store, it does not publish changes
// for the stream: then a reset reports that some were left out.
func TestStreamsOfTwoDaemons(t *testing.T) {
	x := startPair(t)
	ctx := t.Context()
	to, got := receiver(t, 200)
	x.subscribe(t, 0, wire.SubscriptionRequest{URL: &to, EventName: pointer("debtor.*")})
	for n, here := range x.admin {
		published := false
		for e, err := range here.Stream(ctx, client.StreamOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			_, connected := e.(client.HeartbeatEvent)
			_, leftOut := e.(client.ResetEvent)
			isFirst := connected && !published
			if isFirst || leftOut {
				published = true
				x.publish(t, 1-n, "debtor.updated", "at the other", 1)
				await(t, got)
			}
			if m, ok := e.(client.MessageEvent); ok && m.Status == 1 {
				t.Logf("the stream of daemon %d shows the result of a message of daemon %d", n, 1-n)
				break
			}
		}
	}
}
