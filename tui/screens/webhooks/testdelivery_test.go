package webhooks_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// A test delivery shows the response and the next attempt.
func TestTestDeliveryShowsResult(t *testing.T) {
	var code atomic.Int64
	s := tuitest.StartReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		if code.Load() == 400 {
			w.Header().Set("webhook-delivery", "abort-message")
		}
		w.WriteHeader(int(code.Load()))
	})
	s.Subscribe(t, "debtor.*", s.Receiver+"/in?token=canary99")
	s.Latest = time.Now()
	d := s.OpenSubscriptions(t)
	for _, test := range []struct {
		code int64
		want string
	}{
		{200, `test: 200 OK in (< 1|[\d,]+) ms`},
		{503, `test: 503 Service Unavailable; it will not be retried`},
		{400, `test: 400 Bad Request; it will not be retried`},
	} {
		code.Store(test.code)
		d.Press("T")
		d.WantText("Send a test message?", "?token="+ui.SecretMask)
		d.Press("y")
		d.WaitFor(test.want)
	}
	d.WantNoText("canary99")
}

// With an open circuit breaker the wait for the result is short.
func TestTestDeliveryWithOpenBreakerEndsEarly(t *testing.T) {
	s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusServiceUnavailable))
	s.Subscribe(t, "debtor.updated", s.Receiver+"/erp")
	for range 5 {
		s.Publish(t, "debtor.updated", `{"DebtorID":"C0"}`, 2)
	}
	s.Latest = time.Now()
	d := s.OpenSubscriptions(t)
	d.WantText("paused")
	d.Press("T", "y")
	d.Advance(webhooks.BreakerTestTimeout + time.Second)
	d.WantText("test: message queued, paused after failures")
}

// The result of a test requested in a form is shown in the box of the secret too.
func TestTestDeliveryFromFormShowsResult(t *testing.T) {
	s, _ := tuitest.StartListening(t)
	s.Latest = time.Now()
	d := s.OpenSubscriptions(t)
	d.Press("n", "'salesorder.created", "tab", "'"+s.Receiver+"/in?token=canary99", "ctrl+t")
	d.WantText("Created", "whsec_", "?token="+ui.SecretMask)
	d.WaitFor(`Test: 200 OK in`)
	d.WaitFor(`created; test: 200 OK in`)
	d.WantNoText("canary99")
}
