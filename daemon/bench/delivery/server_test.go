package delivery

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/bench/benchtest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// twoDaemons compares two daemons on one server with one. The daemons wait for the
// server: if it shares the processors, two daemons only halve the size of its batches.
// An additional line therefore reports the maximum speedup that the processors allow,
// given their load with one daemon.
func twoDaemons(s *suite, b *testing.B) {
	if os.Getenv("WHD_TEST_SQLSERVER_DSN") == "" {
		s.table.Skip(b, "WHD_TEST_SQLSERVER_DSN is not set")
		return
	}
	const events = 1000
	dsn := mssqltest.Database(b)
	r, urls := listen(b, 1)
	first := (&benchDaemon{
		dir:    b.TempDir(),
		args:   append(settings(), "--store", dsn, "--migrate"),
		server: dsn,
	}).open(b)
	second := &benchDaemon{dir: b.TempDir(), args: first.args, publisher: first.publisher}
	second.launch(b)
	b.Cleanup(func() {
		if err := second.Stop(); err != nil {
			b.Error(err)
		}
	})
	first.subscribe(b, event(0), urls[0])
	got := samples{
		title:        "deliveries a second of two daemons on a server, which may share processors with them",
		metric:       "deliveries/s",
		unit:         "/s",
		baselineName: "one",
	}
	firstDaemon, secondDaemon := first.publishTarget(event(0)), second.publishTarget(event(0))
	measure(b, r, 200, 1, firstDaemon, secondDaemon) // fills the cache
	speedup := samples{
		title:  "maximum speedup that the processors allow",
		metric: "max-speedup",
		unit:   "times",
		digits: 2,
	}
	rounds(b, func(n int) {
		var both, alone, busy float64
		benchtest.InTurns(n, func() { both = measure(b, r, events, 1, firstDaemon, secondDaemon).rate }, func() {
			busy = busyProcessors(func() { alone = measure(b, r, events, 1, firstDaemon).rate })
		})
		got.add(both, alone)
		speedup.values = append(speedup.values, float64(runtime.NumCPU())/busy)
	})
	s.table.addSamples(b, got, limits{limit: 1.5, goal: 1.8, moreIsBetter: true, timesBaseline: true})
	if _, err := benchtest.BusyTime(); err == nil {
		s.table.addSamples(b, speedup, limits{limit: 1.5, goal: 1.8, moreIsBetter: true})
	}
}

// busyProcessors returns how many processors were busy on average while do ran, 0 if
// unknown.
func busyProcessors(do func()) float64 {
	before, _ := benchtest.BusyTime()
	began := time.Now()
	do()
	took := time.Since(began)
	after, _ := benchtest.BusyTime()
	return float64(after-before) / float64(took)
}
