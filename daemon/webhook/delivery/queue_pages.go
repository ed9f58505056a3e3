package delivery

import (
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// needsPage reports whether the queue needs messages. While the circuit breaker is open, a
// message is only read when a probe is due.
func (q *queue) needsPage(now time.Time) bool {
	if !q.enabled() || q.enough() {
		return false
	}
	if now.Before(q.blockedUntil) || now.Before(q.endpoint.waitsUntil()) {
		return false
	}
	if q.endpoint.breaker.open() {
		return len(q.window.known)+len(q.unsettled) == 0 && q.available(now)
	}
	return true
}

// mayRefill reports whether there may be messages to read now that the queue needs.
func (q *queue) mayRefill(now time.Time) bool {
	if q.requests.areUnread() && q.mayRequest(now) {
		return true
	}
	if q.refillFrom(now) != nil {
		return true
	}
	if q.needsPage(now) && q.sequences.due(now) != nil {
		return true
	}
	return q.replaysFrom(now) != nil
}

// nextPage returns the next page to read, alternating between the cursors and the sequences
// of a queue that is ordered by key. Requested messages are read first, and replays last.
func (q *queue) nextPage(now time.Time, bytes int) (Page, bool) {
	c := q.refillFrom(now)
	s := q.sequences.due(now)
	q.sequences.readNext = !q.sequences.readNext
	readsSequence := s != nil && q.needsPage(now) && (c == nil || q.sequences.readNext)

	readsRequest := q.requests.areUnread() && q.mayRequest(now)
	var p Page
	var isProbe bool
	mayProbe := q.endpoint.breaker.open() && !q.inOrder() && q.needsPage(now)
	if mayProbe && !readsRequest {
		p, isProbe = q.probes.page(q.id, q.cursors, now)
	}
	switch {
	case isProbe: // p is complete
	case readsRequest:
		p = q.requests.page(q.id, q.cursors, now)
	case readsSequence:
		p = q.sequences.page(s, now, q.pageSize(bytes))
		if q.endpoint.breaker.open() {
			p.Limit = 1
		}
	case c != nil:
		p = c.page(q.id, q.inOrder(), now, q.pageSize(bytes))
	default:
		c = q.replaysFrom(now)
		if c == nil {
			return Page{}, false
		}
		p = c.page(q.id, q.inOrder(), now, q.pageSize(bytes))
		p.Replays = true
	}
	q.settledSinceRead = make(map[int64]bool)
	q.outdated = false
	q.paused = false
	return p, true
}

// refillFrom returns the cursor to read from, nil if the queue needs no messages.
func (q *queue) refillFrom(now time.Time) *cursor {
	if !q.needsPage(now) || q.sequences.crowded() {
		return nil
	}
	return q.cursors.next(now)
}

// addPage adds the messages of a page to the window and advances the cursor, unless the
// queue was rewound in the meantime. Messages may have been attempted since they were
// read.
func (q *queue) addPage(p Page, messages []*webhook.Message, whole bool, due time.Time) {
	c := q.cursors.of(p.Partition)
	if p.Replays {
		c = q.replays.cursors.of(p.Partition)
	}
	if c == nil || q.outdated || !q.enabled() {
		return
	}
	if p.requested != 0 {
		q.addRequested(p, messages, whole)
		return
	}
	if p.probe != 0 {
		q.addProbe(p, messages)
		return
	}
	if p.sequence != nil {
		q.sequences.add(p, messages, whole)
		return
	}

	if q.byKey() && c.firstEvicted.ID != 0 {
		messages = upTo(messages, c.firstEvicted.ID)
		whole = false
	}
	for i, m := range messages {
		loaded := p.loaded(m)
		isDeleted := !loaded && !q.byKey() // since it was listed
		if isDeleted || q.has(m.ID) || q.settledSinceRead[m.ID] {
			continue
		}
		fits := !loaded || q.budget.tierOf(q).fits(q.budget.cost(m)) // its body may have left memory
		if !fits || !q.admit(m, loaded) {
			messages = messages[:i]
			whole = false
			break
		}
	}

	c.position = p.after(messages).After
	c.markSafe(p.Until)
	c.atEnd = whole
	c.wake = earliest(c.wake, due)
	if c.firstEvicted.ID != 0 { // the page may have been read before the message was written
		c.atEnd = false
		c.rewindTo(c.firstEvicted, p.InOrder)
	}
}

// upTo returns the messages of a page by ID up to one that was evicted while the page was read. Those
// behind it may have its key, and must not precede it; they are read again.
func upTo(messages []*webhook.Message, evicted int64) []*webhook.Message {
	i := slices.IndexFunc(messages, func(m *webhook.Message) bool { return m.ID > evicted })
	if i < 0 {
		return messages
	}
	return messages[:i]
}
