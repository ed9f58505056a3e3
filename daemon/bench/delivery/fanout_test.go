package delivery

import (
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/bench/benchtest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// fanOutSubscriptions is the number of subscriptions to one event.
const fanOutSubscriptions = 10_000

// fanOut measures one event to many subscriptions.
func fanOut(s *suite, b *testing.B) {
	r, urls := listen(b, 1)
	h, g := startDaemon(b), startFloor(b, urls[0])
	h.subscribe(b, event(0), urls[0])
	h.copySubscription(b, fanOutSubscriptions)
	rate := samples{title: "deliveries a second, one event to 10,000 subscriptions", metric: "deliveries/s", unit: "/s"}
	p50 := samples{title: "the same, publish to received, median", metric: "p50-ms", unit: "ms"}
	cpu := samples{title: "the same, CPU of a delivery", metric: "cpu-ms", unit: "ms", digits: 3}
	daemon := func() measurement {
		m := measureCPU(b, h.PID(), r, 1, fanOutSubscriptions, h.publishTarget(event(0)))
		h.awaitNothingOpen(b)
		return m
	}
	daemon() // fills the cache
	measure(b, r, 500, 1, g.target)
	rounds(b, func(n int) {
		var o, f measurement
		benchtest.InTurns(n, func() { o = daemon() },
			func() { f = measureCPU(b, g.PID(), r, fanOutSubscriptions, 1, g.target) })
		rate.add(o.rate, f.rate)
		p50.values = append(p50.values, o.p50)
		cpu.add(o.cpu, f.cpu)
	})
	s.table.addSamples(b, rate, limits{limit: 8000, goal: 12000, moreIsBetter: true})
	s.table.addSamples(b, p50, limits{limit: 1250, goal: 800})
	if s.table.UsageAvailable(b) {
		s.table.addSamples(b, cpu, limits{limit: 0.25, goal: 0.15})
	}
}

// copySubscription copies the only subscription until there are n, and restarts the
// daemon. The API would take minutes.
func (h *benchDaemon) copySubscription(b *testing.B, n int) {
	b.Helper()
	if err := h.Stop(); err != nil {
		b.Fatal(err)
	}
	conn := h.openTables(b, sqlite.Options{})
	err := conn.Query(`WITH RECURSIVE n (N) AS (SELECT 2 UNION ALL SELECT N + 1 FROM n WHERE N < ?1)
INSERT INTO SY_WebhookSubscription (ID, RecID, SubscriberID, EventName, URL, ItemNo, IsEnabled, Ordered, Secret, MadeByAdmin, LastSavedDateTime, RowHash)
SELECT s.ID + 1000000 + N, substr(s.RecID, 1, 24) || printf('%012d', N), s.SubscriberID, s.EventName, s.URL, N, 1, 0, s.Secret, s.MadeByAdmin, s.LastSavedDateTime, randomblob(8)
FROM SY_WebhookSubscription s, n`, nil, int64(n))
	if err == nil {
		err = conn.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	h.launch(b)
}

// pacedCPU measures the CPU time of deliveries at 300/s.
func pacedCPU(s *suite, b *testing.B) {
	if !s.table.UsageAvailable(b) {
		return
	}
	const rate = 300
	r, urls := listen(b, 1)
	h := startDaemon(b)
	g := startFloor(b, urls[0])
	plainest := startPlain(b, urls[0])
	h.subscribe(b, event(0), urls[0])
	probe := samples{title: "the same of the plainest program", metric: "plain-cpu-ms", unit: "ms", digits: 3}
	cpu := samples{title: "CPU of a delivery at 300/s", metric: "cpu-ms", unit: "ms", digits: 3}
	measure := func(pid int, t target) float64 {
		used := benchtest.CPUUsed(b, pid, func() {
			measurePaced(b, r, rate, t)
			time.Sleep(100 * time.Millisecond) // until the last result is written
		})
		return used.Seconds() * 1000 / (rate * pacedSeconds)
	}
	rounds(b, func(n int) {
		var o, f float64
		benchtest.InTurns(n, func() { o = measure(h.PID(), h.publishTarget(event(0))) },
			func() { f = measure(g.PID(), g.target) })
		cpu.add(o, f)
		probe.values = append(probe.values, measure(plainest.PID(), plainest.target))
	})
	s.table.addSamples(b, cpu, limits{limit: 0.7, goal: 0.5})
	s.table.addProbe(b, probe)
}
