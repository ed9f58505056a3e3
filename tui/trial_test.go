package tui_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/tuitest"
)

// While there is no answer the keys work, and after a while that is said; the
// same test is told by the screen of the subscription.
func TestTrialWithoutAnswer(t *testing.T) {
	enough := make(chan struct{})
	s := tuitest.StartReceiver(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-enough:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(enough) })
	id := s.Subscribe(t, "debtor.*", s.Receiver+"/slow")
	s.Latest = time.Now()
	d := s.OpenSubscriptions(t)
	d.Press("T", "y")
	d.WantText("test: waiting for the answer")
	d.Press("i")
	d.WantText("Subscribers › acme-shop › debtor.*")
	d.Advance(11 * time.Second)
	d.WantText("test: no answer yet after 10s; its message is in Messages")
	if len(d.App.Watchers()) != 0 {
		t.Errorf("it still waits: %v", d.App.Watchers())
	}

	off := false
	if _, err := s.Client.UpdateSubscription(t.Context(), s.Subscriber, id, wire.SubscriptionRequest{IsEnabled: &off}); err != nil {
		t.Fatal(err)
	}
	d.Press("R", "T")
	d.WantText("The subscription is off")
	d.Press("y")
	d.WantText("test: the subscription is off, the message waits")
}
