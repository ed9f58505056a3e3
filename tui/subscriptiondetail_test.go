package tui

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui/ui"
)

// All that is known of a subscription is on a screen of its own, where it can be
// changed, tried out and deleted; what happens is seen there.
func TestSubscriptionScreen(t *testing.T) {
	s := startReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	id := s.subscribe(t, "debtor.*", s.receiver+"/gone?token=canary99")
	s.latest = time.Now()
	d := s.subscriptionsOf(t)
	d.press("i")
	d.sees("Subscribers › acme-shop › debtor.*", "[enabled]", "?token="+ui.SecretMask, "0 delivered, 0 failed, 0 given up", "20h, 20h", "Authorization", id)
	if twin := d.app.Front().Equivalent(); twin != "whctl subscriptions show "+id {
		t.Errorf("the command is %s", twin)
	}
	d.press("v")
	d.sees("?token=canary99")
	d.press("v")
	s.raise(t, "debtor.updated", `{"DebtorID":"C1"}`, 3)
	d.until("the change is told", func() bool { return d.app.Queues.Due })
	d.later(ui.QueuesSoon + time.Second)
	d.sees("1 given up", "Last failure", "410 Gone")
	d.sees("[disabled]", "disabled: the endpoint answered 410 Gone")
	d.press("E", "tab", "'&x=1", "ctrl+s")
	d.sees("x="+ui.SecretMask, "change of debtor.*: done")
	d.press("o", "y")
	d.until("it is on", func() bool { return strings.Contains(d.text(), "enabled debtor.*: done") })
	d.press("W", "y")
	d.sees("New secret", "?token="+ui.SecretMask)
	d.press("esc", "D")
	d.sees("Delete the subscription?", "?token="+ui.SecretMask, "Its 1 message with what was answered goes with it.", "None of the messages is pending.")
	d.press("esc", "enter")
	d.sees("debtor.updated", "FAIL")
	d.press("esc", "D", "y")
	d.sees("delete of debtor.*: done")
	d.wait(ui.Stays[ui.Info])
	d.sees("no subscriptions yet")
	if strings.Contains(d.text(), "canary99") {
		t.Errorf("a key is shown:\n%s", d.text())
	}
}

// Lists say how deliveries stand, and why nothing goes out; words narrow them.
func TestListsTellFigures(t *testing.T) {
	s := startDeliveries(t)
	off, reason := false, wire.SubscriptionRequest{IsEnabled: new(bool)}
	if _, err := s.client.UpdateSubscription(t.Context(), s.subscriber, s.bad, reason); err != nil {
		t.Fatal(err)
	}
	d := s.open(t, Options{})
	d.press("3")
	if got := strings.Fields(lineWith(t, d, "acme-shop")); strings.Join(got[len(got)-3:], " ") != "enabled 3 3" {
		t.Errorf("the subscriber is told as %q", got)
	}
	d.press("enter")
	for event, want := range map[string]string{"salesorder.created": "enabled 4 0 0", "debtor.*": "disabled 0 3 3", "inventory.stockl": "enabled 0 1 0"} {
		line := lineWith(t, d, event)
		if got := strings.Join(strings.Fields(line), " "); !strings.HasSuffix(got, want) && !strings.HasSuffix(got, strings.Replace(want, "enabled", "failing", 1)) {
			t.Errorf("%q, want %q at its end", line, want)
		}
	}
	d.press("j")
	d.sees("disabled by somebody: its messages wait")
	d.press("/", "'DISAB debtor", "enter")
	d.sees("[DISAB debtor]", "row 1 of 1", "debtor.*")
	if strings.Contains(d.text(), "salesorder") {
		t.Errorf("what was not sought is shown:\n%s", d.text())
	}
	d.resize(60, 15)
	d.sees("Fail  Wait")
	d.checkScreen()
	if _, err := s.client.UpdateSubscriber(t.Context(), s.subscriber, wire.SubscriberRequest{IsEnabled: &off}); err != nil {
		t.Fatal(err)
	}
	d.press("esc", "R", "/", "'dis", "enter")
	d.sees("acme-shop", "wms", "disabled")
	d.press("/", "ctrl+u", "'wms dis", "enter")
	d.sees("[wms dis]", "row 1 of 1")
}

// Before a subscriber is deleted it is said how much goes with it.
func TestDeleteOfASubscriberCounts(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.press("3", "D")
	d.sees("Delete acme-shop?", "Its 3 subscriptions with 8 messages", "3 messages that are pending are not sent.", "This cannot be undone.")
	d.press("esc", "j", "D")
	d.sees("Delete wms?", "It has no subscriptions.")
}

// All messages of a subscriber are listed, without its key in what is copied or
// kept.
func TestMessagesOfASubscriber(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.press("3", "j", "m")
	d.sees("Messages  [wms]", "no messages")
	d.press("3", "k", "m")
	d.sees("Messages  [acme-shop]", "salesorder.", "debtor.updated", "row 1 of 8")
	if twin := d.app.Front().Equivalent(); strings.Contains(twin, s.subscriber) || !strings.Contains(twin, "SubscriberID^="+s.subscriber[:4]) {
		t.Errorf("the command is %s", twin)
	}
	d.press(":", "'save mine", "enter")
	d.sees("which is a key")
	if len(d.app.State.Views) != 0 {
		t.Error("it was kept")
	}
}

// The events that the service has of its own can be picked, by keys, and no key
// but enter makes something behind the last field.
func TestPickOfEvents(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8", "--webhooks-events", "job.created,job.closed")
	s := &deliveries{Instance: i, client: connected(t, i)}
	name := "acme-shop"
	if _, err := s.client.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: &name}); err != nil {
		t.Fatal(err)
	}
	d := drive(t, s.client, Options{})
	d.press("3", "enter", "n", "'job")
	d.sees("job.created", "1 of 2", "job.closed")
	d.resize(60, 15)
	d.sees("job.created", "job.closed")
	d.resize(80, 24)
	d.press("down", "down")
	d.sees("▸ job.closed", "2 of 2")
	d.press("up", "down", "tab")
	f := d.app.over.(*ui.Form)
	if f.Fields[0].Text() != "job.closed" || f.At != 1 {
		t.Fatalf("the event is %q, and the field number %d", f.Fields[0].Text(), f.At)
	}
	d.press("'http://127.0.0.1:9/x")
	for range 10 {
		d.press("down")
	}
	d.sees("New subscription for acme-shop")
	if f.At != len(f.Fields)-1 {
		t.Errorf("the field is number %d", f.At)
	}
	d.press("up", "up", "down", "down", "enter")
	d.sees("Created", "job.closed to")
}

// What is another in each run on the screens of a subscription and of an answer.
func init() {
	for text, as := range map[string]string{
		`at most [\d,]+ ms *`:     "at most 1 ms",
		`after [\d,]+ ms *`:       "after 0 ms",
		`\b20[2-9]\d-\d\d-\d\d\b`: "2026-07-02",
		`RowHash[^\n]*`:           "RowHash",
	} {
		passing = append(passing, struct {
			is *regexp.Regexp
			as string
		}{regexp.MustCompile(text), as + strings.Repeat(" ", 300)})
	}
}

// The screen of a subscription whose endpoint fails, and of one that is disabled.
func TestSubscriptionScreens(t *testing.T) {
	s := startDeliveries(t)
	off := wire.SubscriptionRequest{IsEnabled: new(bool)}
	if _, err := s.client.UpdateSubscription(t.Context(), s.subscriber, s.bad, off); err != nil {
		t.Fatal(err)
	}
	forAppearances(t, func(t *testing.T, appearance string, o Options) {
		d := s.open(t, o)
		d.press("3", "enter", "i")
		d.golden("S07-subscription", appearance)
		d.press("]")
		d.golden("S07-subscription-off", appearance)
		d.press("esc", "T")
		d.golden("S11-subscription-test", appearance)
	})
}
