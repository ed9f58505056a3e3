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
	m.Event.ID, m.Event.Key = id, key
	return m
}

// TestMessageAddedWhileSequenceIsRead commits a message after those with its key were read
// and before the queue gets them.
func TestMessageAddedWhileSequenceIsRead(t *testing.T) {
	q := testKeyQueue()
	q.accept(keyedMessage(5, "a"))
	m := q.take(noon)
	q.settled(asRetry(m))
	q.invalidate() // leaves the retry to the store
	q.cursors[0].atEnd = true
	q.sequences.place(asRetry(keyedMessage(5, "a")), false)
	p := startPage(t, q, noon)
	if p.Key != "a" || p.After.ID != 4 {
		t.Fatalf("the page is %+v", p)
	}
	q.accept(keyedMessage(9, "a"))
	q.addPage(p, nil, true, time.Time{}) // the first message was deleted
	q.settledSinceRead = nil
	if p := startPage(t, q, noon); p.Key != "a" || p.After.ID != 8 {
		t.Errorf("the next page is %+v", p)
	}
}

// TestPageHasOtherKeys reads messages with a key that the store takes for the same.
func TestPageHasOtherKeys(t *testing.T) {
	q := testKeyQueue()
	q.sequences.place(asRetry(keyedMessage(5, "a")), false)
	p := startPage(t, q, noon)
	page := []*webhook.Message{keyedMessage(4, "a "), asRetry(keyedMessage(5, "a")), keyedMessage(6, "a ")}
	q.addPage(p, page, true, time.Time{})
	if m := q.take(noon); m == nil || m.ID != 5 || len(q.window.known) != 0 || len(q.sequences.byKey) != 1 {
		t.Errorf("%v is sent, %d others are in memory", m, len(q.window.known))
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
	if m := q.take(noon); m != nil {
		t.Errorf("message %d is sent before 5", m.ID)
	}
	if p := startPage(t, q, noon); p.After.ID >= 5 {
		t.Errorf("the page is %+v", p)
	}
}

// TestLostMessageEndsSequence loses a partition with a message in flight, and leases it
// again.
func TestLostMessageEndsSequence(t *testing.T) {
	q := testKeyQueue()
	s := &queueSet{byID: map[int64]*queue{1: q}, budget: q.budget, clock: new(clock)}
	q.accept(keyedMessage(5, "a"))
	m := q.take(noon)
	s.dropLost([]webhook.AttemptResult{{Message: m}}, nil)
	q.accept(keyedMessage(9, "a"))
	if m := q.take(noon); m == nil || m.ID != 9 {
		t.Errorf("%v is sent, want 9", m)
	}
}

// TestLateMessagesOfPeers reads again as far back as other daemons may have added messages.
func TestLateMessagesOfPeers(t *testing.T) {
	q := testKeyQueue()
	c, now := q.cursors[0], noon
	for _, id := range []int64{10, 20, 30, 40} {
		c.position = Position{ID: id}
		c.markSafe(now)
		now = now.Add(lateCommitDelay * 2 / 3)
	}
	c.rewindRecent()
	if f := q.refillFrom(noon); f == nil || f.position.ID != 10 {
		t.Errorf("the cursor is %+v", c)
	}
}

// TestMessageOfPeerPrecedes commits a message of another daemon, which became visible late,
// before one of this daemon with the same key.
func TestMessageOfPeerPrecedes(t *testing.T) {
	q := testKeyQueue()
	q.shared = true
	c := q.cursors[0]
	c.position, c.safe = Position{ID: 6}, Position{ID: 3} // 5 was not visible yet
	q.accept(keyedMessage(8, "a"))
	p := startPage(t, q, noon)
	q.addPage(p, []*webhook.Message{keyedMessage(8, "a")}, true, time.Time{})
	q.settledSinceRead = nil
	if m := q.take(noon); p.Key != "" || m != nil {
		t.Fatalf("%v is sent without the messages of its key", m)
	}
	p = startPage(t, q, noon)
	if p.Key != "a" || p.After.ID > 3 {
		t.Fatalf("the page is %+v", p)
	}
	q.addPage(p, []*webhook.Message{keyedMessage(5, "a"), keyedMessage(8, "a")}, false, time.Time{})
	q.settledSinceRead = nil
	if m := q.take(noon); m == nil || m.ID != 5 {
		t.Errorf("%v is sent, want 5", m)
	}
}
