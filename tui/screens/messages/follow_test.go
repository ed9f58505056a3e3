package messages_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// After the selection has left the newest message, new ones are inserted above it: it stays on its
// message, the status line counts them also after a move, and g goes to the newest at once.
func TestNewMessagesAreInsertedAboveSelection(t *testing.T) {
	s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusOK))
	s.Subscribe(t, "salesorder.created", s.Receiver+"/erp")
	for range 4 {
		s.Publish(t, "salesorder.created", `{"InvoiceNo":"D1"}`, ui.StatusDelivered)
	}
	d := s.Open(t, tui.Options{})
	d.Press("4")
	d.WantText("following", "1 of 4")
	d.Press("j", "j")
	selected, _ := list(d).Selected()
	arrive(t, s, d, 3, "6 of 7", "3 new above: g selects the first")
	if now, _ := list(d).Selected(); now.MessageID != selected.MessageID {
		t.Errorf("after 3 new messages, %s is selected, want %s", now.MessageID, selected.MessageID)
	}
	d.Press("j", "k", "k")
	d.WantText("5 of 7", "3 new above: g selects the first")

	d.Press("g")
	d.WantText("1 of 7", "following")
	newest, _ := list(d).Selected()
	arrive(t, s, d, 1, "1 of 8", "following")
	if now, _ := list(d).Selected(); now.MessageID == newest.MessageID {
		t.Error("while the list follows, the selection stays on an older message")
	}
	d.Press("j", "k")
	arrive(t, s, d, 1, "1 of 9", "following")
}

// arrive publishes events, and waits until the list shows these texts.
func arrive(t *testing.T, s *tuitest.Deliveries, d *tuitest.Driver, count int, texts ...string) {
	t.Helper()
	for range count {
		if _, err := s.Client.PublishEvent(t.Context(), "salesorder.created", "{}"); err != nil {
			t.Fatal(err)
		}
	}
	await(d, texts...)
}

// await waits until the list shows these texts.
func await(d *tuitest.Driver, texts ...string) {
	d.T.Helper()
	d.WaitUntil("the list shows "+strings.Join(texts, ", "), func() bool {
		d.Wait(messages.FollowInterval)
		d.Heartbeat()
		isMissing := func(text string) bool { return !strings.Contains(d.Text(), text) }
		return !slices.ContainsFunc(texts, isMissing)
	})
}

// Messages that arrive behind another screen are there when the list is in front again: a list that
// follows is at the newest one, and a message that was opened is still selected.
func TestListCatchesUpBehindOtherScreens(t *testing.T) {
	s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusOK))
	s.Subscribe(t, "salesorder.created", s.Receiver+"/erp")
	for range 2 {
		s.Publish(t, "salesorder.created", `{"InvoiceNo":"D1"}`, ui.StatusDelivered)
	}
	d := s.Open(t, tui.Options{})
	d.Press("4")
	d.WantText("following", "1 of 2")
	d.Press("1")
	for range 3 {
		s.Publish(t, "salesorder.created", `{"InvoiceNo":"D2"}`, ui.StatusDelivered)
	}
	d.Press("4")
	await(d, "following", "1 of 5")

	opened, _ := list(d).Selected()
	d.Press("enter")
	for range 2 {
		s.Publish(t, "salesorder.created", `{"InvoiceNo":"D3"}`, ui.StatusDelivered)
	}
	d.Live(liveChange(wire.MessageChange{MessageID: "new", EventName: "salesorder.created"}))
	d.Press("esc")
	await(d, "3 of 7", "2 new above: g selects the first")
	if now, _ := list(d).Selected(); now.MessageID != opened.MessageID {
		t.Errorf("after esc, %s is selected, want %s, which was opened", now.MessageID, opened.MessageID)
	}
}

// The status line shows that a list is followed also if its filters have no room in the title.
func TestLongFilterLeavesRoomForFollowing(t *testing.T) {
	d := tuitest.StartDeliveries(t).Open(t, tui.Options{})
	d.Resize(80, 24)
	d.Press("4", "/", "'EventName!=debtor.created and AddedDateTime>=-7d and Retries>=0 and Status>=0", "enter")
	d.WantText("following")
	d.CheckScreen()
}

// Key ! in the list of the undelivered messages of an endpoint goes on to its failures, not to delivered
// messages.
func TestKeyNarrowsUndelivered(t *testing.T) {
	d := tuitest.StartDeliveries(t).Open(t, tui.Options{})
	d.Run(d.App.Open(ui.MessagesTarget{MessageFilter: ui.MessageFilter{Undelivered: true}}))
	d.Settle()
	d.WantText("[not delivered]")
	for _, want := range []string{"[failed or retrying]", "╭ Messages ─", "[not delivered]"} {
		d.Press("!")
		d.WantText(want)
	}
}

// Times that are not relative have a title of their own, and room next to the result of an attempt in
// the preview.
func TestAbsoluteTimesHaveTitleAndRoom(t *testing.T) {
	d := tuitest.StartDeliveries(t).Open(t, tui.Options{})
	d.Resize(120, 40)
	d.Press("4")
	d.WantText("Age")
	d.Press("t", "j")
	d.WantText("Added")
	d.WantNoText("Age")
	attempt := regexp.MustCompile(`1  \d\d-\d\d \d\d:\d\d:\d\d \w`)
	if !attempt.MatchString(d.Text()) {
		t.Errorf("no attempt in the preview has a whole time before its result:\n%s", d.Text())
	}
}
