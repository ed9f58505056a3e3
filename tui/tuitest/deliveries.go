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
	"github.com/bizhook/whd/tui/ui"
)

// Deliveries is a daemon with subscriptions of which some fail.
type Deliveries struct {
	*daemontest.Instance
	Client     *client.Client
	Subscriber string
	Receiver   string    // URL of the receiver
	Failing    string    // SubscriptionID of the subscription with a receiver that responds 503
	Latest     time.Time // when the status of a published message was last reached
}

// StartDeliveries starts a daemon and publishes events: four messages are delivered,
// three have failed and will be retried, and one has finally failed.
func StartDeliveries(t *testing.T, flags ...string) *Deliveries {
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
	}, flags...)
	s.Subscribe(t, "salesorder.created", s.Receiver+"/erp/in")
	s.Failing = s.Subscribe(t, "debtor.*", s.Receiver+"/bad/erp")
	s.Subscribe(t, "inventory.stocklevel", s.Receiver+"/gone/notify")
	disabled := wire.SubscriberRequest{Name: new("wms"), IsEnabled: new(bool)}
	if _, err := s.Client.AddSubscriber(t.Context(), disabled); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		order := fmt.Sprintf(`{"InvoiceNo":"D%d","Total":12.50}`, i)
		s.Publish(t, "salesorder.created", order, ui.StatusDelivered)
		debtor := fmt.Sprintf(`{"DebtorID":"C%d"}`, i)
		s.Publish(t, "debtor.updated", debtor, ui.StatusRetrying)
	}
	s.Publish(t, "inventory.stocklevel", `{"InventoryID":"I1","Stock":0}`, ui.StatusFailed)
	s.Publish(t, "salesorder.created", `{"InvoiceNo":"D9"}`, ui.StatusDelivered)
	return s
}

// StartReceiver starts a message receiver, and a daemon with one subscriber.
func StartReceiver(t *testing.T, receive http.HandlerFunc, flags ...string) *Deliveries {
	t.Helper()
	receiver := httptest.NewServer(receive)
	t.Cleanup(receiver.Close)
	s := &Deliveries{
		Instance: daemontest.Start(t, append(flags, "--webhooks-allow-targets", "127.0.0.0/8")...),
		Receiver: receiver.URL,
	}
	s.Client = Connect(t, s.Instance)
	subscriber, err := s.Client.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: new("acme-shop")})
	if err != nil {
		t.Fatal(err)
	}
	s.Subscriber = subscriber.RecID
	return s
}

// RespondWith returns a receiver that responds with a status code.
func RespondWith(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// StartListening starts a daemon and returns the headers of the messages that its
// subscriber receives.
func StartListening(t *testing.T) (s *Deliveries, received chan http.Header) {
	t.Helper()
	received = make(chan http.Header, 10)
	return StartReceiver(t, func(_ http.ResponseWriter, r *http.Request) { received <- r.Header }), received
}

// Subscribe creates a subscription with long retry delays.
func (s *Deliveries) Subscribe(t *testing.T, event, url string) string {
	t.Helper()
	subscription, err := s.Client.AddSubscription(t.Context(), s.Subscriber, wire.SubscriptionRequest{
		EventName:     &event,
		URL:           &url,
		RetrySchedule: new("20h, 20h"),
		Headers:       &[]wire.Header{{Name: "Authorization", Value: "Bearer of-the-test"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return subscription.RecID
}

// Publish publishes an event and waits until its message has the status.
func (s *Deliveries) Publish(t *testing.T, event, body string, status int) {
	t.Helper()
	s.PublishPost(t, wire.EventPost{EventName: event, Body: body}, status)
}

// PublishPost publishes an event and waits until its message has the status.
func (s *Deliveries) PublishPost(t *testing.T, event wire.EventPost, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Timeout)
	defer cancel()
	changes := s.Client.Stream(ctx, client.StreamOptions{Topics: []string{wire.TopicMessages}})
	published := false
	for change, err := range changes {
		if err != nil {
			t.Fatal(err)
		}
		switch change := change.(type) {
		case client.HeartbeatEvent: // the stream is ready
			if published {
				continue
			}
			published = true
			if _, err := s.Client.PublishEventWith(ctx, event, ""); err != nil {
				t.Fatal(err)
			}
		case client.MessageEvent:
			if change.Status == status {
				s.Latest = time.Time(change.At)
				return
			}
		}
	}
}

// Open drives an app with a clock eleven minutes after the last delivery, so that ages
// are always the same.
func (s *Deliveries) Open(t *testing.T, o tui.Options) *Driver {
	d := Drive(t, s.Client, o)
	d.Clock = s.Latest.Truncate(time.Second).Add(11*time.Minute + 20*time.Second)
	d.AwaitLive()
	d.Press("R")
	return d
}

// OpenSubscriptions opens the subscriptions of the first subscriber.
func (s *Deliveries) OpenSubscriptions(t *testing.T) *Driver {
	t.Helper()
	d := s.Open(t, tui.Options{})
	d.Press("3", "enter")
	d.WantText("acme-shop")
	return d
}

// EnableSubscriber enables or disables the subscriber as another user would.
func (s *Deliveries) EnableSubscriber(t *testing.T, on bool) {
	t.Helper()
	request := wire.SubscriberRequest{IsEnabled: &on}
	if _, err := s.Client.UpdateSubscriber(t.Context(), s.Subscriber, request); err != nil {
		t.Fatal(err)
	}
}

// MessageCount returns the number of messages.
func (s *Deliveries) MessageCount(t *testing.T) int64 {
	t.Helper()
	page, err := s.Client.AllMessages(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return page.Total
}
