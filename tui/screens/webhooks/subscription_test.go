package webhooks_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
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
	d.WantText("Subscribers › acme-shop › debtor.*", "[enabled]", "?token="+ui.SecretMask, "0 delivered, 0 failed attempts, 0 failed messages", "20h, 20h", "Authorization", id)
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
	d.WantText("Delete the subscription?", "?token="+ui.SecretMask, "Its 1 message and all responses are deleted too.", "No message is queued.")
	d.Press("esc", "enter")
	d.WantText("debtor.updated", "FAILED")
	d.Press("esc", "D", "y")
	d.WantText("delete of debtor.*: done")
	d.Wait(ui.ToastDuration[ui.Info])
	d.WantText("no subscriptions; press n")
	if strings.Contains(d.Text(), "canary99") {
		t.Errorf("the SubscriberID is shown:\n%s", d.Text())
	}
}

// Lists show delivery statistics and the problem of a subscription, and are searched
// by words.
func TestListsShowStatistics(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	off, reason := false, wire.SubscriptionRequest{IsEnabled: new(bool)}
	if _, err := s.Client.UpdateSubscription(t.Context(), s.Subscriber, s.Failing, reason); err != nil {
		t.Fatal(err)
	}
	d := s.Open(t, tui.Options{})
	d.Press("3")
	if got := strings.Fields(d.LineWith("acme-shop")); strings.Join(got[len(got)-3:], " ") != "enabled 3 3" {
		t.Errorf("the row of the subscriber is %q", got)
	}
	d.Press("enter")
	for event, want := range map[string]string{"salesorder.created": "enabled 4 0 0", "debtor.*": "disabled 0 3 3", "invento": "enabled 0 1 0"} {
		line := d.LineWith(event)
		if got := strings.Join(strings.Fields(line), " "); !strings.HasSuffix(got, want) && !strings.HasSuffix(got, strings.Replace(want, "enabled", "failing", 1)) {
			t.Errorf("%q, want %q at its end", line, want)
		}
	}
	d.Press("j")
	d.WantText("disabled manually: messages stay queued")
	d.Press("/", "'DISAB debtor", "enter")
	d.WantText("[DISAB debtor]", "row 1 of 1", "debtor.*")
	if strings.Contains(d.Text(), "salesorder") {
		t.Errorf("rows that do not match are shown:\n%s", d.Text())
	}
	d.Resize(60, 15)
	d.WantText("Failures  Queued")
	d.CheckScreen()
	if _, err := s.Client.UpdateSubscriber(t.Context(), s.Subscriber, wire.SubscriberRequest{IsEnabled: &off}); err != nil {
		t.Fatal(err)
	}
	d.Press("esc", "R", "/", "'dis", "enter")
	d.WantText("acme-shop", "wms", "disabled")
	d.Press("/", "ctrl+u", "'wms dis", "enter")
	d.WantText("[wms dis]", "row 1 of 1")
}

// The confirmation of a delete shows the number of subscriptions and messages.
func TestDeleteSubscriberShowsImpact(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("3", "D")
	d.WantText("Delete acme-shop?", "Its 3 subscriptions with 8 messages", "3 queued messages are not sent.", "This cannot be undone.")
	d.Press("esc", "j", "D")
	d.WantText("Delete wms?", "It has no subscriptions.")
}

// The messages of a subscriber are listed; its ID, a key, is neither copied nor
// saved.
func TestMessagesOfSubscriberHideID(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("3", "j", "m")
	d.WantText("Messages  [wms]", "no messages")
	d.Press("3", "k", "m")
	d.WantText("Messages  [acme-shop]", "salesor…created", "debtor.updated", "row 1 of 8")
	if command := d.App.Front().Equivalent(); strings.Contains(command, s.Subscriber) || !strings.Contains(command, "SubscriberID^="+s.Subscriber[:4]) {
		t.Errorf("the equivalent command is %s", command)
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
	i := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8", "--webhooks-events", "job.created,job.closed")
	s := &tuitest.Deliveries{Instance: i, Client: tuitest.Connect(t, i)}
	name := "acme-shop"
	if _, err := s.Client.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: &name}); err != nil {
		t.Fatal(err)
	}
	d := tuitest.Drive(t, s.Client, tui.Options{})
	d.Press("3", "enter", "n", "'job")
	d.WantText("job.created", "1 of 2", "job.closed")
	d.Resize(60, 15)
	d.WantText("job.created", "job.closed")
	d.Resize(80, 24)
	d.Press("down", "down")
	d.WantText("▸ job.closed", "2 of 2")
	d.Press("up", "down", "tab")
	f := d.App.Overlay().(*ui.Form)
	if f.Fields[0].Text() != "job.closed" || f.At != 1 {
		t.Fatalf("the event is %q, and the field number %d", f.Fields[0].Text(), f.At)
	}
	d.Press("'http://127.0.0.1:9/x")
	for range 10 {
		d.Press("down")
	}
	d.WantText("New subscription for acme-shop")
	if f.At != len(f.Fields)-1 {
		t.Errorf("the field is number %d", f.At)
	}
	d.Press("up", "up", "down", "down", "enter")
	d.WantText("Created", "job.closed to")
}

// Goldens of a failing and of a disabled subscription.
func TestSubscriptionGoldens(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	off := wire.SubscriptionRequest{IsEnabled: new(bool)}
	if _, err := s.Client.UpdateSubscription(t.Context(), s.Subscriber, s.Failing, off); err != nil {
		t.Fatal(err)
	}
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
