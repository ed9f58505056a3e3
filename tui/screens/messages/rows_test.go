package messages_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// Changes of the stream update the rows, and the selection is kept.
func TestLiveChangesUpdateRows(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4", "j", "j", "j")
	m := d.App.Front().(*messages.List)
	selected, _ := m.Selected()
	const newMessages = 26
	for n := range 2 * newMessages {
		d.Live(liveChange(wire.MessageChange{
			MessageID: fmt.Sprint("new ", n%newMessages),
			EventName: "debtor.updated",
			Status:    n % 3,
			At:        wire.Timestamp(d.Clock),
		}))
	}
	d.WantText("26 new above: g selects the first")
	if now, _ := m.Selected(); now.MessageID != selected.MessageID {
		t.Errorf("after new messages, %s is selected, want %s", now.MessageID, selected.MessageID)
	}

	d.Live(liveChange(wire.MessageChange{
		MessageID: selected.MessageID,
		Status:    ui.StatusDelivered,
		Retries:   4,
		HTTPCode:  new(http.StatusOK),
	}))
	d.WantText("delivered  saleso", "   5  200", "←")

	// While updates are paused, changes are counted.
	d.Press("p")
	d.Live(tui.LiveMsg{Beat: true, Changes: make([]wire.MessageChange, 37)})
	d.WantText("PAUSED +37")
	d.Press("p", "g")
	d.WantText("following", "LIVE")
}

// liveChange returns a live message with a change, after a heartbeat.
func liveChange(change wire.MessageChange) tui.LiveMsg {
	return tui.LiveMsg{Beat: true, Changes: []wire.MessageChange{change}}
}

// A delivered message stays in the list of problems for ChangedFor, then it is
// removed.
func TestDeliveredMessageLeavesProblems(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4", "!")
	list := d.App.Front().(*messages.List)
	before := list.Pages.Total()
	m, _ := list.Selected()
	if err := s.Client.RemoveMessage(t.Context(), m.SubscriberID, m.SubscriptionID, m.MessageID); err != nil {
		t.Fatal(err)
	}
	d.Live(liveChange(wire.MessageChange{
		MessageID: m.MessageID,
		Status:    ui.StatusDelivered,
		Retries:   1,
		HTTPCode:  new(http.StatusOK),
	}))
	d.WantText("delivered  inven", "←")
	d.Wait(messages.ChangedFor - 2*time.Second)
	d.WantText("←")

	d.Wait(4 * time.Second)
	if now := list.Pages.Total(); now != before-1 {
		t.Errorf("after ChangedFor, %d messages are listed, want %d", now, before-1)
	}
	if list.Pages.Find(m.MessageID) >= 0 {
		t.Error("after ChangedFor, the delivered message is still listed")
	}
}

// A new failure is added to the list of problems; the error text is fetched.
func TestNewFailureIsListed(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	s.Subscribe(t, "creditor.created", "http://127.0.0.1:9/closed")
	d := s.Open(t, tui.Options{})
	d.Press("4", "!")
	d.WantText("following", "of 4")
	if _, err := s.Client.PublishEvent(t.Context(), "creditor.created", "{}"); err != nil {
		t.Fatal(err)
	}
	d.WaitUntil("the failure is listed", func() bool {
		d.Wait(messages.FollowInterval)
		d.Heartbeat()
		return strings.Contains(d.Text(), "of 5") && strings.Contains(d.Text(), "connection")
	})
}

// While a question about the selected message is open, the list does not go on to newer ones: the
// answer concerns the message that the user has read, and it stays visible.
func TestListWaitsForAnswer(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	s.Subscribe(t, "creditor.created", "http://127.0.0.1:9/closed")
	d := s.Open(t, tui.Options{})
	d.Press("4", "!")
	d.WantText("following", "1 of 4")
	selected, _ := list(d).Selected()
	d.Press("D")
	d.WantText("Delete this message?", selected.EventName)
	s.Publish(t, "creditor.created", "{}", ui.StatusRetrying)
	for range 3 {
		d.Wait(messages.FollowInterval)
		d.Heartbeat()
	}
	d.WantText("Delete this message?", "1 of 4")
	if now, _ := list(d).Selected(); now.MessageID != selected.MessageID {
		t.Errorf("while the question is open, %s is selected, want %s", now.MessageID, selected.MessageID)
	}

	d.Press("esc")
	d.WaitUntil("the new failure is selected", func() bool {
		d.Wait(messages.FollowInterval)
		newest, _ := list(d).Selected()
		return newest.EventName == "creditor.created"
	})
	d.WantText("following", "1 of 5")
}

// Key ! goes to the newest failure, which is that of the last attempt, in any order of the
// list before.
func TestKeyGoesToNewestFailure(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	page, err := s.Client.AllMessages(t.Context(), url.Values{
		"Status":  {strconv.Itoa(ui.StatusRetrying)},
		"OrderBy": {"AddedDateTime"},
		"Take":    {"1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	oldest := page.Results[0]
	d := s.Open(t, tui.Options{})
	d.Press("4", "s", "!")
	if selected, _ := list(d).Selected(); selected.MessageID == oldest.MessageID {
		t.Fatal("the first message that failed is selected before it failed again")
	}
	_, err = s.Client.RetryMessage(t.Context(), oldest.SubscriberID, oldest.SubscriptionID, oldest.MessageID)
	if err != nil {
		t.Fatal(err)
	}
	d.WaitUntil("it has failed again", func() bool {
		d.Wait(messages.ChangedFor + 2*messages.FollowInterval) // changed rows keep their place for a while
		d.Heartbeat()
		newest, _ := list(d).Selected()
		return newest.MessageID == oldest.MessageID
	})
	if selected, _ := list(d).Selected(); selected.MessageID != oldest.MessageID || selected.Retries != 1 {
		t.Errorf("%s with %d retries is selected, want %s with one", selected.MessageID, selected.Retries,
			oldest.MessageID)
	}
	d.WantText("[failed or retrying]", "following", "2/3  503")
}
