package tui_test

import (
	"testing"

	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/tuitest"
)

// While a change is being sent, the program does not end, and neither the profile nor the user
// changes: its outcome may be a secret.
func TestChangeInFlightIsNotAbandoned(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	o := twoProfileOptions(t, s.Instance, s.Instance)
	d := s.Open(t, o)
	d.Press("3", "enter")
	subscription, _ := d.App.Front().(*webhooks.Subscriptions).Selected()
	change := webhooks.RotateSecret(d.App, subscription)
	d.WantText("new secret of " + subscription.EventName + " ...")
	d.Press("ctrl+c")
	d.WantText("a change is being sent: press again to quit")
	if d.Quit {
		t.Fatal("quit while a secret is being created")
	}
	d.Press(":", "'@test", "enter")
	d.WantText("a change is being sent: wait for its outcome")
	signIn(d, "wes", wesPassword)
	d.WantText("wait: a change of admin is being sent")
	d.Press("esc")

	d.Send(change())
	d.WantText("New secret", "whsec_")
	d.Press("esc")
	d.WantNoText("new secret of " + subscription.EventName + " ...")
	d.Press("ctrl+c")
	if !d.Quit {
		t.Error("without a change in flight, the program does not end")
	}
}
