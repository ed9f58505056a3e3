package messages_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// A retry of many messages requires their number to be typed.
func TestRetryManyRequiresTypedCount(t *testing.T) {
	s := startFailures(t, 30)
	d := s.Open(t, tui.Options{})
	d.Press("4", "!", "a", "r")
	d.WantText("Retry 30 failed messages?", "type 30, then enter to retry 30")
	d.Press("y", "enter")
	d.WantText("that is not 30")
	d.Press("backspace", "'30", "enter")
	d.WantText("30 messages are due now")
}

// The outcome of a retry of many messages is shown when all of them have been sent again, and
// those that failed again stay marked. Its numbers add up to that of the question.
func TestRetryManyShowsOutcome(t *testing.T) {
	const (
		down     = iota
		recovers // accepts D1, D10 and D11, and fails otherwise for D2
		healthy
	)
	var state atomic.Int64
	s := tuitest.StartReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		now := state.Load()
		isAccepted := now == recovers && strings.Contains(string(body), `"D1`)
		switch {
		case now == healthy, isAccepted:
			return
		case now == recovers && strings.Contains(string(body), `"D2"`):
			w.WriteHeader(http.StatusTeapot)
		default:
			w.Header().Set("webhook-delivery", "abort-message")
			w.WriteHeader(http.StatusBadRequest)
		}
	})
	s.Subscribe(t, "salesorder.created", s.Receiver+"/down")
	for i := range 12 {
		s.Publish(t, "salesorder.created", fmt.Sprintf(`{"InvoiceNo":"D%d"}`, i), ui.StatusFailed)
	}

	state.Store(recovers)
	d := s.Open(t, tui.Options{})
	d.Press("4", "!", "a", "r")
	d.WantText("Retry 12 failed messages?")
	d.Press("y")
	d.WantText("12 messages are due now", "▌● ")
	waitForOutcome(d, "12 retried: 3 delivered, 9 failed again (8 x 400, 1 x 418)")
	d.Wait(20 * time.Second)
	d.WantText("9 marked", "of 9")
	d.Press("r")
	d.WantText("Retry 9 messages?", "8 ")
	text := d.Text()
	if !strings.Contains(text, "last 400") && !strings.Contains(text, "last 418") { // in the order of the attempts
		t.Errorf("the confirmation shows no last result, want 400 or 418:\n%s", text)
	}

	state.Store(healthy)
	d.Press("esc", "u", "enter", "r", "y")
	waitForOutcome(d, "1 retried: 1 delivered")
}

// waitForOutcome waits until the final outcome of a retry is shown.
func waitForOutcome(d *tuitest.Driver, outcome string) {
	d.T.Helper()
	d.WaitUntil("the outcome is shown", func() bool {
		d.Wait(3 * time.Second) // requests the results, and shows them
		d.Heartbeat()
		return strings.Contains(d.Text(), outcome) && !strings.Contains(d.Text(), outcome+" ...")
	})
}

// startFailures runs a daemon with one subscription and as many messages that
// have failed.
func startFailures(t *testing.T, count int) *tuitest.Deliveries {
	t.Helper()
	s := tuitest.StartReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("webhook-delivery", "abort-message")
		w.WriteHeader(http.StatusBadRequest)
	})
	s.Failing = s.Subscribe(t, "salesorder.created", s.Receiver+"/down")
	for i := range count {
		s.Publish(t, "salesorder.created", fmt.Sprintf(`{"InvoiceNo":"D%d"}`, i), 3)
	}
	return s
}

// A confirmation applies to the messages marked when the count was requested, and is
// not opened after the list was left.
func TestConfirmationKeepsMarkedSet(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4", "!", "a")
	m := d.App.Front().(*messages.List)
	count := m.Act(keymap.Delete)()
	d.Press("F", "a")
	d.Send(count)
	d.WantText("Delete 4 messages?")
	d.Press("y")
	d.Wait(2 * ui.UndoDelay)
	if n := s.MessageCount(t); n != 4 {
		t.Errorf("%d messages are left, want 4", n)
	}

	// The list is left before the response.
	d.Press("a")
	count = m.Act(keymap.Delete)()
	d.Press("1")
	d.Send(count)
	if d.App.Overlay() != nil {
		t.Errorf("a %T is open on another screen, want no confirmation:\n%s", d.App.Overlay(), d.Text())
	}
	d.Press("n", "y")
}

// The result of a bulk action is shown after its screen was left.
func TestBulkResultIsShownOnOtherScreen(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("!", "a", "D", "y", "esc", "esc", "4")
	d.WantText(" Messages ─", "of 8")
	d.Wait(ui.UndoDelay + 500*time.Millisecond)
	d.WantText("4 messages deleted")
}

// Enter does not confirm a delete, and a y immediately after the dialog opens is
// ignored.
func TestDeleteRequiresY(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4", "D")
	d.WantText("Delete this message?")
	d.Press("enter")
	if d.App.Overlay() != nil {
		t.Errorf("after enter, a %T is open, want none", d.App.Overlay())
	}

	d.Press("D")
	d.Clock = d.Clock.Add(-500 * time.Millisecond) // the next key is 0 ms behind
	d.Press("y")
	d.WantText("Delete this message?", "8")
	d.Press("y")
	d.WantText("in "+ui.Age(ui.UndoDelay), "U undo")
	d.Advance(ui.UndoDelay)
	d.WantText("done")
	d.WaitUntil("the message is deleted", func() bool {
		page, err := s.Client.AllMessages(t.Context(), nil)
		return err == nil && page.Total == 7
	})
}

// A retried message is updated in the list, and the result of the attempt is shown.
func TestRetryUpdatesList(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.WantText("127.0.0.1", "Failures")
	d.Press("!")
	d.WantText("[failed or retrying]", "retrying", "failed")
	d.Press("r")
	d.WantText("Retry this message?")
	d.Press("y")
	waitForOutcome(d, "1 retried: failed again (400 Bad Request)")
	d.WaitUntil("the list has the attempt", func() bool {
		d.Heartbeat()
		return strings.Contains(d.Text(), "2/3")
	})
	d.WantNoText(" marked")
}
