package delivery_test

import (
	"context"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/hostiletest"
)

// TestHealthyEndpointAmongHostileOnes delivers to a healthy endpoint, and to all hostile receivers
// of another subscriber. After these are deleted no attempt is left, and the engine stops.
func TestHealthyEndpointAmongHostileOnes(t *testing.T) {
	certificate := httptest.NewTLSServer(http.NotFoundHandler())
	certificate.Close()
	h := newTestEnv(t)
	h.limit = 2 * time.Second
	h.policy.Schedule = []time.Duration{time.Millisecond, 20 * time.Millisecond}
	h.roots = x509.NewCertPool()
	h.roots.AddCert(certificate.Certificate())
	h.start()

	var hostile []webhook.Subscription
	for _, r := range hostiletest.Table() {
		server := r.Start(t, certificate.TLS)
		hostile = append(hostile, h.subscribe(server.URL, "debtor.*"))
	}
	attacker := h.subscriber
	shop, err := h.service.AddSubscriber(context.Background(), admin.Subscriber{Name: "Healthy", Enabled: true}, audit.System())
	if err != nil {
		t.Fatal(err)
	}
	h.subscriber = shop.GUID
	healthy := newEndpoint(t, always(200))
	h.subscribe(healthy.URL, "creditor.*")

	const events = 4
	for range events {
		h.publish("debtor.updated", `{"DebtorID": "0001"}`)
		h.publish("creditor.updated", `{"CreditorID": "0001"}`)
	}
	healthy.awaitDelivered(t, events)
	healthy.checkDeliveredOnce(t, events)

	for _, sub := range hostile {
		if err := h.service.RemoveSubscription(context.Background(), attacker, sub.GUID); err != nil {
			t.Fatal(err)
		}
	}
	end := time.Now().Add(testTimeout)
	for h.engine.InHand().InFlight > 0 && time.Now().Before(end) {
		time.Sleep(10 * time.Millisecond)
	}
	if n := h.engine.InHand().InFlight; n > 0 {
		t.Errorf("%d attempts are in flight after the subscriptions were deleted", n)
	}
	h.publish("creditor.updated", `{"CreditorID": "0002"}`)
	healthy.awaitDelivered(t, events+1)
	if problems := h.engine.Problems(); len(problems) > 0 {
		t.Errorf("the engine reports %q", problems)
	}
}
