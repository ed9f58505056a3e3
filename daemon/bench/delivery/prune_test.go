package delivery

import (
	"fmt"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/bench/benchtest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// oldMessages is the number of messages to prune.
const oldMessages = 1_000_000

// latencyDuringPruning measures D5 while a million old messages are removed, compared
// with the same daemon and store without removals.
func latencyDuringPruning(s *suite, b *testing.B) {
	const rate = 300
	r, urls := listen(b, 1)
	h := startDaemon(b)
	h.subscribe(b, event(0), urls[0])
	h.subscribe(b, event(1), urls[0])
	if err := h.Stop(); err != nil {
		b.Fatal(err)
	}
	h.insertOld(b)
	p50 := samples{
		title:        "the same while 1M old messages are removed, median",
		metric:       "p50-ms",
		unit:         "ms",
		digits:       2,
		baselineName: "kept",
	}
	p99 := samples{
		title:        "the same while 1M old messages are removed, p99",
		metric:       "p99-ms",
		unit:         "ms",
		digits:       2,
		baselineName: "kept",
	}
	removed := samples{title: "messages removed a second during this", metric: "removed/s", unit: "/s"}
	args := h.args
	with := func(keep string) (m50, m99 float64) {
		h.args = append(args[:len(args):len(args)], "--webhooks-keep-successful", keep)
		h.launch(b)
		measurePaced(b, r, rate, h.publishTarget(event(0))) // fills the cache
		before := h.count(b, old)
		m50, m99 = measurePaced(b, r, rate, h.publishTarget(event(0)))
		after := h.count(b, old)
		if keep != "0" {
			removed.values = append(removed.values, float64(before-after)/pacedSeconds)
		}
		if err := h.Stop(); err != nil {
			b.Fatal(err)
		}
		return m50, m99
	}
	rounds(b, func(n int) {
		var o50, o99, k50, k99 float64
		benchtest.InTurns(n, func() { o50, o99 = with("30d") }, func() { k50, k99 = with("0") })
		p50.add(o50, k50)
		p99.add(o99, k99)
	})
	if h.count(b, old) == 0 {
		b.Error("the removal ended before the last round")
	}
	s.table.addSamples(b, p50, limits{limit: 2, goal: 1.2})
	s.table.addSamples(b, p99, limits{limit: 6, goal: 4})
	s.table.addSamples(b, removed, limits{limit: 600, goal: 2000, moreIsBetter: true}) // as many as 300 events a second with two messages each
	h.launch(b)                                                                        // for the cleanup, which stops it
}

// pruningRate measures how many old messages are removed at the maximum delivery rate,
// compared with this rate.
func pruningRate(s *suite, b *testing.B) {
	r, urls := listen(b, 1)
	h := startDaemon(b)
	h.subscribe(b, event(0), urls[0])
	h.subscribe(b, event(1), urls[0])
	if err := h.Stop(); err != nil {
		b.Fatal(err)
	}
	h.insertOld(b)
	h.launch(b)
	measure(b, r, 2*eventsPerRound, 1, h.publishTarget(event(0))) // until the removal has started
	removed := samples{
		title:        "old messages removed a second at saturation",
		metric:       "removed/s",
		unit:         "/s",
		baselineName: "delivered",
	}
	rounds(b, func(int) {
		before, began := h.count(b, old), time.Now()
		rate := measure(b, r, 2*eventsPerRound, 1, h.publishTarget(event(0))).rate
		removed.add(float64(before-h.count(b, old))/time.Since(began).Seconds(), rate)
	})
	if h.count(b, old) == 0 {
		b.Error("the removal ended before the last round")
	}
	s.table.addSamples(b, removed, limits{limit: 1, goal: 1.5, moreIsBetter: true, timesBaseline: true})
}

const (
	aged = "2020-01-01T00:00:00.0000000"
	old  = "SELECT COUNT(*) FROM SY_WebhookMessage WHERE AddedDateTime = '" + aged + "'"
)

// insertOld inserts messages that were delivered long ago, two for each event.
func (h *benchDaemon) insertOld(b *testing.B) {
	b.Helper()
	conn := h.openTables(b, sqlite.Options{Pragmas: []string{"synchronous = OFF", "cache_size = -64000"}})
	defer conn.Close()
	numbers := fmt.Sprintf(`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)`, oldMessages/2)
	for _, statement := range []string{
		"BEGIN IMMEDIATE",
		`INSERT INTO WH_Event (EventID, RecID, EventName, AddedDateTime, Body) ` + numbers +
			fmt.Sprintf(` SELECT 3 * n, printf('%%08x-0000-7000-8000-000000000000', n), '%s', '%s', printf('%%512d', n) FROM numbers`, event(0), aged),
		`INSERT INTO SY_WebhookMessage (ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts, AddedDateTime, LastSavedDateTime,
	HTTPCode, ResponseMessage, MadeByAdmin) ` + numbers + `
SELECT 3 * n + s.ItemNo, printf('%08x-0000-7000-8000-%012x', n, s.ItemNo), 3 * n, 1, s.ID, s.URL, 1, 1, '` + aged + `', '` + aged + `', 200, 'OK', s.MadeByAdmin
FROM numbers, SY_WebhookSubscription s ORDER BY 1`,
		`INSERT INTO SY_WebhookMessageResponse (MessageID, Attempt, RecID, Status, Retries, HTTPCode, Message, Duration, LastSavedDateTime)
SELECT ID, 1, RecID, 1, 0, 200, 'OK', 100000, LastSavedDateTime FROM SY_WebhookMessage`,
		`UPDATE WH_Number SET Next = 100000000 WHERE Name = 'ID'`,
		"COMMIT",
		"PRAGMA wal_checkpoint(TRUNCATE)",
	} {
		if err := conn.Exec(statement); err != nil {
			b.Fatal(err)
		}
	}
}
