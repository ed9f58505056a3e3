package daemon_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// awaitStats polls the statistics until they have a number of deliveries and of failed attempts.
func awaitStats(t *testing.T, c *client.Client, delivered, failed int64) *wire.Stats {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		s, err := c.Stats(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if s.Totals.Delivered == delivered && s.Totals.Failed == failed {
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("after a minute the statistics have the totals %+v, want %d delivered and %d failed",
				s.Totals, delivered, failed)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// same compares a value with the expected one.
func same[T comparable](t *testing.T, name string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

// between checks that a duration is in a range.
func between(t *testing.T, name string, got, atLeast, atMost time.Duration) {
	t.Helper()
	if got < atLeast || got > atMost {
		t.Errorf("%s: got %v, want %v to %v", name, got, atLeast, atMost)
	}
}

func sumOf(all []int64) (sum int64) {
	for _, n := range all {
		sum += n
	}
	return sum
}

// TestStatsOfDeliveries checks statistics and metrics for an endpoint that accepts
// messages and one that fails.
func TestStatsOfDeliveries(t *testing.T) {
	i, as := startWebhooks(t, "--webhooks-retry-schedule", "1h,1h")
	admin, ctx := as("admin"), context.Background()
	good, got := receiver(t, 200)
	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }))
	t.Cleanup(bad.Close)
	shop := addShop(t, admin)
	subscribe(t, admin, shop, good, "*")
	subscribe(t, admin, shop, bad.URL, "debtor.updated")

	publisher := as("publisher")
	for range 3 {
		if _, err := publisher.PublishEvent(ctx, "debtor.updated", "{}"); err != nil {
			t.Fatal(err)
		}
		await(t, got)
	}
	for _, status := range []string{"1", "2"} {
		const third = "2" // Skip
		settled(t, admin, shop, url.Values{"Status": {status}, "Skip": {third}})
	}

	s := awaitStats(t, admin, 3, 3)
	expectTotals(t, s)
	expectMinutes(t, s)
	same(t, "daemons", s.Daemons, 1)
	same(t, "subscriptions", s.Subscriptions, 2)
	same(t, "disabled subscriptions", s.Disabled, 0)
	same(t, "other queues", s.OtherQueues, 0)
	if len(s.Queues) != 2 {
		t.Fatalf("got %d queues, want 2: %+v", len(s.Queues), s.Queues)
	}
	expectFailing(t, s, s.Queues[0], shop, bad.URL)
	expectDelivering(t, s.Queues[1], good)

	_, shown := get(t, i.URL+"/metrics")
	expectMetrics(t, shown)
	for _, id := range []string{shop, s.Queues[0].SubscriptionID, bad.URL} {
		if strings.Contains(shown, id) {
			t.Errorf("the metrics contain %s", id)
		}
	}
}

// addShop adds a subscriber and returns its ID.
func addShop(t *testing.T, admin *client.Client) string {
	t.Helper()
	shop, err := admin.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}
	return shop.RecID
}

// subscribe adds a subscription of an event.
func subscribe(t *testing.T, admin *client.Client, subscriber, to, event string) {
	t.Helper()
	_, err := admin.AddSubscription(t.Context(), subscriber, wire.SubscriptionRequest{
		URL:       &to,
		EventName: &event,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// expectFailing checks the queue of the endpoint that fails: three messages wait for an hour.
func expectFailing(t *testing.T, s *wire.Stats, q wire.Queue, subscriber, to string) {
	t.Helper()
	same(t, "URL of the failing queue", q.URL, to)
	same(t, "its subscriber", q.SubscriberID, subscriber)
	same(t, "the name of its subscriber", q.SubscriberName, "Shop")
	same(t, "its event", q.EventName, "debtor.updated")
	same(t, "its failed attempts", q.Failed, 3)
	same(t, "its open messages", q.Pending, 3)
	same(t, "its messages that wait for a retry", q.RetryPending, 3)
	same(t, "its breaker", q.Breaker, wire.BreakerClosed)
	same(t, "is it failing since no time", time.Time(q.FailingSince).IsZero(), false)
	if q.LastFailure == nil || q.LastFailure.HTTPCode != 503 {
		t.Errorf("its last failure: got %+v, want status 503", q.LastFailure)
	}
	wait := time.Time(q.NextAttemptDateTime).Sub(time.Time(s.ServerDateTime))
	between(t, "the time to its next attempt", wait, 30*time.Minute, 2*time.Hour)
}

// expectDelivering checks the queue of the endpoint that accepts messages.
func expectDelivering(t *testing.T, q wire.Queue, to string) {
	t.Helper()
	same(t, "URL of the delivering queue", q.URL, to)
	same(t, "its deliveries", q.Delivered, 3)
	same(t, "its open messages", q.Pending, 0)
	same(t, "is it failing since no time", time.Time(q.FailingSince).IsZero(), true)
	if q.LastFailure != nil {
		t.Errorf("its last failure: got %+v, want none", q.LastFailure)
	}
	if q.P99 <= 0 || q.Limit < 1 {
		t.Errorf("its p99 and limit: got %v and %d, want more than 0", q.P99, q.Limit)
	}
}

// expectTotals checks the statistics over all subscriptions.
func expectTotals(t *testing.T, s *wire.Stats) {
	t.Helper()
	same(t, "events", s.Totals.Events, 3)
	same(t, "messages", s.Totals.Messages, 6)
	if s.SuccessRate == nil || *s.SuccessRate != 0.5 {
		t.Errorf("success rate: got %v, want 0.5", s.SuccessRate)
	}
	if s.Latency.P50 <= 0 {
		t.Errorf("median latency: got %v, want more than 0", s.Latency.P50)
	}
	if s.Delay.P50 <= 0 || s.Delay.P99 < s.Delay.P50 {
		t.Errorf("delay: got %+v, want a median of more than 0, and a p99 not below it", s.Delay)
	}
	if s.Depth == nil {
		t.Fatalf("depth: got none (%s), want one", s.DepthMessage)
	}
	same(t, "messages not sent", s.Depth.NotSent, 0)
	same(t, "messages that wait for a retry", s.Depth.RetryPending, 3)
	same(t, "has the oldest message no time", time.Time(s.Depth.OldestDateTime).IsZero(), false)
	same(t, "message about the depth", s.DepthMessage, "")
}

// expectMinutes checks the counts of the last hour by minute.
func expectMinutes(t *testing.T, s *wire.Stats) {
	t.Helper()
	m := s.Minutes
	same(t, "minutes", len(m.Delivered), 60)
	same(t, "delivered in all minutes", sumOf(m.Delivered), 3)
	same(t, "failed in all minutes", sumOf(m.Failed), 3)
	same(t, "given up in all minutes", sumOf(m.GivenUp), 0)
	same(t, "messages of all minutes", sumOf(m.Messages), 6)
	same(t, "events of all minutes", sumOf(m.Events), 3)

	now := time.Time(s.ServerDateTime)
	begin := time.Time(m.From)
	same(t, "window", s.Window, wire.TimeSpan(time.Hour))
	same(t, "second of the first minute", begin.Second(), 0)
	between(t, "time since the first minute", now.Sub(begin), 59*time.Minute, time.Hour)
	between(t, "time since counting", now.Sub(time.Time(s.SinceDateTime)), 1, time.Hour)
}

// expectMetrics checks the same in /metrics.
func expectMetrics(t *testing.T, shown string) {
	t.Helper()
	for _, line := range []string{
		`whd_webhook_attempts_total{outcome="ok"} 3`,
		`whd_webhook_attempts_total{outcome="5xx"} 3`,
		`whd_webhook_attempts_total{outcome="timeout"} 0`,
		`whd_webhook_attempt_seconds_count 6`,
		`whd_webhook_delivery_seconds_count 3`,
		`whd_webhook_messages_open{status="retry_pending"} 3`,
		`whd_webhook_messages_open{status="not_sent"} 0`,
		`whd_webhook_subscriptions{state="enabled"} 2`,
		`whd_webhook_subscriptions{state="disabled"} 0`,
		`whd_webhook_events_total 3`,
		`whd_webhook_daemons 1`,
	} {
		if !strings.Contains(shown, "\n"+line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
}

// TestStatsWindows requests statistics for valid and invalid windows.
func TestStatsWindows(t *testing.T) {
	_, as := startWebhooks(t)
	admin := as("admin")
	for window, want := range map[time.Duration]int{
		0:                60,
		time.Minute:      1,
		90 * time.Second: 2,
		24 * time.Hour:   1440,
	} {
		s, err := admin.Stats(t.Context(), window)
		if err != nil || len(s.Minutes.Failed) != want ||
			s.Window != wire.TimeSpan(time.Duration(want)*time.Minute) ||
			s.QueueWindow > wire.TimeSpan(time.Hour) || s.Queues == nil || s.SuccessRate != nil {
			t.Errorf("a window of %v: got %+v (%v), want %d minutes without attempts", window, s, err, want)
		}
	}
	for _, window := range []time.Duration{59 * time.Second, 24*time.Hour + 1, -time.Hour, time.Nanosecond} {
		_, err := admin.Stats(t.Context(), window)
		e, ok := errors.AsType[*client.Error](err)
		if !ok || e.Status != 400 || len(e.Fields) != 1 || e.Fields[0].FieldName != "Window" {
			t.Errorf("a window of %v: got the error %v, want status 400 for Window", window, err)
		}
	}
	if _, err := as("writer").Stats(t.Context(), 0); !client.Is(err, client.Unauthorized) {
		t.Errorf("as a writer: %v", err)
	}
}

// TestStatsInEveryFormat requests the statistics in each format; in flat ones nested
// values are JSON in a cell.
func TestStatsInEveryFormat(t *testing.T) {
	i, _ := startWebhooks(t)
	key := i.Key(t, "admin")
	for format, want := range map[string]string{
		"json":   `"Totals":{"Events":0,`,
		"xml":    "<Totals><Events>0</Events>",
		"csv":    "ServerDateTime,SinceDateTime,Daemon,Daemons,Window,Totals,",
		"jsv":    "Totals:{Events:0,",
		"html":   "<dt>Totals</dt>",
		"ndjson": `"Queues":[],"OtherQueues":0,"LaneWindow":"PT1H","Lanes":[],"OtherLanes":0`,
	} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", i.URL+"/Webhooks/Stats."+format, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		reply, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		err = reply.Write(&text)
		reply.Body.Close()
		if err != nil || reply.StatusCode != 200 || !strings.Contains(text.String(), want) {
			t.Errorf("the statistics as %s are %s (%v), want %s", format, text.String(), err, want)
		}
	}
}

// TestStreamOfStats checks that the stream of statistics sends an event immediately and
// then reports a publication and its delivery.
func TestStreamOfStats(t *testing.T) {
	_, as := startWebhooks(t)
	admin, publisher := as("admin"), as("publisher")
	to, got := receiver(t, 200)
	subscribe(t, admin, addShop(t, admin), to, "*")

	var published, pulses int64
	publish := func() {
		if err := second(publisher.PublishEvent(t.Context(), "debtor.updated", "{}")); err != nil {
			t.Fatal(err)
		}
		published++
		await(t, got)
	}

	var sum wire.Throughput
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for e, err := range admin.Stream(ctx, client.StreamOptions{Topics: []string{wire.TopicStats}}) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case client.HeartbeatEvent:
			if pulses > 0 { // a busy machine was late, and the counts of a gap are dropped
				publish()
			}
		case client.StatsEvent:
			var pulse wire.Throughput
			if err := json.Unmarshal(e.Data, &pulse); err != nil || time.Time(pulse.At).IsZero() {
				t.Fatalf("event %s: got the error %v and the time %v, want counts with a time", e.Data, err, pulse.At)
			}
			pulses++
			if pulses == 1 {
				publish()
			}
			sum.Events += pulse.Events
			sum.Delivered += pulse.Delivered
		}
		if sum.Events > published || sum.Delivered > published {
			break
		}
		if sum.Events > 0 && sum.Delivered > 0 {
			return
		}
	}
	t.Errorf("%d events of the stream: got %d published and %d delivered, want at most the %d that were published",
		pulses, sum.Events, sum.Delivered, published)
}
