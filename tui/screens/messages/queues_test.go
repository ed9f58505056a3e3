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

// A message that does not go out at its time says why.
func TestLateMessagesSayWhy(t *testing.T) {
	s := tuitest.StartReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	id := s.Subscribe(t, "debtor.updated", s.Receiver+"/erp")
	for range 5 {
		s.Publish(t, "debtor.updated", `{"DebtorID":"C0"}`, 2)
	}
	d := s.Open(t, tui.Options{})
	d.Press("4")
	d.WantText("  in ")
	d.App.Queues = ui.Queues{} // what the first screen was told
	d.Clock = d.Clock.Add(30 * time.Hour)
	d.Press("R")
	d.WantText("due")
	d.Heartbeat()
	d.Advance(0)
	d.WantText("held")
	d.Press("enter")
	d.WantText("next held", "held: the endpoint fails; tried again now")

	off := false
	if _, err := s.Client.UpdateSubscription(t.Context(), s.Subscriber, id, wire.SubscriptionRequest{IsEnabled: &off}); err != nil {
		t.Fatal(err)
	}
	d.Clock = d.Clock.Add(ui.QueuesInterval)
	d.Advance(0)
	d.WantText("next off", "not sent: the subscription is off")

	on := true
	if _, err := s.Client.UpdateSubscription(t.Context(), s.Subscriber, id, wire.SubscriptionRequest{IsEnabled: &on}); err != nil {
		t.Fatal(err)
	}
	d.Clock = d.Clock.Add(ui.QueuesInterval)
	d.Advance(0)
	d.WantText("next held")
}
