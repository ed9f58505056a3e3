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

// asRetry makes a message one that has failed once.
func asRetry(m *webhook.Message) *webhook.Message {
	m.Status = webhook.RetryPending
	m.Attempts = 1
	return m
}

// startPage is nextPage for a single queue.
func startPage(t *testing.T, q *queue, now time.Time) Page {
	t.Helper()
	s := &queueSet{byID: map[int64]*queue{1: q}, budget: q.budget, clock: new(clock)}
	q.budget.tierOf(q).refills = []*queue{q}
	s.clock.read.Store(&reading{local: time.Now(), store: now})
	r := &refiller{core: &core{queues: s}}
	next, p := r.nextPage()
	if next == nil {
		t.Fatal("the queue needs no page, want one")
	}
	return p
}

// finishPage adds the last page of the messages that are due. due is when the next one is due, zero
// if there is none.
func (q *queue) finishPage(p Page, due time.Time, messages ...*webhook.Message) {
	q.addPage(p, messages, true, due)
	q.settledSinceRead = nil
}

// expectRead checks that a message in the store will be read at a time.
func expectRead(t *testing.T, q *queue, m *webhook.Message, now time.Time) {
	t.Helper()
	c := q.refillFrom(now)
	if c == nil {
		t.Fatalf("the queue reads nothing, want message %d; its cursor is %+v", m.ID, q.cursors[0])
	}
	if !c.position.before(Position{m.Next, m.ID}, q.inOrder()) {
		t.Errorf("the queue reads messages after %+v, want message %d, due at %v", c.position, m.ID, m.Next)
	}
}

// TestPageContainsNewMessage reads a message before the writer passes it to the queue.
func TestPageContainsNewMessage(t *testing.T) {
	q := testQueue(false)
	q.rewind()
	p := startPage(t, q, noon.Add(time.Second))
	q.finishPage(p, time.Time{}, waitingMessage(5, 0))

	q.accept(waitingMessage(5, 0))
	if fresh, known := len(q.window.fresh), len(q.window.known); fresh != 1 || known != 1 {
		t.Errorf("after it was read and accepted, the message is listed %d times of %d, want once", fresh, known)
	}

	q.take(noon.Add(time.Second))
	q.accept(waitingMessage(5, 0))
	if n := len(q.window.fresh); n != 0 {
		t.Errorf("%d messages are listed while the only one is in flight, want none", n)
	}
}

// TestMessageWrittenWhilePageIsRead commits a message after the page was read and
// before the queue gets the page.
func TestMessageWrittenWhilePageIsRead(t *testing.T) {
	for name, ordered := range map[string]bool{"without an order": false, "in order": true} {
		t.Run(name, func(t *testing.T) {
			q := testQueue(ordered)
			q.rewind()
			now := noon.Add(time.Minute)
			p := startPage(t, q, now)
			written := waitingMessage(5, 10*time.Second)
			q.accept(written) // left to the store, since a page is being read
			q.finishPage(p, time.Time{}, waitingMessage(4, 0), waitingMessage(7, 20*time.Second))
			expectRead(t, q, written, now)
		})
	}
}

// TestCursorRewindsForEarlierMessage evicts a message that is due before the cursor's
// position.
func TestCursorRewindsForEarlierMessage(t *testing.T) {
	q := testQueue(false)
	q.cursors[0].position = Position{noon.Add(20 * time.Second), 7}
	for id := range int64(windowMessages / 2) { // as many retries as may be in memory
		q.settled(asRetry(waitingMessage(100+id, time.Hour)))
	}
	evicted := asRetry(waitingMessage(5, 10*time.Second))
	q.settled(evicted)
	expectRead(t, q, evicted, noon.Add(15*time.Second))
}

// TestEvictedRetryWakesQueue evicts a message that is due later while a page is read
// that ends before it.
func TestEvictedRetryWakesQueue(t *testing.T) {
	q := testQueue(false)
	q.rewind()
	p := startPage(t, q, noon)
	evicted := asRetry(waitingMessage(5, 10*time.Second))
	q.evict(evicted)
	q.finishPage(p, noon.Add(time.Hour)) // read before the eviction
	p = startPage(t, q, noon)
	q.finishPage(p, evicted.Next)
	if got := q.nextWake(noon); !got.Equal(evicted.Next) {
		t.Errorf("the queue wakes at %v, want %v, when the message is due", got, evicted.Next)
	}
}

// TestWaitingRetriesDoNotBlockFreshMessages has many messages in memory that are due in
// hours, and others in the store that are due now.
func TestWaitingRetriesDoNotBlockFreshMessages(t *testing.T) {
	q := testQueue(false)
	for id := range int64(windowMessages) {
		m := asRetry(waitingMessage(100+id, time.Hour))
		m.Event.Body = make([]byte, 4*windowBytes/windowMessages)
		q.settled(m)
	}
	q.rewind()
	if q.refillFrom(noon) == nil {
		t.Errorf("the queue reads nothing with %d messages and %d bytes in memory, want the messages that are due",
			len(q.window.known), q.window.bytes)
	}
}

// TestProbeWakesQueue has due messages that wait for the circuit breaker.
func TestProbeWakesQueue(t *testing.T) {
	q := testQueue(false)
	q.settled(asRetry(waitingMessage(1, -time.Minute)))
	q.cursors[0].wake = noon.Add(-time.Second)
	probe := noon.Add(5 * time.Second)
	q.endpoint.breaker = breaker{failures: breakerFailures, probe: probe}
	if got := q.nextWake(noon); !got.Equal(probe) {
		t.Errorf("with a message that is due, the queue wakes at %v, want %v, the time of the probe", got, probe)
	}

	retry := asRetry(waitingMessage(2, time.Second))
	q.settled(retry)
	if got := q.nextWake(noon); !got.Equal(retry.Next) && !got.Equal(probe) {
		t.Errorf("with a retry before the probe, the queue wakes at %v, want %v or %v", got, retry.Next, probe)
	}
}

// TestBreakerCountsConcurrentFailuresOnce has many concurrent attempts fail.
func TestBreakerCountsConcurrentFailuresOnce(t *testing.T) {
	schedule := []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute}
	failure := webhook.Outcome{Code: 503}
	var b breaker
	expectProbe := func(after string, want time.Duration) {
		t.Helper()
		if !b.open() {
			t.Fatalf("after %s the breaker is closed, want open", after)
		}
		if got := b.probe.Sub(noon); got != want {
			t.Errorf("after %s the next probe is sent after %v, want %v", after, got, want)
		}
	}

	for range 100 {
		b.observe(failure, true, schedule, noon)
	}
	expectProbe("concurrent failures", 5*time.Second)
	b.observe(failure, true, schedule, b.probe)
	expectProbe("a probe that failed", 35*time.Second)
	b.observe(webhook.Outcome{Code: 200}, true, schedule, noon)
	if b.open() {
		t.Error("after a success the breaker is open, want closed")
	}
}
