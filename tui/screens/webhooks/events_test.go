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

// The list shows last occurrence and subscriptions of events, and subscriptions can
// be added.
func TestEventsShowSubscriptions(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Resize(120, 40)
	d.Press("5", "/", "'debtor.", "enter")
	line := d.LineWith("debtor.updated")
	if !strings.Contains(line, "1") || !strings.Contains(line, "11m") {
		t.Errorf("%q", line)
	}
	if line := d.LineWith("debtor.created"); !strings.Contains(line, " - ") {
		t.Errorf("%q", line)
	}
	d.Live(tui.LiveMsg{Beat: true, Changes: []wire.MessageChange{{MessageID: "x", EventName: "debtor.created", At: wire.Timestamp(d.Clock.Add(-3 * time.Second))}}})
	if line := d.LineWith("debtor.created"); !strings.Contains(line, "3s") {
		t.Errorf("%q", line)
	}
	d.Press("S")
	d.WantText("Subscriptions to debtor.created", "acme-shop, by debtor.*", "/bad/erp")
	d.Press("esc", "n")
	d.WantText("New subscription", "Subscriber", "debtor.created")
	d.Press("'nemo", "ctrl+s")
	d.WantText("no such subscriber")
	for range len("nemo") {
		d.Press("backspace")
	}
	d.Press("'acme", "tab", "tab", "'http://127.0.0.1:9/x", "ctrl+s")
	d.WantText("Created", "debtor.created to", "http://127.0.0.1:9/x", "whsec_")
	d.Press("esc")
	if line := d.LineWith("debtor.created"); !strings.Contains(line, " 2 ") {
		t.Errorf("%q", line)
	}
}

// An ambiguous subscriber name requires a short ID.
func TestAmbiguousSubscriberRequiresID(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	names := []string{"Twin", "TWIN"}
	var ids []string
	for _, name := range names {
		subscriber, err := s.Client.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: &name})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, subscriber.RecID)
	}
	d := s.Open(t, tui.Options{})
	d.Press("5", "n", "'acme-shop")
	d.WantText("Subscriber acme-shop")
	d.Erase()
	d.Press("'twin", "ctrl+s")
	d.WantText("2 subscribers have this name", ui.ShortID(ids[0]), ui.ShortID(ids[1]))
	events := d.App.Front().(*webhooks.Events)
	for i, id := range ids {
		for _, text := range []string{id, ui.ShortID(id), names[i] + " (" + ui.ShortID(id) + ")"} {
			if got, err := events.FindSubscriber(text); got != id || err != nil {
				t.Errorf("%s is %q, %v; want %s", text, got, err, id)
			}
		}
	}
	d.Erase()
	d.Press("'twi", "down")
	d.WantText("Twin ("+ui.ShortID(ids[0])+")", "TWIN ("+ui.ShortID(ids[1])+")")
	if id, err := events.FindSubscriber("acme-SHOP"); id != s.Subscriber || err != nil {
		t.Errorf("acme-SHOP is %q, %v", id, err)
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
	if line := d.LineWith("debtor.created"); strings.Count(line, "?") != 2 || strings.Contains(line, " 0 ") {
		t.Errorf("%q", line)
	}
	d.Press("S")
	d.WantText("requires the role admin; yours is reader   (subscriptions)")
	if d.App.Overlay() != nil {
		t.Errorf("the event is shown without subscriptions:\n%s", d.Text())
	}
}
