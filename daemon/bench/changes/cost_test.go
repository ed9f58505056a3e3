package changes

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// costOfAChange measures the changes published a second, without and with a paused
// subscription, against the events that 32 clients post, as in D4.
func costOfAChange(s *suite, b *testing.B) {
	if !s.table.UsageAvailable(b) {
		return
	}
	const rows, posts = 20_000, 10_000
	h := prepare(b, kindText("Costly", always+"\nevents = \"costly\""), createTable("Costly", rows)...)
	h.launch(b, alone...)
	h.awaitFirstLook(b, 1)
	sink := listen(b, func([]byte, time.Time) {})
	h.subscribe(b, posted, sink, false)
	for _, with := range []string{"without a subscription", "with one subscription, paused"} {
		rate := result{
			title:    "changes published a second, " + with,
			metric:   "changes/s",
			unit:     "/s",
			baseline: "posted",
		}
		cpu := result{
			title:    "CPU of a change, " + with,
			metric:   "change-cpu-ms",
			unit:     "ms",
			digits:   3,
			baseline: "posted",
		}
		for range 3 {
			var changes, posted float64
			used := h.cpuUsed(b, func() { changes = h.changeAll(b, rows) })
			usedPosted := h.cpuUsed(b, func() { posted = h.postAll(b, posts) })
			rate.values, rate.base = append(rate.values, changes), append(rate.base, posted)
			cpu.values, cpu.base = append(cpu.values, used.Seconds()*1000/rows), append(cpu.base, usedPosted.Seconds()*1000/posts)
		}
		s.table.add(b, rate)
		s.table.add(b, cpu)
		if with == "without a subscription" {
			h.subscribe(b, "costly.updated", sink, false)
		}
	}
}

// changeAll changes all rows, and returns the rate at which the daemon publishes the changes.
// The first tenth is left out: so many changes are confirmed by a second sweep.
func (h *benchDaemon) changeAll(b *testing.B, rows int64) float64 {
	b.Helper()
	from := h.captures(b)["Costly"].Updated
	h.exec(b, "UPDATE Costly SET Rating = Rating + 1")
	var first, last int64
	var began, ended time.Time
	h.await(b, "not all changes are captured", func(all map[string]wire.Capture) bool {
		n, now := all["Costly"].Updated-from, time.Now()
		if n > rows/10 && began.IsZero() {
			first, began = n, now
		}
		last, ended = n, now
		return n == rows
	})
	return float64(last-first) / ended.Sub(began).Seconds()
}

// postAll posts events as fast as possible, and returns their rate.
func (h *benchDaemon) postAll(b *testing.B, n int64) float64 {
	b.Helper()
	const posters = 32
	transport := &http.Transport{MaxIdleConnsPerHost: posters}
	defer transport.CloseIdleConnections()
	began := time.Now()
	var next atomic.Int64
	var all sync.WaitGroup
	for range posters {
		all.Go(func() {
			for next.Add(1) <= n {
				if err := h.post(transport); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	return float64(n) / time.Since(began).Seconds()
}
