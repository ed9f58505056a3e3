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
	var queues ui.Queues
	for i, step := range []struct {
		queue, subscription, subscriber bool // enabled
		want                            bool
	}{
		{true, true, true, false},
		{false, true, true, true},
		{false, true, true, false}, // reported before
		{false, false, true, false},
		{true, false, true, true},
		{true, true, true, false},
		{false, true, false, false},
		{true, true, false, true},
	} {
		stats := wire.Stats{Queues: []wire.Queue{{SubscriptionID: "S", IsEnabled: step.queue}}}
		queues.Update(&stats, time.Now())
		subscriber := wire.Subscriber{RecID: "W", IsEnabled: step.subscriber}
		subscription := wire.Subscription{RecID: "S", IsEnabled: step.subscription}
		if got := queues.EnabledChanged(subscriber, subscription); got != step.want {
			t.Errorf("step %d (%+v): reported %v, want %v", i+1, step, got, step.want)
		}
	}
}
