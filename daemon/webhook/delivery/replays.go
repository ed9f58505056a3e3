package delivery

import (
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// replays are the messages of a queue without an order that were delivered before and are sent
// once more. They have cursors of their own, and are read and attempted only while the queue has
// no other message for now. In a queue with an order they are read by their IDs like all others,
// so they precede newer ones.
//
// In the store, a replay is an open message with a mark. If its attempt is not recorded, since
// the daemon was stopped or killed, the mark stays and the message is read again.
type replays struct {
	messages []*webhook.Message // in memory, in the order in which they were read
	cursors  cursors
	isReady  bool       // listed in the rotation of replays
	nextTurn replayTurn // turn of the next replay, also of one with an order
}

const (
	lowReplays  = 16 // number of replays in memory below which more are read
	replayShare = 16 // replays use one of so many attempts at most

	// replayInterval is the minimum time between two replays of this daemon. More would delay
	// fresh messages, since all of them share the processors and the writer.
	replayInterval = 4 * time.Millisecond

	// turnExpiry is the time after which an unused turn is void. Otherwise queues that could not
	// use theirs would all start a replay at once when they can.
	turnExpiry = time.Second
)

// reserveReplay returns the next time at which no other replay starts.
func (b *budget) reserveReplay(now time.Time) time.Time {
	turn := b.nextReplay
	if turn.Before(now) {
		turn = now
	}
	b.nextReplay = turn.Add(replayInterval)
	return turn
}

// replayTurn is the time at which a queue may start its next replay.
type replayTurn struct {
	startAt time.Time // zero if none is reserved
}

// take reports whether the queue may start a replay now. If not, it reserves the turn that the
// queue then waits for.
func (t *replayTurn) take(b *budget, now time.Time) bool {
	if t.startAt.IsZero() || now.Sub(t.startAt) > turnExpiry {
		t.startAt = b.reserveReplay(now)
	}
	if t.isAwaited(now) {
		return false
	}
	t.startAt = time.Time{}
	return true
}

// isAwaited reports whether the queue waits until it may start a replay.
func (t *replayTurn) isAwaited(now time.Time) bool { return now.Before(t.startAt) }

func (r *replays) has(id int64) bool {
	return slices.ContainsFunc(r.messages, func(m *webhook.Message) bool { return m.ID == id })
}

// isReplay reports whether a message waits for all that are not replays.
func (q *queue) isReplay(m *webhook.Message) bool { return m.Replay && !q.inOrder() }

// inMemory returns the number of messages that await an attempt in memory.
func (q *queue) inMemory() int {
	n := len(q.window.known) + len(q.replays.messages)
	if q.requests.message != nil {
		n++
	}
	return n
}

// drop empties the list. Its messages are read again after a rewind.
func (r *replays) drop(b *budget) {
	for _, m := range r.messages {
		b.release(m)
	}
	r.messages = nil
}

// trim removes and returns the last replays, as far as other queues need their memory.
func (r *replays) trim(b *budget) []*webhook.Message {
	n := len(r.messages)
	for n > 0 && b.inDemand(r.messages[n-1]) {
		n--
	}
	removed := slices.Clone(r.messages[n:])
	r.messages = slices.Delete(r.messages, n, len(r.messages))
	return removed
}

// replaysFrom returns the cursor to read replays from, nil if the queue needs none now.
func (q *queue) replaysFrom(now time.Time) *cursor {
	if !q.needsReplays(now) || q.refillFrom(now) != nil {
		return nil
	}
	return q.replays.cursors.next(now)
}

// needsReplays reports whether the queue may read replays: it has few of them in memory, and no
// other message that it could send.
func (q *queue) needsReplays(now time.Time) bool {
	if q.inOrder() || !q.enabled() || now.Before(q.endpoint.waitsUntil()) {
		return false
	}
	if q.endpoint.breaker.open() {
		return q.inMemory()+len(q.unsettled) == 0 && q.available(now)
	}
	return len(q.replays.messages) < lowReplays && !q.window.ready(now, false)
}

// replayReady reports whether takeReplay would return a message, or reserve a turn. Replays use
// at most half of the attempts of the queue.
func (q *queue) replayReady(now time.Time) bool {
	if len(q.replays.messages) == 0 || q.inOrder() {
		return false
	}
	if q.replays.nextTurn.isAwaited(now) || !q.available(now) {
		return false
	}
	return q.endpoint.replaying < max(1, q.endpoint.share()/2)
}

// takeReplay returns the next replay to attempt, nil if there is none now.
func (q *queue) takeReplay(now time.Time) *webhook.Message {
	q.replays.isReady = false
	if !q.replayReady(now) || !q.replays.nextTurn.take(q.budget, now) {
		return nil
	}
	m := pop(&q.replays.messages)
	q.unsettled[m.ID] = m
	q.endpoint.inFlight++
	q.endpoint.replaying++
	q.rate.take(now)
	return m
}

// expediteReplays makes the queue read replays that were requested, and ends a wait requested by
// Retry-After. Without an order they wait until all others have been sent, and so for an endpoint
// that fails.
func (q *queue) expediteReplays() {
	if q.inOrder() {
		q.expedite()
		return
	}
	q.endpoint.endRequestedWait()
	q.outdated = true // a page of replays may have been read before
	q.replays.cursors.rewind()
}

// isHeld reports whether a queue with an order waits for the end of an operation, or for its turn
// to start a replay. Newer messages wait for replays in any case.
func (q *queue) isHeld(now time.Time) bool {
	return q.inOrder() && (q.holds > 0 || q.replays.nextTurn.isAwaited(now))
}
