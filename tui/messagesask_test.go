package tui

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/ui"
)

// What waits behind an endpoint that fails is told beside the problems, and is
// the next step of the same key.
func TestWhatWaitsIsAProblem(t *testing.T) {
	s := startReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	id := s.subscribe(t, "debtor.updated", s.receiver+"/erp")
	s.raise(t, "debtor.updated", `{"DebtorID":"C0"}`, 2)
	off := false
	if _, err := s.client.UpdateSubscription(t.Context(), s.subscriber, id, wire.SubscriptionRequest{IsEnabled: &off}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.client.RaiseEvent(t.Context(), "debtor.updated", `{}`); err != nil {
			t.Fatal(err)
		}
	}
	d := s.open(t, Options{})
	d.press("!")
	d.sees("[problems]", "row 1 of 1", "3 more wait: ! shows them")
	d.press("!")
	d.sees("[not delivered]", "of 4", "WAIT")
	if c := d.list().Exportable().Query.Where; len(c) != 1 || !slices.Equal(c[0].Values, []string{"0", "2", "3"}) {
		t.Errorf("exported is %v", c)
	}
	d.press("r")
	d.sees("no attempt yet, not sent: the subscription is off")
	d.press("!")
	if badges := d.list().Badges(); len(badges) != 0 {
		t.Errorf("badges %v", badges)
	}
	d.press("!", "/", "'EventName=debtor.updated", "enter")
	if strings.Contains(d.text(), "more wait") {
		t.Error("what waits is counted where only the service knows whether it matches")
	}
}

// Retrying what cannot be retried says why before it asks.
func TestDeliveredIsNotRetried(t *testing.T) {
	d := startDeliveries(t).open(t, Options{})
	d.press("4", "r")
	if d.app.over != nil {
		t.Fatal("it asks")
	}
	d.sees("it was delivered: only what has failed can be retried")
	d.press("enter", "r")
	d.sees("it was delivered")
}

// All that match are marked, row by row, and the question says of all where
// they go, and what is left alone unless one wants it too.
func TestAllThatMatchAreAsked(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.press("4", "a")
	d.sees("8 marked: all that match", "▸● ✓ OK", " ● ~ RETRY")
	d.press("r")
	d.sees("Retry 1 failed message?", "1  127.0.0.", "last 400", "3 more are scheduled already and left alone (i includes them)", "4 are delivered or not tried yet, and left alone")
	d.press("i")
	d.sees("Retry 4 messages?", "3  127.0.0.", "last 503", "3 of them are scheduled already, and due now instead (i leaves")
	d.press("i")
	d.sees("Retry 1 failed message?")
	d.press("y")
	d.sees("1 message is due now, 0 left alone")
	d.press("!", "j", "a", "space")
	d.wait(10 * ui.UndoTime)
	d.sees("3 marked  ")
}

// What is counted can be given up, and no question comes then.
func TestCountingIsSeenAndGivenUp(t *testing.T) {
	d := startDeliveries(t).open(t, Options{})
	d.press("4", "a")
	count := d.list().Act(keymap.Retry)
	d.sees("counting for the retry of messages ...   esc cancels", "admin  ...")
	answer := count() // which has been on its way already
	d.press("esc")
	d.sees("nothing is asked")
	d.send(answer)
	if d.app.over != nil || !d.list().AllMarks {
		t.Error("a question comes though it was given up, or the marks are gone")
	}
	d.press("r")
	question := d.app.over.(*ui.Confirm)
	d.app.over = nil
	retries := question.Run()
	d.wait(10 * ui.UndoTime)
	d.sees("retry of 1 message ...")
	d.send(retries())
	d.sees("1 message is due now")
}

// What did not leave this computer says so, with what it was.
func TestNotSent(t *testing.T) {
	d := startDeliveries(t).open(t, Options{})
	d.press("4", "a")
	d.app.Client = unreachable(t)
	d.list().Weighed(messages.Weighed{Of: &messages.Weighing{What: keymap.Retry, All: true, Members: map[string][]string{"All": {"true"}}, Cancel: func() {}}, Matched: 8, Done: 4}, nil)
	d.press("y")
	d.sees("retry of 4 messages: not sent: cannot reach")
	d.press("esc")
	d.sees("8 marked")
	if err := ui.NotSent(&client.Error{Kind: client.TimedOut, Message: "no answer"}); strings.Contains(err.Error(), "not sent") {
		t.Error("nobody knows whether that was sent")
	}
}

// Before the first answer nothing is said of how many messages there are.
func TestLoadingIsSaid(t *testing.T) {
	d := startDeliveries(t).open(t, Options{})
	d.press("4")
	m := d.list()
	m.Reload()
	d.sees("loading messages ...")
	d.answersTo(m, &client.Error{Kind: client.TimedOut, Message: "no answer"}, func(err error) tea.Cmd { return m.PageFailed(m.Pages.Generation(), 0, err) })
	d.press("esc")
	d.sees("no answer yet: R asks again")
	d.press("R")
	d.sees("row 1 of 8")
}

// All of an address is shown when it is asked for, and what was saved is what
// the command sends.
func TestMessageHead(t *testing.T) {
	s := startReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("upstream is down\nsecond line"))
	})
	key := strings.Repeat("0123456789", 9)
	s.subscribe(t, "debtor.updated", s.receiver+"/erp?key="+key)
	s.raise(t, "debtor.updated", `{"DebtorID":"C0"}`, 2)
	d := s.open(t, Options{Downloads: t.TempDir()})
	d.press("4", "enter", "v")
	d.checkScreen()
	if text := strings.Join(strings.Fields(d.text()), ""); !strings.Contains(text, key) || !strings.Contains(text, s.subscriber) {
		t.Errorf("all of it is not shown:\n%s", d.text())
	}
	d.sees("503 Service Unavailable", "upstream is down", "acme-shop")
	d.press("v", "shift+tab")
	name := "body-" + ui.ShortID(d.app.Front().(*messages.Detail).Message.MessageID) + ".json"
	d.sees("e saves the body as "+name, "@"+name)
	d.press("e", "enter")
	d.sees("The body is saved as", "@"+name)
	d.press("e")
	d.sees("-2.json")
}
