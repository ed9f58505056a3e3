package webhooks_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
)

// On a wide screen subscriptions are shown next to their subscriber, with keys to
// switch sides.
func TestSplitViewOnWideScreen(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Resize(120, 30)
	d.Press("3")
	d.WantText("acme-shop", "wms", "salesorder.created", "invento")
	d.CheckScreen()
	d.Press("j")
	d.WantNoText("salesorder.created") // wms has no subscriptions
	d.Press("k", "enter", "j")
	d.WantText("Subscribers › acme-shop", "▌  debtor.*", "2 of 3", "wms")
	d.CheckScreen()
	d.Press("o")
	d.WantText("Disable debtor.*?")
	d.Press("y", "esc")
	d.WantText(" Subscribers", "disabled")
	d.Resize(80, 24)
	d.CheckScreen()
	d.WantNoText("inventory.stocklevel") // there is no room for both
	d.Press("enter")
	d.WantText("Subscribers › acme-shop", "debtor.*")
	d.Resize(120, 30)
	d.WantText("wms", "▌  debtor.*")
	d.CheckScreen()
	d.ClickOn("wms")
	d.ClickOn("wms")
	d.WantText(" Subscribers", "▌  wms")
}

// On a large screen the state of the selected subscription is below the list.
func TestPreviewOfSubscription(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Resize(120, 40)
	d.Press("3")
	d.WantText("salesorder.created [enabled]", "Retry schedule  20h, 20h")
	d.Press("enter", "j")
	d.WantText("debtor.* [failing]", "Last failure    503 Service Unavailable")
	d.CheckScreen()
	d.Press("o", "y")
	d.WantText("debtor.* [disabled]")
}

// In the split view the number of subscriptions on the left is that of the list on the right.
func TestSplitViewUpdatesCounts(t *testing.T) {
	s := tuitest.StartReceiver(t, nil)
	s.Subscribe(t, "debtor.updated", s.Receiver)
	d := s.Open(t, tui.Options{})
	d.Resize(120, 30)
	d.Press("3", "enter")
	before := d.LineWith("debtor.updated")
	s.Subscribe(t, "debtor.created", s.Receiver)
	d.Press("R")
	d.WantText("debtor.created")
	rowBefore := strings.Split(before, "│")[1]
	want := strings.Replace(rowBefore, " 1 ", " 2 ", 1)
	row := strings.Split(d.LineWith(strings.TrimSpace(want)), "│")[1]
	if want == rowBefore || row != want {
		t.Errorf("the row on the left is %q, want %q", row, want)
	}
}
