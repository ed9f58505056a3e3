package pages

import (
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// TestShareOfMessages checks the share on the start page: retried attempts are no failed messages.
func TestShareOfMessages(t *testing.T) {
	for _, c := range []struct {
		delivered, failed int64
		want              string
	}{
		{4550, 17, "99.6 %"},
		{99999, 1, "99.9 %"},
		{3, 0, "100 %"},
		{0, 2, "0 %"},
		{0, 0, ""},
	} {
		if got := share(c.delivered, c.failed); got != c.want {
			t.Errorf("%d delivered and %d failed: got %q, want %q", c.delivered, c.failed, got, c.want)
		}
	}
}

// TestTroubleBeyondTheStatistics checks that queues in trouble that the statistics leave out do not count as
// queues without trouble.
func TestTroubleBeyondTheStatistics(t *testing.T) {
	x := &edge.Context{Timing: edge.Timing{Start: time.Now()}}
	stats := wire.Stats{OtherQueues: 100, OtherTroubled: 60}
	for range 500 {
		stats.Queues = append(stats.Queues, wire.Queue{IsEnabled: true, Breaker: wire.BreakerOpen})
	}
	var b board
	b.addEndpoints(x, subscriptions{}, &stats)
	if len(b.Trouble) != maxTrouble || b.More != 554 || b.Fine != 40 {
		t.Errorf("%d are shown, %d more are in trouble, %d are fine, want 6, 554 and 40",
			len(b.Trouble), b.More, b.Fine)
	}
}
