package delivery

import (
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// noon is the start of these tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// testQueue returns a queue that has read all its messages.
func testQueue(ordered bool) *queue {
	sub := &webhook.Subscription{
		ID:             1,
		Enabled:        true,
		SubscriberInfo: webhook.SubscriberInfo{Enabled: true},
		Order:          webhook.Order{All: ordered},
	}
	q := newQueue(sub, 100, newBudget(defaultMemory, 100))
	q.cursors = []*cursor{{partition: 1, atEnd: true}}
	return q
}

// waitingMessage returns a message that is due at a time after noon.
func waitingMessage(id int64, due time.Duration) *webhook.Message {
	return &webhook.Message{
		ID:           id,
		Partition:    1,
		Subscription: 1,
		Event:        &webhook.Event{Body: []byte("x")},
		State:        webhook.State{Next: noon.Add(due)},
	}
}

func asRetry(m *webhook.Message) *webhook.Message {
	m.Status, m.Attempts = webhook.RetryPending, 1
	return m
}

// startPage is nextPage for a single queue.
func startPage(t *testing.T, q *queue, now time.Time) Page {
	t.Helper()
	s := &queueSet{byID: map[int64]*queue{1: q}, budget: q.budget, clock: new(clock)}
	q.budget.tierOf(q).refills = []*queue{q}
	s.clock.read.Store(&reading{local: time.Now(), store: now})
	next, p := (&refiller{core: &core{queues: s}}).nextPage()
	if next == nil {
		t.Fatal("the queue needs no page")
	}
	return p
}

// TestPageContainsNewMessage reads a message before the writer passes it to the queue.
func TestPageContainsNewMessage(t *testing.T) {
	q := testQueue(false)
	q.rewind()
	p := startPage(t, q, noon.Add(time.Second))
	q.addPage(p, []*webhook.Message{waitingMessage(5, 0)}, true, time.Time{})
	q.settledSinceRead = nil
	q.accept(waitingMessage(5, 0))
	if len(q.window.fresh) != 1 || len(q.window.known) != 1 {
		t.Errorf("the message is listed %d times", len(q.window.fresh))
	}
	q.take(noon.Add(time.Second))
	q.accept(waitingMessage(5, 0))
	if len(q.window.fresh) != 0 {
		t.Error("the message is sent again while in flight")
	}
}

// TestMessageWrittenWhilePageIsRead commits a message after the page was read and
// before the queue gets the page.
func TestMessageWrittenWhilePageIsRead(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		q := testQueue(ordered)
		q.rewind()
		p := startPage(t, q, noon.Add(time.Minute))
		q.accept(waitingMessage(5, 10*time.Second)) // a page is being read: the message is evicted
		q.addPage(p, []*webhook.Message{waitingMessage(4, 0), waitingMessage(7, 20*time.Second)}, true, time.Time{})
		q.settledSinceRead = nil
		now := noon.Add(time.Minute)
		if f := q.refillFrom(now); f == nil || !f.position.before(Position{noon.Add(10 * time.Second), 5}, ordered) {
			t.Errorf("ordered %v: the message stays in the store: %+v", ordered, q.cursors[0])
		}
	}
}

// TestCursorRewindsForEarlierMessage evicts a message that is due before the cursor's
// position.
func TestCursorRewindsForEarlierMessage(t *testing.T) {
	q := testQueue(false)
	q.cursors[0].position = Position{noon.Add(20 * time.Second), 7}
	for id := range int64(windowMessages / 2) {
		q.settled(asRetry(waitingMessage(100+id, time.Hour)))
	}
	q.settled(asRetry(waitingMessage(5, 10*time.Second)))
	if f := q.refillFrom(noon.Add(15 * time.Second)); f == nil || !f.position.before(Position{noon.Add(10 * time.Second), 5}, false) {
		t.Errorf("the message stays in the store: %+v", q.cursors[0])
	}
}

// TestEvictedRetryWakesQueue evicts a message that is due later while a page is read
// that ends before it.
func TestEvictedRetryWakesQueue(t *testing.T) {
	q := testQueue(false)
	q.rewind()
	p := startPage(t, q, noon)
	q.evict(asRetry(waitingMessage(5, 10*time.Second)))
	q.addPage(p, nil, true, noon.Add(time.Hour)) // read before the eviction
	q.settledSinceRead = nil
	p = startPage(t, q, noon)
	q.addPage(p, nil, true, noon.Add(10*time.Second))
	q.settledSinceRead = nil
	if at := q.nextWake(noon); !at.Equal(noon.Add(10 * time.Second)) {
		t.Errorf("the queue wakes at %v", at)
	}
}

// TestWaitingRetriesDoNotBlockFreshMessages has many messages in memory that are due in
// hours, and others in the store that are due now.
func TestWaitingRetriesDoNotBlockFreshMessages(t *testing.T) {
	q := testQueue(false)
	for id := range int64(windowMessages) {
		m := asRetry(waitingMessage(100+id, time.Hour))
		m.Event.Body = make([]byte, windowBytes/windowMessages*4)
		q.settled(m)
	}
	q.rewind()
	if q.refillFrom(noon) == nil {
		t.Errorf("the queue reads nothing: %d messages and %d bytes are in memory", len(q.window.known), q.window.bytes)
	}
}

// TestProbeWakesQueue has due messages that wait for the circuit breaker.
func TestProbeWakesQueue(t *testing.T) {
	q := testQueue(false)
	q.settled(asRetry(waitingMessage(1, -time.Minute)))
	q.cursors[0].wake = noon.Add(-time.Second)
	q.endpoint.breaker = breaker{failures: breakerFailures, probe: noon.Add(5 * time.Second)}
	if at := q.nextWake(noon); !at.Equal(q.endpoint.breaker.probe) {
		t.Errorf("the queue wakes at %v", at)
	}
	q.settled(asRetry(waitingMessage(2, time.Second)))
	if at := q.nextWake(noon); !at.Equal(noon.Add(time.Second)) && !at.Equal(q.endpoint.breaker.probe) {
		t.Errorf("the queue wakes at %v", at)
	}
}

// TestBreakerCountsConcurrentFailuresOnce has many concurrent attempts fail.
func TestBreakerCountsConcurrentFailuresOnce(t *testing.T) {
	schedule := []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute}
	var b breaker
	for range 100 {
		b.observe(webhook.Outcome{Code: 503}, schedule, noon)
	}
	if !b.open() || !b.probe.Equal(noon.Add(5*time.Second)) {
		t.Errorf("the first probe is sent after %v", b.probe.Sub(noon))
	}
	b.observe(webhook.Outcome{Code: 503}, schedule, b.probe)
	if want := noon.Add(35 * time.Second); !b.probe.Equal(want) {
		t.Errorf("the second probe is sent after %v", b.probe.Sub(noon))
	}
	b.observe(webhook.Outcome{Code: 200}, schedule, noon)
	if b.open() {
		t.Error("the breaker is open after a success")
	}
}
