package tui

import (
	"strings"
	"testing"
)

// Where there is room, the subscriptions stand beside their subscriber, and a
// key goes over to them and back.
func TestSubscriptionsBesideSubscribers(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.resize(120, 30)
	d.press("3")
	d.sees("acme-shop", "wms", "salesorder.cre", "inventory")
	d.checkScreen()
	d.press("j")
	if strings.Contains(d.text(), "salesorder.cre") {
		t.Errorf("wms has no subscriptions:\n%s", d.text())
	}
	d.press("k", "enter", "j")
	d.sees("Subscribers › acme-shop", "▸ debtor.*", "row 2 of 3", "wms")
	d.checkScreen()
	d.press("o")
	d.sees("Disable debtor.*?")
	d.press("y", "esc")
	d.sees(" Subscribers", "disabled")
	d.resize(80, 24)
	d.checkScreen()
	if strings.Contains(d.text(), "inventory.stocklevel") {
		t.Errorf("there is no room for both:\n%s", d.text())
	}
	d.press("enter")
	d.sees("Subscribers › acme-shop", "debtor.*")
	d.resize(120, 30)
	d.sees("wms", "▸ debtor.*")
	d.checkScreen()
	d.clickOn("wms")
	d.clickOn("wms")
	d.sees(" Subscribers", "▸ wms")
}
