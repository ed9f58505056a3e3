package delivery

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// twoDaemons measures two daemons on one server against one. The daemons wait for
// the server: where that has no processors of its own, two of them only halve the
// batches that it works on. So the line beside it tells how many times the rate of
// one these processors could do at all, by what they do for one.
func twoDaemons(s *stage, b *testing.B) {
	if os.Getenv("WHD_TEST_SQLSERVER_DSN") == "" {
		s.table.skipped(b, "WHD_TEST_SQLSERVER_DSN names no server")
		return
	}
	const events = 1000
	dsn := mssqltest.Database(b)
	r, urls := listen(b, 1)
	first := (&house{dir: b.TempDir(), args: append(settings(), "--store", dsn, "--migrate"), server: dsn}).open(b)
	second := &house{dir: b.TempDir(), args: first.args, publisher: first.publisher}
	second.launch(b)
	b.Cleanup(func() {
		if err := second.Stop(); err != nil {
			b.Error(err)
		}
	})
	first.subscribe(b, event(0), urls[0])
	got := samples{what: "deliveries a second by two daemons on a server, which may share their processors", metric: "deliveries/s", unit: "/s", named: "one"}
	one, two := first.target(event(0)), second.target(event(0))
	run(b, r, 200, 1, one, two) // until all is in its cache
	most := samples{what: "of it, the most that these processors allow, by their work for one", metric: "most", unit: "times", digits: 2}
	rounds(b, func(n int) {
		var both, alone, busy float64
		inTurns(n, func() { both = run(b, r, events, 1, one, two).rate }, func() {
			busy = processors(func() { alone = run(b, r, events, 1, one).rate })
		})
		got.add(both, alone)
		most.ours = append(most.ours, float64(runtime.NumCPU())/busy)
	})
	s.table.note(b, got, bounds{must: 1.5, aim: 1.8, more: true, times: true})
	if _, err := busyTime(); err == nil {
		s.table.note(b, most, bounds{must: 1.5, aim: 1.8, more: true})
	}
}

// processors is how many of them worked, on average, while something was done.
// It is zero where nobody can tell.
func processors(do func()) float64 {
	before, _ := busyTime()
	began := time.Now()
	do()
	took := time.Since(began)
	after, _ := busyTime()
	return float64(after-before) / float64(took)
}
