package changes

import (
	"fmt"
	"testing"
	"time"
)

// latencyRows is the maximum number of changes of a measurement of latency.
const latencyRows = 1000

// commitToPost measures the time from the commit of a row with an indexed stamp to the
// POST of its event, while there is little else to do. Stamps of time are polled every 5 s.
func commitToPost(s *suite, b *testing.B) {
	h := prepare(b, kindText("Stamped", always+"\nevents = \"stamped\"\nstamp = \"LastSaved\""), append(createTable("Stamped", latencyRows), "CREATE INDEX Stamped_LastSaved ON Stamped (LastSaved)")...)
	stop := h.launch(b)
	h.awaitFirstLook(b, 1)
	got := newReceived()
	h.subscribe(b, "stamped.updated", listen(b, got.add), true)
	s.latency(b, h, got, func(int) string {
		return "LastSaved = '" + time.Now().UTC().Format("2006-01-02T15:04:05.0000000") + "'"
	}, "Stamped", "stamp of time (polled every 5 s)", 0, 0)
	stop()
	versionToPost(s, b)
}

// latency changes a row of a table about four times a second, and adds the percentiles of the
// time until the events arrive. stamp returns the assignment of the
// stamp of the n-th change.
func (s *suite) latency(b *testing.B, h *benchDaemon, got *received, stamp func(n int) string, table, by string, limit50, limit99 float64) {
	committed := make(map[string]time.Time)
	for began, n := time.Now(), 0; time.Since(began) < *span && n < latencyRows; n++ {
		key := fmt.Sprintf("D%07d", n)
		h.exec(b, fmt.Sprintf("UPDATE %s SET Rating = Rating + 1, %s WHERE DebtorID = '%s'", table, stamp(n), key))
		committed[key] = time.Now()
		time.Sleep(230 * time.Millisecond) // does not divide the interval of polls
	}
	got.await(b, len(committed))
	var waits []time.Duration
	for key, at := range got.keys {
		waits = append(waits, at.Sub(committed[key]))
	}
	if len(waits) != len(committed) {
		b.Errorf("%d of %d changes were delivered", len(waits), len(committed))
	}
	median := result{
		title:  "commit to POST, p50, by an indexed " + by,
		metric: table + "-p50-s",
		unit:   "s",
		digits: 2,
		values: []float64{percentile(waits, 50) / 1000},
		limit:  limit50,
	}
	late := result{
		title:  "p99",
		metric: table + "-p99-s",
		unit:   "s",
		digits: 2,
		values: []float64{percentile(waits, 99) / 1000},
		limit:  limit99,
	}
	s.table.add(b, median)
	s.table.add(b, late)
}
