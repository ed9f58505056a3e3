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
	if !s.table.UsageAvailable(b) {
		return
	}
	n := *eventCount
	h := prepare(b, kindText("Bulk", always+"\nevents = \"bulk\""), createTable("Bulk", n)...)
	h.launch(b, alone...)
	h.awaitFirstLook(b, 1)
	got, paced := newReceived(), &pacer{}
	h.subscribe(b, "bulk.updated", listen(b, got.add), true)
	h.subscribe(b, posted, listen(b, paced.add), true)
	h.paced(b, paced) // fills caches
	var before []float64
	for range rounds {
		before = append(before, h.paced(b, paced))
	}

	var update updateTimes
	_, peak := h.peak(b, func() { update = h.updateAll(b, n, got, paced) })
	c := h.captures(b)["Bulk"]
	events, keys := got.count()
	if events != n || keys != n || c.Updated != int64(n) || c.Created+c.Deleted > 0 {
		b.Errorf("%d events of %d rows were delivered, want %d of each: %+v", events, keys, n, c)
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
		values: []float64{update.captured.Seconds()},
	})
	s.table.add(b, result{
		title:  "until all events were delivered",
		metric: "delivered-s",
		unit:   "s",
		digits: 1,
		values: []float64{update.delivered.Seconds()},
	})
	p99 := result{
		title:    "p99 of events posted at 300/s during the update",
		metric:   "p99-ms",
		unit:     "ms",
		digits:   1,
		baseline: "alone",
		limit:    2,
		times:    true,
	}
	for _, value := range update.p99 {
		p99.values = append(p99.values, value)
		p99.base = append(p99.base, benchtest.Median(before))
	}
	s.table.add(b, p99)
}

// updateTimes are the times of a bulk update.
type updateTimes struct {
	captured  time.Duration // until all changes were captured
	delivered time.Duration // until all events were delivered
	p99       []float64     // of posted events in each window of the update, in ms
}

// updateAll changes all n rows, and waits until their events are delivered. In the first windows
// events are posted; then the daemon is left alone.
func (h *benchDaemon) updateAll(b *testing.B, n int, got *received, paced *pacer) updateTimes {
	b.Helper()
	var update updateTimes
	start := time.Now()
	h.exec(b, "UPDATE Bulk SET CreditLimit = CreditLimit || '5'")
	for {
		if len(update.p99) < rounds {
			update.p99 = append(update.p99, h.paced(b, paced))
		} else {
			time.Sleep(50 * time.Millisecond)
		}
		if update.captured == 0 && h.captures(b)["Bulk"].Updated == int64(n) {
			update.captured = time.Since(start)
		}
		events, _ := got.count()
		if events >= n {
			update.delivered = time.Since(start)
			return update
		}
		if time.Since(start) > testTimeout {
			b.Fatalf("%d events were delivered within %v, want %d", events, testTimeout, n)
		}
	}
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
	start := time.Now()
	var running sync.WaitGroup
	transport := &http.Transport{MaxIdleConnsPerHost: posters}
	defer transport.CloseIdleConnections()
	for poster := range posters {
		running.Go(func() {
			for i := poster; i < pacedRate*pacedSeconds; i += posters {
				time.Sleep(time.Until(start.Add(time.Duration(i) * time.Second / pacedRate)))
				err := h.post(transport)
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	running.Wait()
	p.await(b, pacedRate*pacedSeconds)
	p.mu.Lock()
	defer p.mu.Unlock()
	return percentile(p.waits, 99)
}

// await waits until n posted events have arrived.
func (p *pacer) await(b *testing.B, n int) {
	b.Helper()
	for end := time.Now().Add(testTimeout); ; time.Sleep(time.Millisecond) {
		p.mu.Lock()
		arrived := len(p.waits)
		p.mu.Unlock()
		if arrived >= n {
			return
		}
		if time.Now().After(end) {
			b.Fatalf("%d posted events were delivered within %v, want %d", arrived, testTimeout, n)
		}
	}
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
