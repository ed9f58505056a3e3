package tui

import (
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/ui"
)

// told waits until the status line has said something that a pattern fits.
func (d *driver) told(pattern string) {
	d.t.Helper()
	is := regexp.MustCompile(pattern)
	d.until("it says "+pattern, func() bool { return is.MatchString(d.text()) })
}

// A test says what the receiver answered, and what becomes of the message then.
func TestTrialTellsTheOutcome(t *testing.T) {
	var code atomic.Int64
	s := startReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		if code.Load() == 400 {
			w.Header().Set("webhook-delivery", "abort-message")
		}
		w.WriteHeader(int(code.Load()))
	})
	s.subscribe(t, "debtor.*", s.receiver+"/in?token=canary99")
	s.latest = time.Now()
	d := s.subscriptionsOf(t)
	for _, test := range []struct {
		code int64
		want string
	}{
		{200, `test: 200 OK in [\d,]+ ms`},
		{503, `test: 503 Service Unavailable; it is tried again in [12]\dh`},
		{400, `test: 400 Bad Request; it is not tried again`},
	} {
		code.Store(test.code)
		d.press("T")
		d.sees("Send a test message?", "?token="+ui.SecretMask)
		d.press("y")
		d.told(test.want)
	}
	if strings.Contains(d.text(), "canary99") {
		t.Errorf("a key is shown:\n%s", d.text())
	}
}

// While there is no answer the keys work, and after a while that is said; the
// same test is told by the screen of the subscription.
func TestTrialWithoutAnswer(t *testing.T) {
	enough := make(chan struct{})
	s := startReceiver(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-enough:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(enough) })
	id := s.subscribe(t, "debtor.*", s.receiver+"/slow")
	s.latest = time.Now()
	d := s.subscriptionsOf(t)
	d.press("T", "y")
	d.sees("test: waiting for the answer")
	d.press("i")
	d.sees("Subscribers › acme-shop › debtor.*")
	d.later(11 * time.Second)
	d.sees("test: no answer yet after 10s; its message is in Messages")
	if len(d.app.watchers) != 0 {
		t.Errorf("it still waits: %v", d.app.watchers)
	}

	off := false
	if _, err := s.client.UpdateSubscription(t.Context(), s.subscriber, id, wire.SubscriptionRequest{IsEnabled: &off}); err != nil {
		t.Fatal(err)
	}
	d.press("R", "T")
	d.sees("The subscription is off")
	d.press("y")
	d.sees("test: the subscription is off, the message waits")
}

// A message behind an endpoint that fails is said to wait, without waiting long.
func TestTrialBehindAFailingEndpoint(t *testing.T) {
	s := startReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	s.subscribe(t, "debtor.updated", s.receiver+"/erp")
	for range 5 {
		s.raise(t, "debtor.updated", `{"DebtorID":"C0"}`, 2)
	}
	s.latest = time.Now()
	d := s.subscriptionsOf(t)
	d.sees("held")
	d.press("T", "y")
	d.later(webhooks.TestHeldTimeout + time.Second)
	d.sees("test: it waits, since the endpoint fails; that is tried again")
}

// A form that tests says what came of it too, in the box with the secret.
func TestTrialOfAForm(t *testing.T) {
	s, _ := startListening(t)
	s.latest = time.Now()
	d := s.subscriptionsOf(t)
	d.press("n", "'salesorder.created", "tab", "'"+s.receiver+"/in?token=canary99", "ctrl+t")
	d.sees("Created", "whsec_", "?token="+ui.SecretMask)
	d.told(`Test: 200 OK in`)
	d.told(`created; test: 200 OK in`)
	if strings.Contains(d.text(), "canary99") {
		t.Errorf("a key is shown:\n%s", d.text())
	}
}
