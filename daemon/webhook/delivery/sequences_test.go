package delivery

import (
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// testKeyQueue is a testQueue that is ordered by key.
func testKeyQueue() *queue {
	q := testQueue(false)
	q.sub.Order.ByKey = true
	return q
}

// keyedMessage returns a message with a key that is due at noon.
func keyedMessage(id int64, key string) *webhook.Message {
	m := waitingMessage(id, 0)
	m.Event.ID = id
	m.Event.Key = key
	return m
}

// expectPageOfKey starts a page, and checks that it has the messages with a key from an ID on.
func expectPageOfKey(t *testing.T, q *queue, key string, first int64) Page {
	t.Helper()
	p := startPage(t, q, noon)
	if p.Key != key || p.After.ID != first-1 {
		t.Fatalf("the page is %+v, want messages with key %s from %d on", p, key, first)
	}
	return p
}

// expectTaken takes a message at noon, and checks which.
func expectTaken(t *testing.T, q *queue, want int64) {
	t.Helper()
	m := q.take(noon)
	if m == nil {
		t.Fatalf("no message is sent, want %d", want)
	}
	if m.ID != want {
		t.Errorf("message %d is sent, want %d", m.ID, want)
	}
}

// expectNoneTaken checks that no message can be sent at noon.
func expectNoneTaken(t *testing.T, q *queue, reason string) {
	t.Helper()
	if m := q.take(noon); m != nil {
		t.Errorf("message %d is sent, want none: %s", m.ID, reason)
	}
}

// TestMessageAddedWhileSequenceIsRead commits a message after those with its key were read
// and before the queue gets them.
func TestMessageAddedWhileSequenceIsRead(t *testing.T) {
	q := testKeyQueue()
	q.accept(keyedMessage(5, "a"))
	q.settled(asRetry(q.take(noon)))
	q.invalidate() // leaves the retry to the store
	q.cursors[0].atEnd = true
	q.sequences.place(asRetry(keyedMessage(5, "a")), false)

	p := expectPageOfKey(t, q, "a", 5)
	q.accept(keyedMessage(9, "a"))
	q.finishPage(p, time.Time{}) // the first message was deleted
	expectPageOfKey(t, q, "a", 9)
}

// TestPageHasOtherKeys reads messages with a key that the store takes for the same.
func TestPageHasOtherKeys(t *testing.T) {
	q := testKeyQueue()
	q.sequences.place(asRetry(keyedMessage(5, "a")), false)
	p := startPage(t, q, noon)
	q.addPage(p, []*webhook.Message{
		keyedMessage(4, "a "),
		asRetry(keyedMessage(5, "a")),
		keyedMessage(6, "a "),
	}, true, time.Time{})

	expectTaken(t, q, 5)
	if messages, keys := len(q.window.known), len(q.sequences.byKey); messages != 0 || keys != 1 {
		t.Errorf("%d other messages and %d keys are in memory, want 0 and 1", messages, keys)
	}
}

// TestMessagePutBackStaysFirst puts a message back into the store before another one with
// its key is committed.
func TestMessagePutBackStaysFirst(t *testing.T) {
	q := testKeyQueue()
	q.accept(keyedMessage(5, "a"))
	q.endpoint.inFlight = 0
	q.putBack(q.take(noon))
	q.accept(keyedMessage(9, "a"))
	expectNoneTaken(t, q, "message 5 is in the store")
	if p := startPage(t, q, noon); p.After.ID >= 5 {
		t.Errorf("the page is %+v, want one with message 5", p)
	}
}

// TestMessagePutBackDuringPage puts a message back while a page behind it is read that has another
// one with its key.
func TestMessagePutBackDuringPage(t *testing.T) {
	q := testKeyQueue()
	q.accept(keyedMessage(5, "a"))
	inFlight := q.take(noon)
	q.cursors[0].position = Position{ID: 5}
	q.cursors[0].atEnd = false
	p := startPage(t, q, noon)
	q.endpoint.inFlight = 0
	q.putBack(inFlight)
	q.finishPage(p, time.Time{}, keyedMessage(9, "a"))
	expectNoneTaken(t, q, "message 5 is in the store")

	p = startPage(t, q, noon)
	if p.After.ID >= 5 {
		t.Fatalf("the page is %+v, want one with message 5", p)
	}
	q.finishPage(p, time.Time{}, keyedMessage(5, "a"), keyedMessage(9, "a"))
	expectTaken(t, q, 5)
	expectNoneTaken(t, q, "message 5 is in flight")
}

// TestLostMessageEndsSequence loses a partition with a message in flight, and leases it
// again.
func TestLostMessageEndsSequence(t *testing.T) {
	q := testKeyQueue()
	s := &queueSet{byID: map[int64]*queue{1: q}, budget: q.budget, clock: new(clock)}
	q.accept(keyedMessage(5, "a"))
	inFlight := q.take(noon)
	s.dropLost([]webhook.AttemptResult{{Message: inFlight}}, nil)
	q.accept(keyedMessage(9, "a"))
	expectTaken(t, q, 9)
}

// TestLateMessagesOfPeers reads again as far back as other daemons may have added messages.
func TestLateMessagesOfPeers(t *testing.T) {
	q := testKeyQueue()
	c := q.cursors[0]
	now := noon
	for _, id := range []int64{10, 20, 30, 40} {
		c.position = Position{ID: id}
		c.markSafe(now)
		now = now.Add(lateCommitDelay * 2 / 3)
	}

	c.rewindRecent()
	next := q.refillFrom(noon)
	if next == nil || next.position.ID != 10 {
		t.Errorf("the cursor to read from is %+v, want position 10", next)
	}
}

// TestMessageOfPeerPrecedes commits a message of another daemon, which became visible late,
// before one of this daemon with the same key.
func TestMessageOfPeerPrecedes(t *testing.T) {
	q := testKeyQueue()
	q.shared = true
	c := q.cursors[0]
	c.position = Position{ID: 6} // message 5 was not visible yet
	c.safe = Position{ID: 3}
	q.accept(keyedMessage(8, "a"))

	p := startPage(t, q, noon)
	if p.Key != "" {
		t.Errorf("the page is %+v, want messages with any key", p)
	}
	q.finishPage(p, time.Time{}, keyedMessage(8, "a"))
	expectNoneTaken(t, q, "the messages of its key were not read")

	p = startPage(t, q, noon)
	if p.Key != "a" || p.After.ID > 3 {
		t.Fatalf("the page is %+v, want messages with key a after 3 or earlier", p)
	}
	q.addPage(p, []*webhook.Message{keyedMessage(5, "a"), keyedMessage(8, "a")}, false, time.Time{})
	q.settledSinceRead = nil
	expectTaken(t, q, 5)
}
