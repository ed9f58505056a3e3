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
	s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusServiceUnavailable))
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
	d.WantText("paused")
	d.Press("enter")
	d.WantText("[paused]", "due             paused after failures")

	enable := func(on bool) {
		t.Helper()
		request := wire.SubscriptionRequest{IsEnabled: &on}
		if _, err := s.Client.UpdateSubscription(t.Context(), s.Subscriber, id, request); err != nil {
			t.Fatal(err)
		}
	}
	enable(false)
	d.Clock = d.Clock.Add(ui.QueuesInterval)
	d.Advance(0)
	d.WantText("[disabled]", "not sent: the subscription is disabled")

	enable(true)
	d.Clock = d.Clock.Add(ui.QueuesInterval)
	d.Advance(0)
	d.WantText("[paused]")
}

// The list and the screen of a message show that its queue holds its event.
func TestHeldEventIsShown(t *testing.T) {
	s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusServiceUnavailable))
	id := s.Subscribe(t, "debtor.updated", s.Receiver+"/erp")
	s.Publish(t, "debtor.updated", `{"DebtorID":"C0"}`, ui.StatusRetrying)
	d := s.Open(t, tui.Options{})
	d.Press("4")
	d.WantText("  in ")
	d.App.Session.Queues.Known = map[string]wire.Queue{
		id: {SubscriptionID: id, IsEnabled: true, HeldEvents: []string{"debtor.updated"}},
	}
	d.Press("j")
	d.WantText("held")
	d.Press("enter")
	d.WantText("[held]", "held: the owner may not read the record")
}

// The list and the screen of a message show that the rate limit of its subscription delays it.
func TestRateLimitIsShown(t *testing.T) {
	d, id := openLateRetry(t)
	until := d.Clock.Add(3500 * time.Millisecond)
	d.App.Session.Queues.Known = map[string]wire.Queue{
		id: {SubscriptionID: id, IsEnabled: true, RateUntilDateTime: wire.Timestamp(until)},
	}
	d.Press("j")
	d.WantText("  rate limit  ", "rate limit, next in 3s")
	d.Press("enter")
	d.WantText("[rate limit]", "delayed by the rate limit")
}

// The list and the screen of a message show that its endpoint requested a wait.
func TestRequestedWaitIsShown(t *testing.T) {
	d, id := openLateRetry(t)
	until := d.Clock.Add(10 * time.Minute)
	d.App.Session.Queues.Known = map[string]wire.Queue{
		id: {SubscriptionID: id, IsEnabled: true, WaitUntilDateTime: wire.Timestamp(until)},
	}
	d.Press("j")
	d.WantText("waiting")
	d.Press("enter")
	d.WantText("[waiting]", " to wait until ")
}

// openLateRetry opens the list of messages with one of which the retry is late, and returns the ID of
// its subscription.
func openLateRetry(t *testing.T) (*tuitest.Driver, string) {
	t.Helper()
	s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusServiceUnavailable))
	id := s.Subscribe(t, "debtor.updated", s.Receiver+"/erp")
	s.Publish(t, "debtor.updated", `{"DebtorID":"C0"}`, ui.StatusRetrying)
	d := s.Open(t, tui.Options{})
	d.Press("4")
	d.WantText("  in ")
	d.Clock = d.Clock.Add(30 * time.Hour) // the retry is late
	return d, id
}
