package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
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
