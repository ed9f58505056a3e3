package messages_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// A late message shows the reason.
func TestLateMessageShowsReason(t *testing.T) {
	s := tuitest.StartReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	id := s.Subscribe(t, "debtor.updated", s.Receiver+"/erp")
	for range 5 {
		s.Publish(t, "debtor.updated", `{"DebtorID":"C0"}`, 2)
	}
	d := s.Open(t, tui.Options{})
	d.Press("4")
	d.WantText("  in ")
	d.App.Session.Queues = ui.Queues{} // statistics fetched by the first screen
	d.Clock = d.Clock.Add(30 * time.Hour)
	d.Press("R")
	d.WantText("due")
	d.Heartbeat()
	d.Advance(0)
	d.WantText("breaker")
	d.Press("enter")
	d.WantText("[breaker]", "circuit breaker open; next attempt now")

	off := false
	if _, err := s.Client.UpdateSubscription(t.Context(), s.Subscriber, id, wire.SubscriptionRequest{IsEnabled: &off}); err != nil {
		t.Fatal(err)
	}
	d.Clock = d.Clock.Add(ui.QueuesInterval)
	d.Advance(0)
	d.WantText("[disabled]", "not sent: the subscription is disabled")

	on := true
	if _, err := s.Client.UpdateSubscription(t.Context(), s.Subscriber, id, wire.SubscriptionRequest{IsEnabled: &on}); err != nil {
		t.Fatal(err)
	}
	d.Clock = d.Clock.Add(ui.QueuesInterval)
	d.Advance(0)
	d.WantText("[breaker]")
}
