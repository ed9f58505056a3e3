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

// awaitStats polls the statistics until done returns true.
func awaitStats(t *testing.T, c *client.Client, done func(*wire.Stats) bool) *wire.Stats {
	t.Helper()
	for t.Context().Err() == nil {
		s, err := c.Stats(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if done(s) {
			return s
		}
	}
	t.Fatal("the statistics did not reach the expected values")
	return nil
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
	shop, err := admin.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}

	for to, event := range map[string]string{good: "*", bad.URL: "debtor.updated"} {
		_, err := admin.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
			URL:       &to,
			EventName: &event,
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	publisher := as("publisher")
	for range 3 {
		if _, err := publisher.PublishEvent(ctx, "debtor.updated", "{}"); err != nil {
			t.Fatal(err)
		}
		await(t, got)
	}

	for _, members := range []url.Values{
		{"Status": {"1"}, "Skip": {"2"}},
		{"Status": {"2"}, "Skip": {"2"}},
	} { // the third of each
		settled(t, admin, shop.RecID, members)
	}

	s := awaitStats(t, admin, func(s *wire.Stats) bool { return s.Totals.Delivered == 3 && s.Totals.Failed == 3 })
	expectTotals(t, s)
	if s.Daemons != 1 || s.Subscriptions != 2 || s.Disabled != 0 || len(s.Queues) != 2 || s.OtherQueues != 0 {
		t.Fatalf("got %+v, want one daemon, two subscriptions and their queues", s)
	}

	l := s.Queues[0]
	if l.URL != bad.URL || l.Failed != 3 || l.Pending != 3 || l.RetryPending != 3 ||
		l.LastFailure == nil || l.LastFailure.HTTPCode != 503 ||
		time.Time(l.FailingSince).IsZero() || l.SubscriberID != shop.RecID || l.SubscriberName != "Shop" ||
		l.EventName != "debtor.updated" || l.Breaker != wire.BreakerClosed ||
		time.Time(l.NextAttemptDateTime).Sub(time.Time(s.ServerDateTime)) < 30*time.Minute {
		t.Errorf("failing endpoint: %+v", l)
	}

	l = s.Queues[1]
	if l.URL != good || l.Delivered != 3 || l.Pending != 0 || l.LastFailure != nil ||
		!time.Time(l.FailingSince).IsZero() || l.P99 <= 0 || l.Limit < 1 {
		t.Errorf("accepting endpoint: %+v", l)
	}

	_, shown := get(t, i.URL+"/metrics")
	expectMetrics(t, shown)
	for _, id := range []string{shop.RecID, s.Queues[0].SubscriptionID, bad.URL} {
		if strings.Contains(shown, id) {
			t.Errorf("the metrics contain %s", id)
		}
	}
}

// expectTotals checks the statistics over all subscriptions.
func expectTotals(t *testing.T, s *wire.Stats) {
	t.Helper()
	if s.Totals.Events != 3 || s.Totals.Messages != 6 || s.SuccessRate == nil || *s.SuccessRate != 0.5 ||
		s.Latency.P50 <= 0 || s.Delay.P99 < s.Delay.P50 || s.Delay.P50 <= 0 {
		t.Errorf("totals %+v, success rate %v, latency %+v, delay %+v", s.Totals, s.SuccessRate, s.Latency, s.Delay)
	}
	m := s.Minutes
	now := time.Time(s.ServerDateTime)
	begin := time.Time(s.Minutes.From)
	if len(m.Delivered) != 60 || sumOf(m.Delivered) != 3 || sumOf(m.Failed) != 3 || sumOf(m.GivenUp) != 0 ||
		sumOf(m.Messages) != 6 || sumOf(m.Events) != 3 {
		t.Errorf("minutes %+v", m)
	}
	if s.Window != wire.TimeSpan(time.Hour) || begin.Second() != 0 || now.Sub(begin) > time.Hour ||
		now.Sub(begin) < 59*time.Minute {
		t.Errorf("at %v the minutes of window %v start at %v", now, s.Window, begin)
	}
	since := time.Time(s.SinceDateTime)
	if since.IsZero() || !since.Before(now) || now.Sub(since) > time.Hour {
		t.Errorf("counted since %v, at %v", since, now)
	}
	d := s.Depth
	if d == nil || d.NotSent != 0 || d.RetryPending != 3 || time.Time(d.OldestDateTime).IsZero() ||
		s.DepthMessage != "" {
		t.Errorf("depth %+v (%s)", d, s.DepthMessage)
	}
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
	shop, err := admin.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}

	if _, err := admin.AddSubscription(t.Context(), shop.RecID, wire.SubscriptionRequest{
		URL:       &to,
		EventName: pointer("*"),
	}); err != nil {
		t.Fatal(err)
	}

	var published, events, delivered, pulses int64
	publish := func() {
		if err := second(publisher.PublishEvent(t.Context(), "debtor.updated", "{}")); err != nil {
			t.Fatal(err)
		}
		published++
		await(t, got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for e, err := range admin.Stream(ctx, client.StreamOptions{Topics: []string{wire.TopicStats}}) {
		stats, isStats := e.(client.StatsEvent)
		if err != nil {
			t.Fatal(err)
		}
		_, beat := e.(client.HeartbeatEvent)
		if beat && pulses > 0 { // a busy machine was late, and the counts of a gap are dropped
			publish()
		}
		if !isStats {
			continue
		}
		var p wire.Throughput
		if err := json.Unmarshal(stats.Data, &p); err != nil || time.Time(p.At).IsZero() {
			t.Fatalf("%s: %v", stats.Data, err)
		}
		pulses++
		if pulses == 1 {
			publish()
		}
		events += p.Events
		delivered += p.Delivered
		if events > published || delivered > published {
			break
		}
		if events > 0 && delivered > 0 {
			return
		}
	}

	t.Errorf("%d events and %d deliveries of %d in %d pulses", events, delivered, published, pulses)
}
