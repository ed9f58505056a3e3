package changes

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/bench/benchtest"
)

// pacedRate is the rate of events that are posted during the bulk update, per second.
const pacedRate = 300

// pacedSeconds is the duration of a window of posted events.
const pacedSeconds = 3

// bulkUpdate changes all rows of a table with one statement, and measures until the last
// event is delivered. During this time events are posted at a rate as in D5: their latency is compared
// with that before the statement.
func bulkUpdate(s *suite, b *testing.B) {
	if !s.table.usageAvailable(b) {
		return
	}
	n := *eventCount
	h := prepare(b, kindText("Bulk", always+"\nevents = \"bulk\""), createTable("Bulk", n)...)
	h.launch(b, alone...)
	h.awaitFirstLook(b, 1)
	got, paced := newReceived(), &pacer{}
	h.subscribe(b, "bulk.updated", listen(b, got.add).url, true)
	h.subscribe(b, posted, listen(b, paced.add).url, true)
	h.paced(b, paced) // fills caches
	p99 := result{
		title:    "p99 of events posted at 300/s during the update",
		metric:   "p99-ms",
		unit:     "ms",
		digits:   1,
		baseline: "alone",
		limit:    2,
		times:    true,
	}
	var before []float64
	for range rounds {
		before = append(before, h.paced(b, paced))
	}
	var took, raised time.Duration
	_, peak := h.peak(b, func() {
		began := time.Now()
		h.exec(b, "UPDATE Bulk SET CreditLimit = CreditLimit || '5'")
		for window := 0; ; window++ {
			if window < rounds { // and then the daemon is left alone
				p99.values, p99.base = append(p99.values, h.paced(b, paced)), append(p99.base, benchtest.Median(before))
			} else {
				time.Sleep(50 * time.Millisecond)
			}
			if raised == 0 && h.captures(b)["Bulk"].Updated == int64(n) {
				raised = time.Since(began)
			}
			if changes, _ := got.count(); changes >= n {
				took = time.Since(began)
				return
			}
			if time.Since(began) > testTimeout {
				changes, _ := got.count()
				b.Fatalf("%d of %d events were delivered", changes, n)
			}
		}
	})
	c := h.captures(b)["Bulk"]
	if changes, keys := got.count(); changes != n || keys != n || c.Updated != int64(n) || c.Created+c.Deleted > 0 {
		b.Errorf("%d events of %d rows were delivered for %d rows: %+v", changes, keys, n, c)
	}
	s.table.add(b, result{
		title:  fmt.Sprintf("bulk update of %d rows, %d delivered twice: peak memory", n, got.twice),
		metric: "bulk-MB",
		unit:   "MB",
		values: []float64{peak},
		limit:  150,
	})
	s.table.add(b, result{
		title:  "until all changes were captured",
		metric: "captured-s",
		unit:   "s",
		digits: 1,
		values: []float64{raised.Seconds()},
	})
	s.table.add(b, result{
		title:  "until all events were delivered",
		metric: "delivered-s",
		unit:   "s",
		digits: 1,
		values: []float64{took.Seconds()},
	})
	s.table.add(b, p99)
}

// pacer measures the latency of posted events.
type pacer struct {
	mu    sync.Mutex
	waits []time.Duration
}

// add is a handler of a receiver: bodies are the time of posting.
func (p *pacer) add(body []byte, at time.Time) {
	posted, err := strconv.ParseInt(string(body), 10, 64)
	if err != nil {
		return // it misses
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waits = append(p.waits, at.Sub(time.Unix(0, posted)))
}

// paced posts events at the rate for a window, and returns the p99 of their latency in ms.
func (h *benchDaemon) paced(b *testing.B, p *pacer) float64 {
	b.Helper()
	const posters = 32
	p.mu.Lock()
	p.waits = nil
	p.mu.Unlock()
	began := time.Now()
	var all sync.WaitGroup
	transport := &http.Transport{MaxIdleConnsPerHost: posters}
	defer transport.CloseIdleConnections()
	for worker := range posters {
		all.Go(func() {
			for i := worker; i < pacedRate*pacedSeconds; i += posters {
				time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / pacedRate)))
				if err := h.post(transport); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	for late := time.Now(); ; time.Sleep(time.Millisecond) {
		p.mu.Lock()
		done := len(p.waits) >= pacedRate*pacedSeconds
		p.mu.Unlock()
		if done {
			break
		}
		if time.Since(late) > testTimeout {
			b.Fatal("posted events were not delivered")
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return percentile(p.waits, 99)
}

// post posts an event.
func (h *benchDaemon) post(transport *http.Transport) error {
	body := fmt.Sprintf(`{"EventName":%q,"Body":"%d"}`, posted, time.Now().UnixNano())
	request, err := http.NewRequest(http.MethodPost, h.URL+"/Webhooks/Events", bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+h.key)
	request.Header.Set("Content-Type", "application/json")
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		return fmt.Errorf("posting an event: %s", response.Status)
	}
	return nil
}
