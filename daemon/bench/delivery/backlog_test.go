package delivery

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/bench/benchtest"
	"github.com/bizhook/whd/daemon/sqlite"
)

const pendingMessages = 1_000_000

// millionPendingMessages starts a daemon with a million messages for a slow endpoint,
// which keeps most of them pending.
func millionPendingMessages(s *suite, b *testing.B) {
	if !s.table.UsageAvailable(b) {
		return
	}
	r, urls := listen(b, 1)
	r.slow.Store(int64(20 * time.Millisecond))
	h := startDaemon(b)
	h.subscribe(b, event(0), urls[0])
	if err := h.Stop(); err != nil {
		b.Fatal(err)
	}
	h.insertPending(b)
	first := samples{title: "1M messages pending: start to first delivery", metric: "first-s", unit: "s", digits: 2}
	memory := samples{
		title:  "1M messages pending: peak memory during the first deliveries",
		metric: "peak-MB",
		unit:   "MB",
	}
	rounds(b, func(int) {
		r.reset()
		began := time.Now()
		h.launch(b)
		r.await(b, 1)
		first.values = append(first.values, time.Since(began).Seconds())
		r.await(b, 1000)
		_, most, err := benchtest.Memory(h.PID())
		if err = errors.Join(err, h.Stop()); err != nil {
			b.Fatal(err)
		}
		memory.values = append(memory.values, most)
	})
	s.table.addSamples(b, memory, limits{limit: 300, goal: 120})
	s.table.addSamples(b, first, limits{limit: 5, goal: 1})
	h.launch(b) // for the cleanup, which stops it
}

// insertPending inserts the messages into the store, each with its own event.
func (h *benchDaemon) insertPending(b *testing.B) {
	b.Helper()
	conn := h.openTables(b, sqlite.Options{Pragmas: []string{"synchronous = OFF", "cache_size = -64000"}})
	defer conn.Close()
	const guid = `printf('00000000-0000-4000-8000-%012x', n)`
	numbers := fmt.Sprintf(`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)`, pendingMessages)
	for _, statement := range []string{
		"BEGIN IMMEDIATE",
		`INSERT INTO WH_Event (EventID, RecID, EventName, AddedDateTime, Body) ` + numbers +
			fmt.Sprintf(` SELECT 1000000 + n, %s, '%s', '2026-01-01T00:00:00.0000000', printf('%%512d', n) FROM numbers`, guid, event(0)),
		`INSERT INTO SY_WebhookMessage (ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts, NextAttemptDateTime, AddedDateTime, LastSavedDateTime, MadeByAdmin) ` + numbers +
			` SELECT 10000000 + n, ` + guid + `, 1000000 + n, 1, s.ID, s.URL, 0, 0, '2026-01-01T00:00:00.0000000', '2026-01-01T00:00:00.0000000', '2026-01-01T00:00:00.0000000', s.MadeByAdmin FROM numbers, SY_WebhookSubscription s`,
		`UPDATE WH_Number SET Next = 100000000 WHERE Name = 'ID'`,
		"COMMIT",
		"PRAGMA wal_checkpoint(TRUNCATE)",
	} {
		if err := conn.Exec(statement); err != nil {
			b.Fatal(err)
		}
	}
}
