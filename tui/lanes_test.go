package tui

import (
	"net/http"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// A message that does not go out at its time says why.
func TestLateMessagesSayWhy(t *testing.T) {
	s := startReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	id := s.subscribe(t, "debtor.updated", s.receiver+"/erp")
	for range 5 {
		s.raise(t, "debtor.updated", `{"DebtorID":"C0"}`, 2)
	}
	d := s.open(t, Options{})
	d.press("4")
	d.sees("  in ")
	d.app.Queues = ui.Queues{} // what the first screen was told
	d.clock = d.clock.Add(30 * time.Hour)
	d.press("R")
	d.sees("due")
	d.beat()
	d.send(tickMsg{})
	d.sees("held")
	d.press("enter")
	d.sees("next held", "held: the endpoint fails; tried again now")

	off := false
	if _, err := s.client.UpdateSubscription(t.Context(), s.subscriber, id, wire.SubscriptionRequest{IsEnabled: &off}); err != nil {
		t.Fatal(err)
	}
	d.clock = d.clock.Add(ui.QueuesInterval)
	d.send(tickMsg{})
	d.sees("next off", "not sent: the subscription is off")

	on := true
	if _, err := s.client.UpdateSubscription(t.Context(), s.subscriber, id, wire.SubscriptionRequest{IsEnabled: &on}); err != nil {
		t.Fatal(err)
	}
	d.clock = d.clock.Add(ui.QueuesInterval)
	d.send(tickMsg{})
	d.sees("next held")
}
