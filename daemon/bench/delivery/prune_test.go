package delivery

import (
	"fmt"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/sqlite"
)

// outlived is how many messages are too old.
const outlived = 1_000_000

// besidePruning measures D5 while a million old messages are removed, against
// the same daemon on the same store that keeps them.
func besidePruning(s *stage, b *testing.B) {
	const pace = 300
	r, urls := listen(b, 1)
	h := build(b)
	h.subscribe(b, event(0), urls[0])
	h.subscribe(b, event(1), urls[0])
	if err := h.Stop(); err != nil {
		b.Fatal(err)
	}
	h.age(b)
	p50 := samples{what: "the same while 1M old messages are removed, median", metric: "p50-ms", unit: "ms", digits: 2, named: "kept"}
	p99 := samples{what: "the same while 1M old messages are removed, p99", metric: "p99-ms", unit: "ms", digits: 2, named: "kept"}
	gone := samples{what: "messages removed a second meanwhile", metric: "removed/s", unit: "/s"}
	args := h.args
	with := func(keep string) (m50, m99 float64) {
		h.args = append(args[:len(args):len(args)], "--webhooks-keep-successful", keep)
		h.launch(b)
		calm(b, r, pace, h.target(event(0))) // until all is in its cache
		before := h.count(b, old)
		m50, m99 = calm(b, r, pace, h.target(event(0)))
		if after := h.count(b, old); keep != "0" {
			gone.ours = append(gone.ours, float64(before-after)/calmSpan)
		}
		if err := h.Stop(); err != nil {
			b.Fatal(err)
		}
		return m50, m99
	}
	rounds(b, func(n int) {
		var o50, o99, k50, k99 float64
		inTurns(n, func() { o50, o99 = with("30d") }, func() { k50, k99 = with("0") })
		p50.add(o50, k50)
		p99.add(o99, k99)
	})
	if h.count(b, old) == 0 {
		b.Error("the removal came to its end before the last round")
	}
	s.table.note(b, p50, bounds{must: 2, aim: 1.2})
	s.table.note(b, p99, bounds{must: 6, aim: 4})
	s.table.note(b, gone, bounds{must: 600, aim: 2000, more: true}) // 300 events a second with two messages each are worth as much
	h.launch(b)                                                     // for the one that stops it
}

// keepingUp measures how many old messages are removed beside as many deliveries
// as there can be, against these.
func keepingUp(s *stage, b *testing.B) {
	r, urls := listen(b, 1)
	h := build(b)
	h.subscribe(b, event(0), urls[0])
	h.subscribe(b, event(1), urls[0])
	if err := h.Stop(); err != nil {
		b.Fatal(err)
	}
	h.age(b)
	h.launch(b)
	run(b, r, 2*atOnce, 1, h.target(event(0))) // until the removal is under way
	gone := samples{what: "old messages removed a second beside saturation", metric: "removed/s", unit: "/s", named: "delivered"}
	rounds(b, func(int) {
		before, began := h.count(b, old), time.Now()
		rate := run(b, r, 2*atOnce, 1, h.target(event(0))).rate
		gone.add(float64(before-h.count(b, old))/time.Since(began).Seconds(), rate)
	})
	if h.count(b, old) == 0 {
		b.Error("the removal came to its end before the last round")
	}
	s.table.note(b, gone, bounds{must: 1, aim: 1.5, more: true, times: true})
}

const (
	aged = "2020-01-01T00:00:00.0000000"
	old  = "SELECT COUNT(*) FROM SY_WebhookMessage WHERE AddedDateTime = '" + aged + "'"
)

// age puts messages into the store that were delivered long ago, two of each
// event.
func (h *house) age(b *testing.B) {
	b.Helper()
	conn := h.tables(b, sqlite.Options{Pragmas: []string{"synchronous = OFF", "cache_size = -64000"}})
	defer conn.Close()
	numbers := fmt.Sprintf(`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)`, outlived/2)
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
