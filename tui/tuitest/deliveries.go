package tuitest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
)

// Deliveries is a daemon with subscriptions some of which fail.
type Deliveries struct {
	*daemontest.Instance
	Client     *client.Client
	Subscriber string
	Receiver   string // its address
	Failing    string // the subscription whose receiver answers 503
	Latest     time.Time
}

// StartDeliveries runs a daemon and has it send: five messages arrive, three
// fail and wait for long, one has failed for good.
func StartDeliveries(t *testing.T) *Deliveries {
	t.Helper()
	s := StartReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bad/erp":
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "<html>\n<h1>upstream is down</h1>\n</html>")
		case "/gone/notify":
			w.Header().Set("webhook-delivery", "abort-message")
			w.WriteHeader(http.StatusBadRequest)
		}
	})
	s.Subscribe(t, "salesorder.created", s.Receiver+"/erp/in")
	s.Failing = s.Subscribe(t, "debtor.*", s.Receiver+"/bad/erp")
	s.Subscribe(t, "inventory.stocklevel", s.Receiver+"/gone/notify")
	other := "wms"
	if _, err := s.Client.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: &other, IsEnabled: new(bool)}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		s.Publish(t, "salesorder.created", fmt.Sprintf(`{"InvoiceNo":"D%d","Total":12.50}`, i), 1)
		s.Publish(t, "debtor.updated", fmt.Sprintf(`{"DebtorID":"C%d"}`, i), 2)
	}
	s.Publish(t, "inventory.stocklevel", `{"InventoryID":"I1","Stock":0}`, 3)
	s.Publish(t, "salesorder.created", `{"InvoiceNo":"D9"}`, 1)
	return s
}

// StartReceiver runs a receiver of messages, and a daemon with one subscriber.
func StartReceiver(t *testing.T, receive http.HandlerFunc) *Deliveries {
	t.Helper()
	receiver := httptest.NewServer(receive)
	t.Cleanup(receiver.Close)
	s := &Deliveries{Instance: daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8"), Receiver: receiver.URL}
	s.Client = Connect(t, s.Instance)
	name := "acme-shop"
	subscriber, err := s.Client.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	s.Subscriber = subscriber.RecID
	return s
}

// StartListening runs a daemon whose subscriber's messages are seen.
func StartListening(t *testing.T) (s *Deliveries, received chan http.Header) {
	t.Helper()
	received = make(chan http.Header, 10)
	return StartReceiver(t, func(_ http.ResponseWriter, r *http.Request) { received <- r.Header }), received
}

// Subscribe makes a subscription whose messages wait long for a retry.
func (s *Deliveries) Subscribe(t *testing.T, event, url string) string {
	t.Helper()
	schedule := "20h, 20h"
	headers := []wire.Header{{Name: "Authorization", Value: "Bearer of-the-test"}}
	made, err := s.Client.AddSubscription(t.Context(), s.Subscriber, wire.SubscriptionRequest{EventName: &event, URL: &url, RetrySchedule: &schedule, Headers: &headers})
	if err != nil {
		t.Fatal(err)
	}
	return made.RecID
}

// Publish raises an event and waits until its message has the status.
func (s *Deliveries) Publish(t *testing.T, event, body string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Timeout)
	defer cancel()
	changes := s.Client.Stream(ctx, client.StreamOptions{Topics: []string{wire.TopicMessages}})
	published := false
	for e, err := range changes {
		if err != nil {
			t.Fatal(err)
		}
		if _, ready := e.(client.HeartbeatEvent); ready && !published {
			if _, err := s.Client.RaiseEvent(ctx, event, body); err != nil {
				t.Fatal(err)
			}
			published = true
		}
		if m, ok := e.(client.MessageEvent); ok && m.Status == status {
			s.Latest = time.Time(m.At)
			return
		}
	}
}

// Open drives an app whose clock is eleven minutes behind the last delivery, so
// that every age is the same.
func (s *Deliveries) Open(t *testing.T, o tui.Options) *Driver {
	d := Drive(t, s.Client, o)
	d.Clock = s.Latest.Truncate(time.Second).Add(11*time.Minute + 20*time.Second)
	d.AwaitLive()
	d.Press("R")
	return d
}

// OpenSubscriptions opens the list of subscriptions of the first subscriber.
func (s *Deliveries) OpenSubscriptions(t *testing.T) *Driver {
	t.Helper()
	d := s.Open(t, tui.Options{})
	d.Press("3", "enter")
	d.WantText("acme-shop")
	return d
}

// EnableSubscriber enables or disables the subscriber, as somebody else does.
func (s *Deliveries) EnableSubscriber(t *testing.T, on bool) {
	t.Helper()
	if _, err := s.Client.UpdateSubscriber(t.Context(), s.Subscriber, wire.SubscriberRequest{IsEnabled: &on}); err != nil {
		t.Fatal(err)
	}
}

// MessageCount is how many messages the service has.
func (s *Deliveries) MessageCount(t *testing.T) int64 {
	t.Helper()
	page, err := s.Client.AllMessages(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return page.Total
}
