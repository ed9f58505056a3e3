package ui_test

import (
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// A queue with another enabled state than its subscription is reported once, because
// the statistics can be outdated.
func TestEnabledChangedIsReportedOnce(t *testing.T) {
	subscriber := wire.Subscriber{RecID: "W", IsEnabled: true}
	on, off := wire.Subscription{RecID: "S", IsEnabled: true}, wire.Subscription{RecID: "S"}
	var l ui.Queues
	for i, step := range []struct {
		queue bool
		one   wire.Subscription
		of    wire.Subscriber
		want  bool
	}{
		{true, on, subscriber, false},
		{false, on, subscriber, true},
		{false, on, subscriber, false},
		{false, off, subscriber, false},
		{true, off, subscriber, true},
		{true, on, subscriber, false},
		{false, on, wire.Subscriber{RecID: "W"}, false},
		{true, on, wire.Subscriber{RecID: "W"}, true},
	} {
		l.Update(&wire.Stats{Queues: []wire.Queue{{SubscriptionID: "S", IsEnabled: step.queue}}}, time.Now())
		if got := l.EnabledChanged(step.of, step.one); got != step.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
}
