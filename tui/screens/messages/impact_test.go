package messages_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// openQueued opens the screens of a service with a failed message of a disabled subscription, and
// three messages queued behind it.
func openQueued(t *testing.T) *tuitest.Driver {
	t.Helper()
	s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusServiceUnavailable))
	id := s.Subscribe(t, "debtor.updated", s.Receiver+"/erp")
	s.Publish(t, "debtor.updated", `{"DebtorID":"C0"}`, 2)
	disable := wire.SubscriptionRequest{IsEnabled: new(bool)}
	_, err := s.Client.UpdateSubscription(t.Context(), s.Subscriber, id, disable)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, err := s.Client.PublishEvent(t.Context(), "debtor.updated", `{}`)
		if err != nil {
			t.Fatal(err)
		}
	}
	return s.Open(t, tui.Options{})
}

// Messages queued behind a failing endpoint are counted in the list of problems, and
// listed by the next press of the key.
func TestProblemsCountQueuedMessages(t *testing.T) {
	d := openQueued(t)
	d.Press("!")
	d.WantText("[failed or retrying]", "1 of 1", "3 more queued: ! shows them")
	d.Press("!")
	d.WantText("[not delivered]", "of 4", "not sent")
	where := list(d).Marks.Exportable().Query.Where
	statuses := []string{"0", "2", "3"}
	if len(where) != 1 || !slices.Equal(where[0].Values, statuses) {
		t.Errorf("the exported query has the conditions %v, want one with the statuses %q", where, statuses)
	}
}

// A retry explains its effect on messages of a disabled subscription.
func TestRetryHintsOfDisabledSubscription(t *testing.T) {
	d := openQueued(t)
	d.Press("!", "!") // all that are not delivered: the first one is not sent
	d.Press("r")
	d.WantText("no attempt yet, not sent: the subscription is disabled")
	d.Press("!", "!", "r") // back to the failed one
	d.WantText("Retry this message?", "It is sent again when its subscription is enabled.")
	d.Press("esc")
	d.Press("a", "r") // all of them
	d.WantText("Those of disabled subscriptions wait until these are enabled.")
}

// The badges of the filter disappear with it.
func TestBadgesWithoutFilter(t *testing.T) {
	d := openQueued(t)
	d.Press("!")
	if badges := list(d).Badges(); len(badges) == 0 {
		t.Error("the list of problems has no badges, want that of its filter")
	}
	d.Press("!", "!") // all messages
	if badges := list(d).Badges(); len(badges) != 0 {
		t.Errorf("the list of all messages has the badges %q, want none", badges)
	}
}

// Queued messages are not counted with a condition: only the service could match them.
func TestQueuedMessagesAreNotCountedWithCondition(t *testing.T) {
	d := openQueued(t)
	d.Press("!")
	d.Press("/", "'EventName=debtor.updated", "enter")
	d.WantNoText("more queued")
}

// A delivered message is sent again after a confirmation, and so are delivered messages that are
// marked.
func TestSendDeliveredMessageAgain(t *testing.T) {
	d := tuitest.StartDeliveries(t).Open(t, tui.Options{})
	d.Press("4", "r")
	d.WantText("Send this delivered message again?", "A receiver that has kept its ID ignores it.")
	d.Press("y")
	d.WantText("the message is due now")
}

// All delivered messages of a filter can be sent again.
func TestSendDeliveredMessagesAgain(t *testing.T) {
	d := tuitest.StartDeliveries(t).Open(t, tui.Options{})
	d.Press("4", "/", "'Status=1", "enter", "a", "r")
	d.WantText("Retry 4 messages?", "Delivered messages keep their IDs")
	d.Press("y")
	d.WantText("4 messages are due now")
}

// The confirmation of a retry of all matches shows endpoints and skipped messages, and
// can include scheduled ones.
func TestRetryAllShowsImpact(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4", "a")
	d.WantText("8 marked: all matches", "▌● ✓ delivered", " ● ↻ retrying")
	d.Press("r")
	d.WantText("Retry 1 failed message?", "1  127.0.0.", "last 400",
		"3 more are already scheduled and skipped (press i to include them)",
		"4 messages are skipped: delivered or not sent")
	d.Press("i")
	d.WantText("Retry 4 messages?", "3  127.0.0.", "last 503",
		"3 of them are already scheduled and will be sent now (i skips")
	d.Press("i")
	d.WantText("Retry 1 failed message?")
	d.Press("y")
	d.WantText("1 message is due now  ")
	d.Press("!", "j", "a", "space")
	d.WaitUntil("the number of marks is shown after the outcome of the retry", func() bool {
		d.Wait(10 * ui.UndoDelay)
		return strings.Contains(d.Text(), "3 marked  ")
	})
}

// A count in flight is shown and can be cancelled; no confirmation is opened then.
func TestCountIsCancelled(t *testing.T) {
	d := tuitest.StartDeliveries(t).Open(t, tui.Options{})
	d.Press("4", "a")
	count := list(d).Act(keymap.Retry)
	d.WantText("counting messages for retry ...   esc cancels", "admin  ...")
	response := count() // already in flight when the count is cancelled
	d.Press("esc")
	d.WantText("cancelled, nothing was changed")
	d.Send(response)
	if d.App.Overlay() != nil {
		t.Errorf("after the cancel, a %T is shown, want no confirmation", d.App.Overlay())
	}
	if !list(d).Marks.All {
		t.Error("after the cancel, the marks are gone")
	}

	// Confirm a retry, and hold its response back until the status line shows the request.
	d.Press("r")
	question := d.App.Overlay().(*ui.Confirm)
	d.App.ShowOverlay(nil)
	retries := question.Run()
	d.Wait(10 * ui.UndoDelay)
	d.WantText("retry of 1 message ...")
	d.Send(retries())
	d.WantText("1 message is due now")
}

// The error of a request that was not sent includes the name of the change.
func TestNotSentErrorNamesChange(t *testing.T) {
	d := tuitest.StartDeliveries(t).Open(t, tui.Options{})
	d.Press("4", "a")
	d.App.Session.Client = tuitest.Unreachable(t)
	list(d).Impacts.Show(retryOfAll(8, 4), nil)
	d.Press("y")
	d.WantText("retry of 4 messages: not sent: cannot reach")
	d.Press("esc")
	d.WantText("8 marked")
}

// A timeout does not mean that the request was not sent.
func TestTimeoutIsNotMarkedAsNotSent(t *testing.T) {
	err := ui.MarkNotSent(&client.Error{Kind: client.TimedOut, Message: "no response"})
	if strings.Contains(err.Error(), "not sent") {
		t.Errorf("the error of a timeout is %q, want one without \"not sent\"", err)
	}
}

// retryOfAll returns the impact of a retry of all messages.
func retryOfAll(matched, done int64) messages.Impact {
	return messages.Impact{
		Of: &messages.ImpactQuery{
			Action:  keymap.Retry,
			All:     true,
			Members: map[string][]string{"All": {"true"}},
			Cancel:  func() {},
		},
		Matched: matched,
		Done:    done,
	}
}

// A delete of all matches does not include messages that were published after the question, or
// during the time in which it can be undone.
func TestDeleteOfAllKeepsLaterMessages(t *testing.T) {
	for name, filter := range map[string][]string{
		"all":      nil,
		"filtered": {"/", "'EventName=salesorder.created", "enter"},
	} {
		t.Run(name, func(t *testing.T) {
			s := tuitest.StartDeliveries(t)
			d := s.Open(t, tui.Options{})
			d.Press("4")
			d.Press(filter...)
			d.Press("a", "D")
			count := list(d).Pages.Total()
			d.WantText(fmt.Sprintf("Delete %d messages?", count))
			s.Publish(t, "salesorder.created", `{"InvoiceNo":"D10"}`, 1)
			d.Press("y")
			s.Publish(t, "salesorder.created", `{"InvoiceNo":"D11"}`, 1)
			d.Wait(ui.UndoDelay)
			d.WantText(fmt.Sprintf("%d messages deleted", count))
			if n := s.MessageCount(t); n != 10-int64(count) {
				t.Errorf("%d messages are left of 10 after %d were to be deleted", n, count)
			}
		})
	}
}

// A retry of all matches does not include messages that have failed after the question.
func TestRetryOfAllSkipsLaterFailures(t *testing.T) {
	s := startFailures(t, 2)
	d := s.Open(t, tui.Options{})
	d.Press("4", "!", "a", "r")
	d.WantText("Retry 2 failed messages?")
	s.Publish(t, "salesorder.created", `{"InvoiceNo":"D2"}`, 3)
	d.Press("y")
	d.WantText("2 messages are due now")
}

// A message that was deleted after the question is reported, and so is an empty list.
func TestDeleteOfAllReportsDifference(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4", "a", "D")
	d.WantText("Delete 8 messages?")
	m, _ := list(d).Selected()
	if err := s.Client.RemoveMessage(t.Context(), m.SubscriberID, m.SubscriptionID, m.MessageID); err != nil {
		t.Fatal(err)
	}
	d.Press("y")
	d.Wait(ui.UndoDelay)
	d.WantText("7 messages deleted, 1 changed since the question")
	d.Press("R", "a", "D")
	d.WantText("nothing to delete: no message matches")
}

// A retry of failed messages does not include a message that has failed after the question, although
// it was scheduled before.
func TestRetryOfAllSkipsMessagesThatFailLater(t *testing.T) {
	var aborts atomic.Bool
	s := tuitest.StartReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		if aborts.Load() {
			w.Header().Set("webhook-delivery", "abort-message")
		}
		w.WriteHeader(http.StatusBadRequest)
	})
	s.Subscribe(t, "salesorder.created", s.Receiver+"/down")
	s.Publish(t, "salesorder.created", `{"InvoiceNo":"D1"}`, ui.StatusRetrying)
	aborts.Store(true)
	s.Publish(t, "salesorder.created", `{"InvoiceNo":"D2"}`, ui.StatusFailed)

	d := s.Open(t, tui.Options{})
	d.Press("4", "!", "a", "r")
	d.WantText("Retry 1 failed message?")
	retryAndFail(t, d, s, ui.StatusRetrying)
	d.Press("y")
	d.WantText("1 message is due now")
	d.WantNoText("more than in the question")
}

// A delete does not include a message that was attempted after the question.
func TestDeleteSkipsMessagesAttemptedLater(t *testing.T) {
	s := startFailures(t, 2)
	d := s.Open(t, tui.Options{})
	d.Press("4", "!", "a", "D")
	d.WantText("Delete 2 messages?")
	retryAndFail(t, d, s, ui.StatusFailed)
	d.Press("y")
	d.Wait(ui.UndoDelay)
	d.WantText("1 message deleted, 1 changed since the question")
}

// retryAndFail retries a message with a status as another user would, and waits until it has failed.
func retryAndFail(t *testing.T, d *tuitest.Driver, s *tuitest.Deliveries, status int) {
	t.Helper()
	selected, err := s.Client.AllMessages(t.Context(), url.Values{"Status": {strconv.Itoa(status)}, "Take": {"1"}})
	if err != nil {
		t.Fatal(err)
	}
	m := selected.Results[0]
	if _, err := s.Client.RetryMessage(t.Context(), m.SubscriberID, m.SubscriptionID, m.MessageID); err != nil {
		t.Fatal(err)
	}
	filter := url.Values{
		"MessageID":          {m.MessageID},
		"Status":             {strconv.Itoa(ui.StatusFailed)},
		"RetriesGreaterThan": {strconv.Itoa(m.Retries)},
	}
	d.WaitUntil("the retried message has failed", func() bool {
		failed, err := s.Client.AllMessages(t.Context(), filter)
		if err != nil {
			t.Fatal(err)
		}
		return len(failed.Results) == 1
	})
}
