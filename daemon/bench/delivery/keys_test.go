package delivery

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/sqlite"
)

// keyedVariable is the number of messages to check the order of.
const keyedVariable = "DELIVERYBENCH_KEYED"

const (
	benchKeys   = 1000
	poisonedKey = 7   // the messages with this key always fail
	failureRate = 0.2 // of the attempts for the others
)

// orderByKey delivers messages with 1,000 keys in order for each, while one of five attempts
// fails and one key is poisoned. It checks the order, and measures the latency of messages
// with other keys than the poisoned one.
func orderByKey(s *suite, b *testing.B) {
	messages, err := strconv.Atoi(os.Getenv(keyedVariable))
	if err != nil {
		messages = 20_000
	}
	r, urls := listen(b, 1)
	healthy, others := listen(b, 1)
	var fail atomic.Bool
	fail.Store(true)
	r.answer = func(body []byte) int32 {
		if n, err := strconv.Atoi(numberOf(body)); err == nil && (n%benchKeys == poisonedKey || fail.Load() && rand.Float64() < failureRate) {
			return 422
		}
		return 200
	}
	h := startDaemon(b, "--webhooks-retry-schedule", "1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1h")
	poisoned := h.publishTarget(event(0))
	alone := h.publishTarget(event(1))
	for event, url := range map[string]string{event(0): urls[0], event(1): others[0]} {
		order := wire.SubscriptionRequest{OrderBy: new("key")}
		if _, err := h.admin.UpdateSubscription(context.Background(), h.subscriber, h.subscribe(b, event, url), order); err != nil {
			b.Fatal(err)
		}
	}
	poisoned.keys, alone.keys = benchKeys, benchKeys
	began := time.Now()
	if err := publishAll(messages, poisoned); err != nil {
		b.Fatal(err)
	}
	r.awaitAccepted(b, messages-(messages-poisonedKey+benchKeys)/benchKeys)
	rate := samples{
		title:  strconv.Itoa(messages) + " messages in order by key, 20 % failures, one key of 1,000 poisoned",
		metric: "keyed/s",
		unit:   "/s",
	}
	rate.values = append(rate.values, float64(messages)/time.Since(began).Seconds())
	s.table.addProbe(b, rate)
	h.checkOrder(b, r)
	fail.Store(false)
	p99 := samples{
		title:        "publish to received at 300/s, other keys, p99",
		metric:       "p99-ms",
		unit:         "ms",
		digits:       2,
		baselineName: "none poisoned",
	}
	const paced = 300 * pacedSeconds
	rounds(b, func(n int) {
		var with, without float64
		alternate(n, func() {
			r.reset()
			if err := publishPaced(paced, 300, poisoned); err != nil {
				b.Fatal(err)
			}
			r.awaitAccepted(b, paced-1)
			r.mu.Lock()
			defer r.mu.Unlock()
			with = percentile(r.latencies, 99)
		}, func() { _, without = measurePaced(b, healthy, 300, alone) })
		p99.add(with, without)
	})
	s.table.addSamples(b, p99, limits{limit: 1.2, goal: 1.1, timesBaseline: true})
	h.checkOrder(b, r)
}

// awaitAccepted waits for n accepted messages, while there are more.
func (r *receiver) awaitAccepted(b *testing.B, n int) {
	b.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.received < n {
		before := r.received
		late := time.AfterFunc(testTimeout, r.changed.Broadcast)
		began := time.Now()
		r.changed.Wait()
		late.Stop()
		if r.received == before && time.Since(began) >= testTimeout {
			b.Fatalf("%d of %d messages were accepted", r.received, n)
		}
	}
}

// checkOrder checks that the requests of each key had the order of its messages.
func (h *benchDaemon) checkOrder(b *testing.B, r *receiver) {
	b.Helper()
	conn := h.openTables(b, sqlite.Options{ReadOnly: true})
	defer conn.Close()
	s, err := conn.Prepare("SELECT RecID, ID, EventKey FROM SY_WebhookMessage")
	if err != nil {
		b.Fatal(err)
	}
	defer s.Reset()
	type message struct {
		id  int64
		key string
	}
	all := make(map[string]message)
	for {
		hasRow, err := s.Step()
		if err != nil {
			b.Fatal(err)
		}
		if !hasRow {
			break
		}
		all[string(s.Text(0))] = message{s.Int(1), string(s.Text(2))}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	last, wrong := make(map[string]int64), 0
	for _, guid := range r.order {
		m := all[guid]
		if m.id < last[m.key] {
			wrong++
		}
		last[m.key] = max(last[m.key], m.id)
	}
	b.Logf("%d requests for %d messages", len(r.order), len(all))
	if wrong > 0 || len(last) < benchKeys {
		b.Errorf("%d of %d requests are not in the order of their key's messages; %d keys", wrong, len(r.order), len(last))
	}
}
