package tui_test

import (
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/tuitest"
)

// The menu does nothing if another screen has replaced the one of its actions.
func TestMenuIsCancelledIfScreenChanges(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8")
	s := &tuitest.Deliveries{
		Instance: i,
		Client:   tuitest.Connect(t, i),
		Receiver: "http://127.0.0.1:9",
		Latest:   time.Now(),
	}
	subscriber, err := s.Client.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: new("acme-shop")})
	if err != nil {
		t.Fatal(err)
	}
	s.Subscriber = subscriber.RecID
	gone := s.Subscribe(t, "debtor.*", s.Receiver+"/a")
	s.Subscribe(t, "salesorder.created", s.Receiver+"/b")
	d := s.OpenSubscriptions(t)

	// The screen below the menu closes when its subscription is deleted.
	d.Press("i", "x")
	isToggle := func(b keymap.Binding) bool { return b.Action == keymap.ToggleEnabled }
	d.App.SelectAction(isToggle)
	m, screen := d.App.Overlay(), d.App.Front()
	if err := s.Client.RemoveSubscription(t.Context(), s.Subscriber, gone); err != nil {
		t.Fatal(err)
	}
	d.Run(screen.(*webhooks.Subscription).Poll())
	d.Settle()
	if _, isList := d.App.Front().(*webhooks.Subscriptions); !isList || d.App.Overlay() != m {
		t.Fatalf("after the delete, a %T is below a %T, want the list below the menu",
			d.App.Front(), d.App.Overlay())
	}
	d.Press("enter")
	if d.App.Overlay() != nil {
		t.Errorf("enter in the menu opens a %T, want nothing:\n%s", d.App.Overlay(), d.Text())
	}
	d.WantText("cancelled: the screen changed")

	// The menu of the list has an effect.
	d.Press("x", "esc", "x")
	d.App.SelectAction(isToggle)
	d.Press("enter")
	d.WantText("Disable salesorder.created?")
}
