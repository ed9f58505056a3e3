package delivery

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/bench/benchtest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// crowds are the numbers of subscriptions that one subscriber has.
var crowds = []int{10, 100, 1000, 10_000}

// operation is a request about the subscriptions of one subscriber.
type operation struct {
	title, metric string
	perRound      int
	limit, goal   float64 // ms
	run           func(*benchDaemon, *testing.B) time.Duration
}

// manySubscriptions measures operations on a subscriber with many subscriptions, and how
// their time grows with the number of subscriptions: as its power, 0 if it is constant.
func manySubscriptions(s *suite, b *testing.B) {
	if !s.table.UsageAvailable(b) {
		return
	}
	operations := []operation{
		{title: "add a subscription", metric: "add", perRound: 2, limit: 8, goal: 2, run: (*benchDaemon).add},
		{title: "refuse a subscription", metric: "refuse", perRound: 10, limit: 2, goal: 1, run: (*benchDaemon).refuse},
		{title: "list 10 subscriptions", metric: "list", perRound: 10, limit: 3, goal: 1, run: (*benchDaemon).listTen},
	}
	times := make([]samples, len(operations))
	points := make([][]float64, len(operations)) // medians by crowd
	for _, crowd := range crowds {
		b.Run(fmt.Sprint(crowd), func(b *testing.B) {
			h := startDaemon(b)
			h.insertSubscriptions(b, crowd)
			for i, o := range operations {
				times[i] = samples{
					title:  fmt.Sprintf("%s with %d", o.title, crowd),
					metric: o.metric + "-ms",
					unit:   "ms",
					digits: 2,
				}
			}
			rounds(b, func(int) {
				for i, o := range operations {
					var durations []time.Duration
					for range o.perRound {
						durations = append(durations, o.run(h, b))
					}
					times[i].values = append(times[i].values, percentile(durations, 50))
				}
			})
			for i, o := range operations {
				points[i] = append(points[i], benchtest.Median(times[i].values))
				s.table.addSamples(b, times[i], limits{limit: o.limit, goal: o.goal})
			}
		})
	}
	for i, o := range operations {
		if len(points[i]) == len(crowds) {
			s.table.addSamples(b, samples{
				title:  o.title + ": grows with the power",
				metric: o.metric + "-exponent",
				digits: 2,
				values: []float64{exponent(points[i])},
			}, limits{limit: 0.2, goal: 0.1})
		}
	}
}

// insertSubscriptions inserts subscriptions of the daemon's subscriber into the store
// while the daemon is stopped. The headers of the first one leave no room for others.
func (h *benchDaemon) insertSubscriptions(b *testing.B, count int) {
	b.Helper()
	if err := h.Stop(); err != nil {
		b.Fatal(err)
	}
	conn := h.openTables(b, sqlite.Options{})
	for _, statement := range []string{
		"BEGIN IMMEDIATE",
		fmt.Sprintf(`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
INSERT INTO SY_WebhookSubscription
	(ID, RecID, SubscriberID, EventName, URL, ItemNo, IsEnabled, Ordered, Secret, MadeByAdmin, LastSavedDateTime, RowHash)
SELECT 1000000 + n, printf('00000000-0000-4000-8000-%%012x', n), b.ID, '%s', 'http://127.0.0.1:9/' || n, n, 1, 0,
	'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=', 1, '2026-01-01T00:00:00.0000000', zeroblob(8)
FROM numbers, SY_WebhookSubscriber b`, count, event(1)),
		`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 40)
INSERT INTO SY_WebhookSubscriptionRequestHeader (RecID, SubscriptionID, ItemNo, Name, Value)
SELECT printf('00000000-0000-4000-9000-%012x', n), 1000001, n, 'X-Header-' || n, printf('%1600d', n) FROM numbers`,
		`UPDATE WH_Number SET Next = 100000000 WHERE Name = 'ID'`,
		"COMMIT",
	} {
		if err := conn.Exec(statement); err != nil {
			b.Fatal(err)
		}
	}
	if err := conn.Close(); err != nil {
		b.Fatal(err)
	}
	h.launch(b)
	const pause = 100 * time.Millisecond
	for benchtest.CPUUsed(b, h.PID(), func() { time.Sleep(pause) }) > pause/5 { // all queues read their messages
	}
}

// call sends a request about the subscriber's subscriptions and returns its duration.
// Without a key, the SubscriberID is the credential.
func (h *benchDaemon) call(b *testing.B, method, query, key, body string, status int) time.Duration {
	b.Helper()
	url := h.URL + "/Webhooks/Subscribers/" + h.subscriber + "/Subscriptions" + query
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	start := time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	took := time.Since(start)
	if err != nil || resp.StatusCode != status {
		b.Fatalf("%s %s returned status %s, %.300s (%v), want %d", method, url, resp.Status, text, err, status)
	}
	return took
}

// add adds a subscription as an administrator.
func (h *benchDaemon) add(b *testing.B) time.Duration {
	body := fmt.Sprintf(`{"EventName":%q,"URL":"http://127.0.0.1:9/added"}`, event(2))
	return h.call(b, http.MethodPost, "", h.manager, body, http.StatusCreated)
}

// refuse tries to add a subscription that exceeds the limit of headers, and in large crowds
// that of the number of subscriptions before it.
func (h *benchDaemon) refuse(b *testing.B) time.Duration {
	body := fmt.Sprintf(`{"EventName":%q,"URL":"http://127.0.0.1:9/","Headers":[{"Name":"X","Value":%q}]}`,
		event(2), strings.Repeat("x", 3000))
	return h.call(b, http.MethodPost, "", "", body, http.StatusBadRequest)
}

// listTen lists the first ten subscriptions.
func (h *benchDaemon) listTen(b *testing.B) time.Duration {
	return h.call(b, http.MethodGet, "?Take=10", "", "", http.StatusOK)
}
