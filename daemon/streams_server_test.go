package daemon_test

import (
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// TestStreamsOfTwoDaemons: a live stream at either of two daemons shows what
// becomes of messages that the other one sends. The other one may not have heard
// yet that a client reads: then a reset says that changes were left out.
func TestStreamsOfTwoDaemons(t *testing.T) {
	x := startTwins(t)
	ctx := t.Context()
	to, got := receiver(t, 200)
	x.subscribe(t, 0, wire.SubscriptionRequest{URL: &to, EventName: pointer("debtor.*")})
	for n, here := range x.admin {
		raised := false
		for e, err := range here.Stream(ctx, client.StreamOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			_, begins := e.(client.HeartbeatEvent)
			_, leftOut := e.(client.ResetEvent)
			if begins && !raised || leftOut {
				raised = true
				x.raise(t, 1-n, "debtor.updated", "at the other", 1)
				await(t, got)
			}
			if m, is := e.(client.MessageEvent); is && m.Status == 1 {
				t.Logf("the stream of daemon %d shows what became of a message of daemon %d", n, 1-n)
				break
			}
		}
	}
}
