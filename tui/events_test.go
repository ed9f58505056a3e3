package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/ui"
)

// Of each event is shown when it was raised last and who gets it, and somebody
// can be subscribed to it.
func TestEvents(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.resize(120, 40)
	d.press("5", "/", "'debtor.", "enter")
	line := lineWith(t, d, "debtor.updated")
	if !strings.Contains(line, "1") || !strings.Contains(line, "11m") {
		t.Errorf("%q", line)
	}
	if line := lineWith(t, d, "debtor.created"); !strings.Contains(line, " - ") {
		t.Errorf("%q", line)
	}
	d.send(liveMsg{session: d.app.link.session, beat: true, changes: []wire.MessageChange{{MessageID: "x", EventName: "debtor.created", At: wire.Moment(d.clock.Add(-3 * time.Second))}}})
	if line := lineWith(t, d, "debtor.created"); !strings.Contains(line, "3s") {
		t.Errorf("%q", line)
	}
	d.press("S")
	d.sees("Who gets debtor.created", "acme-shop, by debtor.*", "/bad/erp")
	d.press("esc", "n")
	d.sees("New subscription", "Subscriber", "debtor.created")
	d.press("'nobody", "ctrl+s")
	d.sees("there is no such subscriber")
	for range len("nobody") {
		d.press("backspace")
	}
	d.press("'acme", "tab", "tab", "'http://127.0.0.1:9/x", "ctrl+s")
	d.sees("Created", "debtor.created to", "http://127.0.0.1:9/x", "whsec_")
	d.press("esc")
	if line := lineWith(t, d, "debtor.created"); !strings.Contains(line, " 2 ") {
		t.Errorf("%q", line)
	}
}

// lineWith is the first line of the screen with a text.
func lineWith(t *testing.T, d *driver, text string) string {
	t.Helper()
	for line := range strings.SplitSeq(d.text(), "\n") {
		if strings.Contains(line, text) {
			return line
		}
	}
	t.Fatalf("no line has %q:\n%s", text, d.text())
	return ""
}

// Where several subscribers have a name, the ends of the id say which is meant.
func TestNamesOfSeveral(t *testing.T) {
	s := startDeliveries(t)
	var ids []string
	for _, name := range []string{"Twin", "TWIN"} {
		one, err := s.client.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: &name})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, one.RecID)
	}
	d := s.open(t, Options{})
	d.press("5", "n", "'acme-shop")
	d.sees("Subscriber acme-shop")
	d.erase()
	d.press("'twin", "ctrl+s")
	d.sees("2 subscribers are called so", ui.ShortID(ids[0]), ui.ShortID(ids[1]))
	events := d.app.Front().(*webhooks.Events)
	for i, id := range ids {
		for _, text := range []string{id, ui.ShortID(id), []string{"Twin", "TWIN"}[i] + " (" + ui.ShortID(id) + ")"} {
			if got, err := events.Meant(text); got != id || err != nil {
				t.Errorf("%s is %q, %v; want %s", text, got, err, id)
			}
		}
	}
	d.erase()
	d.press("'twi", "down")
	d.sees("Twin ("+ui.ShortID(ids[0])+")", "TWIN ("+ui.ShortID(ids[1])+")")
	if id, err := events.Meant("acme-SHOP"); id != s.subscriber || err != nil {
		t.Errorf("acme-SHOP is %q, %v", id, err)
	}
}
