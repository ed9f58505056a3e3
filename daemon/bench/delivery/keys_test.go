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
	"github.com/bizhook/whd/daemon/bench/benchtest"
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
	healthy, healthyURLs := listen(b, 1)
	var fail atomic.Bool
	fail.Store(true)
	r.answer = func(body []byte) int32 {
		n, err := strconv.Atoi(numberOf(body))
		isPoisoned := n%benchKeys == poisonedKey
		isUnlucky := fail.Load() && rand.Float64() < failureRate
		if err == nil && (isPoisoned || isUnlucky) {
			return 422
		}
		return 200
	}
	h := startDaemon(b, "--webhooks-retry-schedule", "1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1h")
	poisoned := h.publishTarget(event(0))
	poisoned.keys = benchKeys
	alone := h.publishTarget(event(1))
	alone.keys = benchKeys
	h.subscribeByKey(b, event(0), urls[0])
	h.subscribeByKey(b, event(1), healthyURLs[0])

	start := time.Now()
	if err := publishAll(messages, poisoned); err != nil {
		b.Fatal(err)
	}
	ofPoisonedKey := (messages - poisonedKey + benchKeys) / benchKeys
	r.awaitAccepted(b, messages-ofPoisonedKey)
	s.table.addProbe(b, samples{
		title:  strconv.Itoa(messages) + " messages in order by key, 20 % failures, one key of 1,000 poisoned",
		metric: "keyed/s",
		unit:   "/s",
		values: []float64{float64(messages) / time.Since(start).Seconds()},
	})
	h.checkOrder(b, r)

	fail.Store(false)
	p99 := samples{
		title:        "publish to received at 300/s, other keys, p99",
		metric:       "p99-ms",
		unit:         "ms",
		digits:       2,
		baselineName: "none poisoned",
	}
	rounds(b, func(n int) {
		var with, without float64
		benchtest.InTurns(n,
			func() { with = measureOtherKeys(b, r, poisoned) },
			func() { _, without = measurePaced(b, healthy, 300, alone) })
		p99.add(with, without)
	})
	s.table.addSamples(b, p99, limits{limit: 1.2, goal: 1.1, timesBaseline: true})
	h.checkOrder(b, r)
}

// subscribeByKey adds a subscription that is ordered by key.
func (h *benchDaemon) subscribeByKey(b *testing.B, event, url string) {
	b.Helper()
	order := wire.SubscriptionRequest{OrderBy: new("key")}
	id := h.subscribe(b, event, url)
	_, err := h.admin.UpdateSubscription(context.Background(), h.subscriber, id, order)
	if err != nil {
		b.Fatal(err)
	}
}

// measureOtherKeys publishes at 300/s, and returns the p99 of the latency, in ms, of messages with
// other keys than the poisoned one.
func measureOtherKeys(b *testing.B, r *receiver, t target) float64 {
	b.Helper()
	const rate = 300
	const messages = rate * pacedSeconds
	r.reset()
	if err := publishPaced(messages, rate, t); err != nil {
		b.Fatal(err)
	}
	r.awaitAccepted(b, messages-1)
	r.mu.Lock()
	defer r.mu.Unlock()
	return percentile(r.latencies, 99)
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
			b.Fatalf("%d messages were accepted within %v, want %d", r.received, testTimeout, n)
		}
	}
}

// checkOrder checks that the requests of each key had the order of its messages.
func (h *benchDaemon) checkOrder(b *testing.B, r *receiver) {
	b.Helper()
	messages := h.keyedMessages(b)
	r.mu.Lock()
	defer r.mu.Unlock()
	last := make(map[string]int64) // IDs by key
	wrong := 0
	for _, guid := range r.order {
		m := messages[guid]
		if m.id < last[m.key] {
			wrong++
		}
		last[m.key] = max(last[m.key], m.id)
	}
	b.Logf("%d requests for %d messages", len(r.order), len(messages))
	if wrong > 0 {
		b.Errorf("%d of %d requests are not in the order of their key's messages, want all", wrong, len(r.order))
	}
	if len(last) < benchKeys {
		b.Errorf("%d keys were requested, want %d", len(last), benchKeys)
	}
}

// keyedMessage is the ID of a message and its key.
type keyedMessage struct {
	id  int64
	key string
}

// keyedMessages returns all messages by their GUIDs.
func (h *benchDaemon) keyedMessages(b *testing.B) map[string]keyedMessage {
	b.Helper()
	conn := h.openTables(b, sqlite.Options{ReadOnly: true})
	defer conn.Close()
	messages := make(map[string]keyedMessage)
	err := conn.Query("SELECT RecID, ID, EventKey FROM SY_WebhookMessage", func(s *sqlite.Stmt) error {
		messages[string(s.Text(0))] = keyedMessage{id: s.Int(1), key: string(s.Text(2))}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return messages
}
