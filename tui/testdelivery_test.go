package tui_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/tuitest"
)

// A test delivery does not block keys, reports a missing response after a while, and is
// also shown by the screen of the subscription.
func TestTestDeliveryWithoutResponseTimesOut(t *testing.T) {
	release := make(chan struct{})
	s := tuitest.StartReceiver(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(release) })
	id := s.Subscribe(t, "debtor.*", s.Receiver+"/slow")
	s.Latest = time.Now()
	d := s.OpenSubscriptions(t)
	d.Press("T", "y")
	d.WantText("test: waiting for the response")
	d.Press("i")
	d.WantText("Subscribers › acme-shop › debtor.*")
	d.Advance(11 * time.Second)
	d.WantText("test: no response after 10s; see the message in Messages")
	if watchers := d.App.Watchers(); len(watchers) != 0 {
		t.Errorf("after the timeout, there are the watchers %v, want none", watchers)
	}

	// The message of a disabled subscription stays queued.
	disable := wire.SubscriptionRequest{IsEnabled: new(bool)}
	if _, err := s.Client.UpdateSubscription(t.Context(), s.Subscriber, id, disable); err != nil {
		t.Fatal(err)
	}
	d.Press("R", "T")
	d.WantText("The subscription is disabled")
	d.Press("y")
	d.WantText("test: the subscription is disabled, the message is queued")
}
