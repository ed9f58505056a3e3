package tui

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui/screens/home"
	"github.com/bizhook/whd/tui/ui"
)

// deliveries is a daemon with subscriptions some of which fail.
type deliveries struct {
	*daemontest.Instance
	client     *client.Client
	subscriber string
	receiver   string // its address
	bad        string // the subscription whose receiver answers 503
	latest     time.Time
}

// startDeliveries runs a daemon and has it send: five messages arrive, three
// fail and wait for long, one has failed for good.
func startDeliveries(t *testing.T) *deliveries {
	t.Helper()
	s := startReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bad/erp":
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "<html>\n<h1>upstream is down</h1>\n</html>")
		case "/gone/notify":
			w.Header().Set("webhook-delivery", "abort-message")
			w.WriteHeader(http.StatusBadRequest)
		}
	})
	s.subscribe(t, "salesorder.created", s.receiver+"/erp/in")
	s.bad = s.subscribe(t, "debtor.*", s.receiver+"/bad/erp")
	s.subscribe(t, "inventory.stocklevel", s.receiver+"/gone/notify")
	other := "wms"
	if _, err := s.client.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: &other, IsEnabled: new(bool)}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		s.raise(t, "salesorder.created", fmt.Sprintf(`{"InvoiceNo":"D%d","Total":12.50}`, i), 1)
		s.raise(t, "debtor.updated", fmt.Sprintf(`{"DebtorID":"C%d"}`, i), 2)
	}
	s.raise(t, "inventory.stocklevel", `{"InventoryID":"I1","Stock":0}`, 3)
	s.raise(t, "salesorder.created", `{"InvoiceNo":"D9"}`, 1)
	return s
}

// startReceiver runs a receiver of messages, and a daemon with one subscriber.
func startReceiver(t *testing.T, receive http.HandlerFunc) *deliveries {
	t.Helper()
	receiver := httptest.NewServer(receive)
	t.Cleanup(receiver.Close)
	s := &deliveries{Instance: daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8"), receiver: receiver.URL}
	s.client = connected(t, s.Instance)
	name := "acme-shop"
	subscriber, err := s.client.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	s.subscriber = subscriber.RecID
	return s
}

func (s *deliveries) subscribe(t *testing.T, event, url string) string {
	t.Helper()
	schedule := "20h, 20h"
	headers := []wire.Header{{Name: "Authorization", Value: "Bearer of-the-test"}}
	made, err := s.client.AddSubscription(t.Context(), s.subscriber, wire.SubscriptionRequest{EventName: &event, URL: &url, RetrySchedule: &schedule, Headers: &headers})
	if err != nil {
		t.Fatal(err)
	}
	return made.RecID
}

// raise raises an event and waits until its message has the status.
func (s *deliveries) raise(t *testing.T, event, body string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	changes := s.client.Stream(ctx, client.StreamOptions{Topics: []string{wire.TopicMessages}})
	raised := false
	for e, err := range changes {
		if err != nil {
			t.Fatal(err)
		}
		if _, ready := e.(client.HeartbeatEvent); ready && !raised {
			if _, err := s.client.RaiseEvent(ctx, event, body); err != nil {
				t.Fatal(err)
			}
			raised = true
		}
		if m, ok := e.(client.MessageEvent); ok && m.Status == status {
			s.latest = time.Time(m.At)
			return
		}
	}
}

// open drives an app whose clock is eleven minutes behind the last delivery, so
// that every age is the same.
func (s *deliveries) open(t *testing.T, o Options) *driver {
	d := drive(t, s.client, o)
	d.clock = s.latest.Truncate(time.Second).Add(11*time.Minute + 20*time.Second)
	d.awaitLive()
	d.press("R")
	return d
}

// volatile is what is another in each run.
var volatile = []struct {
	is *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`\d\d:\d\d:\d\d`), "14:02:07"},
	{regexp.MustCompile(`\b\d\d:\d\d\b`), "14:02"},
	{regexp.MustCompile(`in [12]\dh`), "in 20h"},
	{regexp.MustCompile(`[ \d,]{7}\d ms`), "       1 ms"},
}

func init() { passing = append(passing, volatile...) }

// busyHour gives the chart an hour, where the test had but a second.
func busyHour(s *wire.Stats) {
	s.SinceDateTime = wire.Moment{}
	s.Minutes.Delivered, s.Minutes.Failed, s.Minutes.GivenUp = make([]int64, 60), make([]int64, 60), make([]int64, 60)
	for i := range 60 {
		s.Minutes.Delivered[i] = int64(i * i % 41)
		if i%13 > 9 {
			s.Minutes.Failed[i] = int64(i % 17)
		}
	}
}

func TestWebhookScreens(t *testing.T) {
	s := startDeliveries(t)
	forAppearances(t, func(t *testing.T, appearance string, o Options) {
		d := s.open(t, o)
		busyHour(d.app.Front().(*home.Screen).Stats)
		d.golden("S01-home", appearance)
		d.press("3")
		d.golden("S07-subscribers", appearance)
		d.press("enter")
		d.golden("S07-subscriptions", appearance)
		d.press("n", "'salesorder.u")
		d.golden("S08-subscription", appearance)
		d.press("esc", "4")
		d.golden("S09-messages", appearance)
		d.press("!", "j", "r")
		d.golden("S11-retry", appearance)
		d.press("esc", "a", "r")
		d.golden("S11-retry-all", appearance)
		d.press("esc")
		ui.AskMany(d.app, 1204, "Retry 1,204 messages?", "retry 1,204", []string{" 1204  hooks.acme.test/erp/in   last 503", "Each is sent once more, oldest first."}, nil)
		d.press("'12")
		d.golden("S11-retry-many", appearance)
		d.press("esc", "esc", "enter")
		d.golden("S10-message", appearance)
		d.press("tab")
		d.golden("S10-message-body", appearance)
		d.press("tab")
		d.golden("S10-message-headers", appearance)
		d.press("tab")
		d.golden("S10-message-response", appearance)
		d.press("tab")
		d.golden("S10-message-curl", appearance)
		d.press("5", "/", "'stock", "enter")
		d.golden("S00-events", appearance)
	})
}

// Nothing is sent or deleted while the session only reads, whatever is pressed.
func TestReadOnlySendsNothing(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{ReadOnly: true})
	d.sees(" RO  LIVE")
	d.press("4", "r")
	d.sees("read-only")
	d.press("y", "D", "y", "3", "o", "y", "n", "esc", "enter", "T", "y", "D", "y")
	page, err := s.client.AllMessages(t.Context(), nil)
	if err != nil || page.Total != 8 {
		t.Errorf("there are %d messages, %v", page.Total, err)
	}
	if strings.Contains(s.Log.String(), "DELETE") {
		t.Error("something was deleted")
	}
}

// A failed message is found from the first screen, retried, and seen to arrive.
func TestRetryIsSeen(t *testing.T) {
	s := startDeliveries(t)
	d := s.open(t, Options{})
	d.sees("127.0.0.1", "Problem endpoints")
	d.press("!")
	d.sees("[problems]", "RETRY", "FAIL")
	d.press("r")
	d.sees("Retry this message?")
	d.press("y")
	d.until("the retry is shown", func() bool { return strings.Contains(d.text(), "2/3") })
}
