package delivery

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/bench/benchtest"
)

// receiver receives deliveries and records them.
type receiver struct {
	*benchtest.Receiver

	code atomic.Int32 // status code of responses, 0 to hang
	slow atomic.Int64 // delay of responses, in ns

	answer func(body []byte) int32 // returns the status code of a response in place of code; nil to use it. Only accepted messages count then

	mu             sync.Mutex
	changed        *sync.Cond
	received       int
	last           time.Time              // time of the last delivery
	accepted       map[string]int         // deliveries with a 200 response, by message
	bodies         map[string]bool        // numbers of the delivered events
	arrivals       map[string][]time.Time // by message, if recordMessages is set
	latencies      []time.Duration        // from publishing to receiving
	arrived        []time.Time            // of the same deliveries
	order          []string               // the messages of all requests, with answer
	recordMessages bool                   // record messages in addition to counts
}

// listen returns a receiver with the given number of endpoints, and their URLs.
func listen(b *testing.B, endpoints int) (*receiver, []string) {
	b.Helper()
	r := &receiver{
		accepted: make(map[string]int),
		bodies:   make(map[string]bool),
		arrivals: make(map[string][]time.Time),
	}
	r.changed = sync.NewCond(&r.mu)
	r.code.Store(200)
	r.Receiver = benchtest.Listen(b, endpoints, r.respond)
	return r, r.URLs
}

// respond records a delivery and returns the status code of its response, 0 to hang.
func (r *receiver) respond(message string, body []byte) (code int) {
	status := r.code.Load()
	if r.answer != nil {
		status = r.answer(body)
	}
	if status == 0 {
		return 0
	}
	if wait := r.slow.Load(); wait > 0 {
		time.Sleep(time.Duration(wait))
	}
	r.record(message, body, status == 200)
	return int(status)
}

// record counts a delivery. Bodies of events contain their time of publishing.
func (r *receiver) record(id string, body []byte, accepted bool) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answer != nil {
		r.order = append(r.order, id)
		if !accepted {
			return
		}
	}
	r.received++
	r.last = now
	r.latencies, r.arrived = append(r.latencies, since(body, now)), append(r.arrived, now)
	if r.recordMessages {
		r.arrivals[id] = append(r.arrivals[id], now)
		if accepted {
			r.accepted[id]++
			r.bodies[numberOf(body)] = true
		}
	}
	r.changed.Broadcast()
}

// reset clears the counts.
func (r *receiver) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.received = 0
	r.latencies = r.latencies[:0]
	r.arrived = r.arrived[:0]
}

// testTimeout is the time limit for expected results.
const testTimeout = 2 * time.Minute

// await waits for n deliveries.
func (r *receiver) await(b *testing.B, n int) {
	b.Helper()
	late := time.AfterFunc(testTimeout, r.changed.Broadcast)
	defer late.Stop()
	began := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.received < n {
		if time.Since(began) > testTimeout {
			b.Fatalf("%d of %d messages were delivered", r.received, n)
		}
		r.changed.Wait()
	}
}
