package messages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// What waits behind an endpoint that fails is told beside the problems, and is
// the next step of the same key.
func TestWhatWaitsIsAProblem(t *testing.T) {
	s := tuitest.StartReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	id := s.Subscribe(t, "debtor.updated", s.Receiver+"/erp")
	s.Publish(t, "debtor.updated", `{"DebtorID":"C0"}`, 2)
	off := false
	if _, err := s.Client.UpdateSubscription(t.Context(), s.Subscriber, id, wire.SubscriptionRequest{IsEnabled: &off}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.Client.RaiseEvent(t.Context(), "debtor.updated", `{}`); err != nil {
			t.Fatal(err)
		}
	}
	d := s.Open(t, tui.Options{})
	d.Press("!")
	d.WantText("[problems]", "row 1 of 1", "3 more wait: ! shows them")
	d.Press("!")
	d.WantText("[not delivered]", "of 4", "WAIT")
	if c := list(d).Exportable().Query.Where; len(c) != 1 || !slices.Equal(c[0].Values, []string{"0", "2", "3"}) {
		t.Errorf("exported is %v", c)
	}
	d.Press("r")
	d.WantText("no attempt yet, not sent: the subscription is off")
	d.Press("!")
	if badges := list(d).Badges(); len(badges) != 0 {
		t.Errorf("badges %v", badges)
	}
	d.Press("!", "/", "'EventName=debtor.updated", "enter")
	if strings.Contains(d.Text(), "more wait") {
		t.Error("what waits is counted where only the service knows whether it matches")
	}
}

// Retrying what cannot be retried says why before it asks.
func TestDeliveredIsNotRetried(t *testing.T) {
	d := tuitest.StartDeliveries(t).Open(t, tui.Options{})
	d.Press("4", "r")
	if d.App.Overlay() != nil {
		t.Fatal("it asks")
	}
	d.WantText("it was delivered: only what has failed can be retried")
	d.Press("enter", "r")
	d.WantText("it was delivered")
}

// All that match are marked, row by row, and the question says of all where
// they go, and what is left alone unless one wants it too.
func TestAllThatMatchAreAsked(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4", "a")
	d.WantText("8 marked: all that match", "▸● ✓ OK", " ● ~ RETRY")
	d.Press("r")
	d.WantText("Retry 1 failed message?", "1  127.0.0.", "last 400", "3 more are scheduled already and left alone (i includes them)", "4 are delivered or not tried yet, and left alone")
	d.Press("i")
	d.WantText("Retry 4 messages?", "3  127.0.0.", "last 503", "3 of them are scheduled already, and due now instead (i leaves")
	d.Press("i")
	d.WantText("Retry 1 failed message?")
	d.Press("y")
	d.WantText("1 message is due now, 0 left alone")
	d.Press("!", "j", "a", "space")
	d.Wait(10 * ui.UndoDelay)
	d.WantText("3 marked  ")
}

// What is counted can be given up, and no question comes then.
func TestCountingIsSeenAndGivenUp(t *testing.T) {
	d := tuitest.StartDeliveries(t).Open(t, tui.Options{})
	d.Press("4", "a")
	count := list(d).Act(keymap.Retry)
	d.WantText("counting for the retry of messages ...   esc cancels", "admin  ...")
	answer := count() // which has been on its way already
	d.Press("esc")
	d.WantText("nothing is asked")
	d.Send(answer)
	if d.App.Overlay() != nil || !list(d).AllMarks {
		t.Error("a question comes though it was given up, or the marks are gone")
	}
	d.Press("r")
	question := d.App.Overlay().(*ui.Confirm)
	d.App.ShowOverlay(nil)
	retries := question.Run()
	d.Wait(10 * ui.UndoDelay)
	d.WantText("retry of 1 message ...")
	d.Send(retries())
	d.WantText("1 message is due now")
}

// What did not leave this computer says so, with what it was.
func TestNotSent(t *testing.T) {
	d := tuitest.StartDeliveries(t).Open(t, tui.Options{})
	d.Press("4", "a")
	d.App.Client = tuitest.Unreachable(t)
	list(d).Weighed(messages.Weighed{Of: &messages.Weighing{What: keymap.Retry, All: true, Members: map[string][]string{"All": {"true"}}, Cancel: func() {}}, Matched: 8, Done: 4}, nil)
	d.Press("y")
	d.WantText("retry of 4 messages: not sent: cannot reach")
	d.Press("esc")
	d.WantText("8 marked")
	if err := ui.MarkNotSent(&client.Error{Kind: client.TimedOut, Message: "no answer"}); strings.Contains(err.Error(), "not sent") {
		t.Error("nobody knows whether that was sent")
	}
}

// Before the first answer nothing is said of how many messages there are.
func TestLoadingIsSaid(t *testing.T) {
	d := tuitest.StartDeliveries(t).Open(t, tui.Options{})
	d.Press("4")
	m := list(d)
	m.Reload()
	d.WantText("loading messages ...")
	d.Respond(m, &client.Error{Kind: client.TimedOut, Message: "no answer"}, func(err error) tea.Cmd { return m.PageFailed(m.Pages.Generation(), 0, err) })
	d.Press("esc")
	d.WantText("no answer yet: R asks again")
	d.Press("R")
	d.WantText("row 1 of 8")
}

// All of an address is shown when it is asked for, and what was saved is what
// the command sends.
func TestMessageHead(t *testing.T) {
	s := tuitest.StartReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("upstream is down\nsecond line"))
	})
	key := strings.Repeat("0123456789", 9)
	s.Subscribe(t, "debtor.updated", s.Receiver+"/erp?key="+key)
	s.Publish(t, "debtor.updated", `{"DebtorID":"C0"}`, 2)
	d := s.Open(t, tui.Options{Downloads: t.TempDir()})
	d.Press("4", "enter", "v")
	d.CheckScreen()
	if text := strings.Join(strings.Fields(d.Text()), ""); !strings.Contains(text, key) || !strings.Contains(text, s.Subscriber) {
		t.Errorf("all of it is not shown:\n%s", d.Text())
	}
	d.WantText("503 Service Unavailable", "upstream is down", "acme-shop")
	d.Press("v", "shift+tab")
	name := "body-" + ui.ShortID(d.App.Front().(*messages.Detail).Message.MessageID) + ".json"
	d.WantText("e saves the body as "+name, "@"+name)
	d.Press("e", "enter")
	d.WantText("The body is saved as", "@"+name)
	d.Press("e")
	d.WantText("-2.json")
}
