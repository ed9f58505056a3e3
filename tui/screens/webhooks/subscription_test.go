package webhooks_test

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// The screen of a subscription shows all its data, live, and has its actions.
func TestSubscriptionShowsAllData(t *testing.T) {
	s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusGone))
	id := s.Subscribe(t, "debtor.*", s.Receiver+"/gone?token=canary99")
	s.Latest = time.Now()
	d := s.OpenSubscriptions(t)
	d.Press("i")
	d.WantText("Subscribers › acme-shop › debtor.*", "[enabled]", id, "?token="+ui.SecretMask)
	d.WantText("0 delivered, 0 failed attempts, 0 failed messages", "20h, 20h", "Authorization")
	if command := d.App.Front().Equivalent(); command != "whctl subscriptions show "+id {
		t.Errorf("the equivalent command is %s", command)
	}
	d.Press("v")
	d.WantText("?token=canary99")
	d.Press("v")
	s.Publish(t, "debtor.updated", `{"DebtorID":"C1"}`, 3)
	d.WaitUntil("the change is received", func() bool { return d.App.Session.Queues.Changed })
	d.Advance(ui.QueuesMinInterval + time.Second)
	d.WantText("1 failed message", "Last failure", "410 Gone")
	d.WantText("[disabled]", "disabled: the endpoint responded with 410 Gone")
	d.Press("E", "tab", "'&x=1", "ctrl+s")
	d.WantText("x="+ui.SecretMask, "change of debtor.*: done")
	d.Press("o", "y")
	d.WaitUntil("the subscription is enabled", func() bool { return strings.Contains(d.Text(), "enable debtor.*: done") })
	d.Press("W", "y")
	d.WantText("New secret", "?token="+ui.SecretMask)
	d.Press("esc", "D")
	d.WantText("Delete the subscription?", "?token="+ui.SecretMask)
	d.WantText("Its 1 message and all responses are deleted too.", "No message is queued.")
	d.Press("esc", "enter")
	d.WantText("debtor.updated", "failed")
	d.Press("esc", "D", "y")
	d.WantText("delete of debtor.*: done")
	d.Wait(ui.ToastDuration[ui.Info])
	d.WantText("No subscription yet. n creates one.")
	d.WantNoText("canary99")
}

// The screen of a subscription shows how many of its messages are held, and its notice.
func TestSubscriptionShowsHeldMessages(t *testing.T) {
	s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusOK))
	s.Subscribe(t, "debtor.*", s.Receiver)
	d := s.OpenSubscriptions(t)
	d.Press("i")
	d.WantText("[enabled]")
	screen := d.App.Front().(*webhooks.Subscription)
	held := screen.One
	held.HeldMessages = 12
	held.Notice = "it receives no events of changed records"
	held.DisabledReason = "its owner may no longer read the records of this event"
	screen.OnFetched(&wire.Subscriber{
		Name:          "acme-shop",
		IsEnabled:     true,
		Subscriptions: []wire.Subscription{held},
	}, nil)
	d.WantText("12 messages: its owner may not read their records", "Notice", held.Notice,
		"[not sending]", "not sending: its owner may no longer read")
}

// Lists show delivery statistics and the problem of a subscription, and are searched
// by words.
func TestListsShowStatistics(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	disableFailing(t, s)
	d := s.Open(t, tui.Options{})
	d.Press("3")
	if got := strings.Fields(strings.Trim(d.LineWith("acme-shop"), "│")); strings.Join(got[len(got)-3:], " ") != "stopped 3 3" {
		t.Errorf("the row of the subscriber is %q", got)
	}
	d.Press("enter")
	for event, want := range map[string]string{
		"salesorder.created": "(enabled|failing) 4 · ·$",
		"debtor.*":           "disabled · 3 3$",
		"invento":            "(enabled|failing) · 1 ·$",
	} {
		row := strings.Join(strings.Fields(strings.Trim(d.LineWith(event), "│")), " ")
		if !regexp.MustCompile(want).MatchString(row) {
			t.Errorf("the row of %s is %q, want %q", event, row, want)
		}
	}
	d.Press("j")
	d.WantText("disabled manually: messages stay queued")
	d.Press("/", "'DISAB debtor", "enter")
	d.WantText("[DISAB debtor]", "1 of 1", "debtor.*")
	d.WantNoText("salesorder")
	d.Resize(60, 15)
	d.WantText("Failed  Queued")
	d.CheckScreen()
	s.EnableSubscriber(t, false)
	d.Press("esc", "R", "/", "'dis", "enter")
	d.WantText("acme-shop", "wms", "disabled")
	d.Press("/", "ctrl+u", "'wms dis", "enter")
	d.WantText("[wms dis]", "1 of 1")
}

// disableFailing disables the failing subscription.
func disableFailing(t *testing.T, s *tuitest.Deliveries) {
	t.Helper()
	off := wire.SubscriptionRequest{IsEnabled: new(false)}
	if _, err := s.Client.UpdateSubscription(t.Context(), s.Subscriber, s.Failing, off); err != nil {
		t.Fatal(err)
	}
}

// The confirmation of a delete shows the number of subscriptions and messages.
func TestDeleteSubscriberShowsImpact(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("3", "D")
	d.WantText("Delete acme-shop?", "Its 3 subscriptions with 8 messages")
	d.WantText("3 queued messages are not sent.", "This cannot be undone.")
	d.Press("esc", "j", "D")
	d.WantText("Delete wms?", "It has no subscriptions.")
}

// The messages of a subscriber are listed; its ID, a key, is neither copied nor
// saved.
func TestMessagesOfSubscriberHideID(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("3", "j", "m")
	d.WantText("Messages [wms]", "No message matches wms.")
	d.Press("3", "k", "m")
	d.WantText("Messages [acme-shop]", "saleso", "debtor.updated", "1 of 8")
	command := d.App.Front().Equivalent()
	if strings.Contains(command, s.Subscriber) || !strings.Contains(command, "SubscriberID^="+s.Subscriber[:4]) {
		t.Errorf("the equivalent command is %s, want the start of the SubscriberID only", command)
	}
	d.Press(":", "'save mine", "enter")
	d.WantText("its SubscriberID is a secret")
	if len(d.App.Session.State.Views) != 0 {
		t.Error("the filter was saved")
	}
}

// Custom events are suggested and selected with keys, and only enter submits after
// the last field.
func TestCustomEventsAreSuggested(t *testing.T) {
	c := tuitest.Connect(t, daemontest.Start(t,
		"--webhooks-allow-targets", "127.0.0.0/8", "--webhooks-events", "job.created,job.closed"))
	if _, err := c.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: new("acme-shop")}); err != nil {
		t.Fatal(err)
	}
	d := tuitest.Drive(t, c, tui.Options{})
	d.Press("3", "enter", "n", "'job")
	d.WantText("job.created", "1 of 2", "job.closed")
	d.Resize(60, 15)
	d.WantText("job.created", "job.closed")
	d.Resize(80, 24)
	d.Press("down", "down")
	d.WantText("▌ job.closed", "2 of 2")
	d.Press("up", "down", "tab")
	f := d.App.Overlay().(*ui.Form)
	if f.Fields[0].Text() != "job.closed" || f.At != 1 {
		t.Fatalf("the event is %q, and field %d is selected, want job.closed and 1", f.Fields[0].Text(), f.At)
	}
	d.Press("'http://127.0.0.1:9/x")
	for range 10 {
		d.Press("down")
	}
	d.WantText("New subscription for acme-shop")
	if f.At != len(f.Fields)-1 {
		t.Errorf("field %d is selected, want the last", f.At)
	}
	d.Press("up", "up", "down", "down", "enter")
	d.WantText("Created", "job.closed to")
}

// Goldens of a failing and of a disabled subscription.
func TestSubscriptionGoldens(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	disableFailing(t, s)
	tuitest.ForAppearances(t, func(t *testing.T, appearance string, o tui.Options) {
		d := s.Open(t, o)
		d.Press("3", "enter", "i")
		d.Golden("S07-subscription", appearance)
		d.Press("]")
		d.Golden("S07-subscription-off", appearance)
		d.Press("esc", "T")
		d.Golden("S11-subscription-test", appearance)
	})
}

// A delete that is requested again while its objects are counted opens one question, without a
// warning.
func TestDeleteRequestedTwice(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("3")
	d.Deliver(tuitest.Letter("D"))
	d.Deliver(tuitest.Letter("D"))
	d.Settle()
	d.WantText("Delete acme-shop?")
	d.WantNoText("delete cancelled")
}

// The help explains the columns of the list with the numbers, at any width.
func TestHelpExplainsColumns(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.OpenSubscriptions(t)
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		d.Resize(size[0], size[1])
		d.WantText("Failed  Queued")
		d.Press("?", "/", "'retried or not", "enter")
		d.WantText("  Failed             failed attempts of the last hour, retried or not")
		d.Press("esc")
	}
	d.Press("esc", "?", "/", "'worst state", "enter")
	d.WantText("  State              the worst state of its endpoints")
}

// While the service rejects the credentials, the question about a delete names its object, although
// nothing was counted.
func TestUncountedDeleteNamesObject(t *testing.T) {
	d := tuitest.StartDeliveries(t).OpenSubscriptions(t)
	subscriptions := d.App.Front().(*webhooks.Subscriptions)
	subscriptions.Session.Rejection = errors.New("the password was changed")
	d.Send(subscriptions.Do(keymap.Binding{Action: keymap.Delete})())
	d.WantText("Delete the subscription?", "salesorder.created to", "could not be counted: the password was changed")
}

// The screen shows that it waits while the objects of a delete are counted.
func TestDeleteWaitsForCount(t *testing.T) {
	d := tuitest.StartDeliveries(t).OpenSubscriptions(t)
	subscriptions := d.App.Front().(*webhooks.Subscriptions)
	count := subscriptions.Do(keymap.Binding{Action: keymap.Delete})
	if !subscriptions.Waiting() {
		t.Error("the screen does not wait for the count")
	}
	d.Send(count())
	d.WantText("Delete the subscription?")
	if subscriptions.Waiting() {
		t.Error("the screen still waits after the count")
	}
}
