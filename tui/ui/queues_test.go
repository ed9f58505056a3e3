package ui_test

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// Statistics that are fetched because they are old are also those after a change: the next screen does
// not fetch them again.
func TestStatisticsAreFetchedOnceForAChange(t *testing.T) {
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	queues := &d.App.Session.Queues
	queues.Changed = true
	then := func() tea.Cmd { return nil }
	if queues.RefreshIfOld(d.App.Front(), then) == nil {
		t.Error("statistics that were never fetched are not old")
	}
	d.App.Session.Now = d.App.Session.Now.Add(ui.QueuesMinInterval)
	if queues.Refresh(d.App.Front(), then) != nil {
		t.Error("the statistics are fetched again, although nothing has changed since")
	}
}

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

// TestTroublesAgree checks that the tabs show the numbers of statistics as long as these are recent.
func TestTroublesAgree(t *testing.T) {
	var q ui.Queues
	now := time.Now()
	q.Announce(wire.Troubles{Endpoints: 3}, now)
	if q.Troubles.Endpoints != 3 {
		t.Errorf("before statistics, there are %d endpoints in trouble, want the announced 3", q.Troubles.Endpoints)
	}
	failing := wire.Queue{IsEnabled: true, Breaker: wire.BreakerOpen}
	q.Update(&wire.Stats{Queues: []wire.Queue{failing, failing}}, now)
	q.Announce(wire.Troubles{Endpoints: 3}, now.Add(time.Second))
	if q.Troubles.Endpoints != 2 {
		t.Errorf("a second after statistics with 2, there are %d endpoints in trouble", q.Troubles.Endpoints)
	}
	q.Announce(wire.Troubles{Endpoints: 4}, now.Add(ui.QueuesInterval))
	if q.Troubles.Endpoints != 4 {
		t.Errorf("after %v, there are %d endpoints in trouble, want the announced 4", ui.QueuesInterval, q.Troubles.Endpoints)
	}
}
