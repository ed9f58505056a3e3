package webhooks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// openEvents opens the list of events, filtered by the start of their names.
func openEvents(t *testing.T, prefix string) *tuitest.Driver {
	t.Helper()
	d := tuitest.StartDeliveries(t).Open(t, tui.Options{})
	d.Resize(120, 40)
	d.Press("5", "/", "'"+prefix, "enter")
	return d
}

// wantInLine checks the texts in the line of an event.
func wantInLine(t *testing.T, d *tuitest.Driver, event string, want ...string) {
	t.Helper()
	line := d.LineWith(event)
	for _, text := range want {
		if !strings.Contains(line, text) {
			t.Errorf("the line of %s is %q, want %q in it", event, line, text)
		}
	}
}

// The list shows last occurrence and subscriptions of events.
func TestEventsShowSubscriptions(t *testing.T) {
	d := openEvents(t, "debtor.")
	wantInLine(t, d, "debtor.updated", " 1 ", "11m")
	wantInLine(t, d, "debtor.created", " 1 ", " – ")

	d.Press("S")
	d.WantText("Subscriptions to debtor.created", "acme-shop, by debtor.*", "/bad/erp")
}

// The last occurrence follows the live changes of messages.
func TestEventsShowLastOccurrenceLive(t *testing.T) {
	d := openEvents(t, "debtor.")
	message := wire.MessageChange{
		MessageID: "x",
		EventName: "debtor.created",
		At:        wire.Timestamp(d.Clock.Add(-3 * time.Second)),
	}
	d.Live(tui.LiveMsg{Beat: true, Changes: []wire.MessageChange{message}})
	wantInLine(t, d, "debtor.created", "3s")
}

// A subscription to the selected event can be added, and is counted then.
func TestEventsAddSubscription(t *testing.T) {
	d := openEvents(t, "debtor.c")
	d.Press("n")
	d.WantText("New subscription", "Subscriber", "debtor.created")
	d.Press("'acme", "tab", "tab", "'http://127.0.0.1:9/x", "ctrl+s")
	d.WantText("Created", "debtor.created to", "http://127.0.0.1:9/x", "whsec_")

	d.Press("esc")
	wantInLine(t, d, "debtor.created", " 2 ")
}

// A subscription of an unknown subscriber is not added until its name is corrected.
func TestEventsRejectUnknownSubscriber(t *testing.T) {
	d := openEvents(t, "debtor.c")
	d.Press("n", "'nemo", "ctrl+s")
	d.WantText("no such subscriber")

	d.Erase()
	d.Press("'acme", "tab", "tab", "'http://127.0.0.1:9/x", "ctrl+s")
	d.WantText("Created", "debtor.created to")
}

// addTwins adds two subscribers with names that differ in case only, and returns their IDs.
func addTwins(t *testing.T, c *client.Client) (ids []string) {
	t.Helper()
	for _, name := range []string{"Twin", "TWIN"} {
		subscriber, err := c.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: &name})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, subscriber.RecID)
	}
	return ids
}

// An ambiguous subscriber name requires a short ID.
func TestAmbiguousSubscriberRequiresID(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	ids := addTwins(t, s.Client)
	d := s.Open(t, tui.Options{})
	d.Press("5", "n", "'acme-shop")
	d.WantText("Subscriber acme-shop")
	d.Erase()
	d.Press("'twin", "ctrl+s")
	d.WantText("2 subscribers have this name", ui.ShortID(ids[0]), ui.ShortID(ids[1]))

	d.Erase()
	d.Press("'twi", "down")
	d.WantText("Twin ("+ui.ShortID(ids[0])+")", "TWIN ("+ui.ShortID(ids[1])+")")
}

// A subscriber can be entered by its name in any case, by its ID, and as it is suggested.
func TestFindSubscriber(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	ids := addTwins(t, s.Client)
	d := s.Open(t, tui.Options{})
	d.Press("5")
	events := d.App.Front().(*webhooks.Events)
	for text, want := range map[string]string{
		"acme-SHOP":                         s.Subscriber,
		ids[0]:                              ids[0],
		ids[1]:                              ids[1],
		ui.ShortID(ids[0]):                  ids[0],
		ui.ShortID(ids[1]):                  ids[1],
		"Twin (" + ui.ShortID(ids[0]) + ")": ids[0],
		"TWIN (" + ui.ShortID(ids[1]) + ")": ids[1],
	} {
		got, err := events.FindSubscriber(text)
		if err != nil || got != want {
			t.Errorf("FindSubscriber(%q): got %q, error %v; want %s", text, got, err, want)
		}
	}
}

// Without the admin role, subscriptions are shown as unknown instead of zero.
func TestEventsHideCountsWithoutRole(t *testing.T) {
	i := daemontest.Start(t)
	c, err := client.New(client.Options{URL: i.URL, Token: i.Key(t, "reader")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	d := tuitest.Drive(t, c, tui.Options{})
	d.Press("5")
	d.WantText("require the role admin")
	line := d.LineWith("debtor.created")
	if strings.Count(line, "?") != 2 {
		t.Errorf("the line of debtor.created is %q, want ? for subscriptions and last occurrence", line)
	}
	if strings.Contains(line, " 0 ") {
		t.Errorf("the line of debtor.created is %q, want no zero", line)
	}

	d.Press("S")
	d.WantText("requires the role admin; yours is reader   (subscriptions)")
	if d.App.Overlay() != nil {
		t.Errorf("the event is shown without subscriptions:\n%s", d.Text())
	}
}
