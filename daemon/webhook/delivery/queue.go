package delivery

import (
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// The bounds of what a queue reads.
const (
	maxPageSize  = 128 // messages read at once
	lowWaterMark = 64  // fresh messages in memory below which more are read
)

// queue is the way to one subscription's endpoint: its messages in memory, and how
// far it has read the store. The lock of the queueSet guards it.
type queue struct {
	id               int64
	sub              *webhook.Subscription // nil once it was deleted
	budget           *budget
	window           window
	endpoint         endpoint
	unsettled        map[int64]*webhook.Message // under way, or not yet written down
	stale            map[int64]bool             // of away: may have been deleted
	cursors          []*cursor                  // one for each partition that is leased
	settledSinceRead map[int64]bool             // written down since the page that is being read; nil while none is
	outdated         bool                       // what is being read may not be true any more
	shared           bool                       // other daemons may add to it
	inRing           bool                       // is in a ring
	needsRefill      bool                       // waits for a page
	paused           bool                       // reads nothing while it has a fresh message: others want the room
	blockedUntil     time.Time                  // before which an ordered queue reads nothing: its first message is due then
	timer            *time.Timer
}

// newQueue makes a queue, whose endpoint gets limit attempts at once at most.
func newQueue(sub *webhook.Subscription, limit int, b *budget) *queue {
	return &queue{id: sub.ID, sub: sub, budget: b, endpoint: newEndpoint(sub, limit),
		window: window{known: make(map[int64]*webhook.Message)}, unsettled: make(map[int64]*webhook.Message)}
}

func (q *queue) ordered() bool { return q.sub != nil && q.sub.Ordered }

func (q *queue) enabled() bool { return q.sub != nil && q.sub.Active() }

// has reports whether a message is in memory.
func (q *queue) has(id int64) bool { return q.window.known[id] != nil || q.unsettled[id] != nil }

// pageSize is how many messages are read at once, where each queue gets so many
// bytes of memory. An endpoint in trouble gets one, and none gets more than it can
// take at once where memory is scarce.
func (q *queue) pageSize(bytes int) int {
	limit := maxPageSize
	switch {
	case q.endpoint.breaker.open():
		return 1
	case q.budget.tierOf(q).scarce():
		limit = min(limit, q.endpoint.share())
	}
	return min(limit, max(1, bytes/messageCost))
}

// enough reports whether the queue needs no more messages in memory.
func (q *queue) enough() bool {
	n := len(q.window.fresh)
	return n >= lowWaterMark || q.window.full() || n > 0 && (q.paused || q.budget.tierOf(q).scarce())
}

// accept takes a message that was just committed into memory, where there is
// room that no other queue waits for, and nothing of the queue is left behind in
// the store.
func (q *queue) accept(m *webhook.Message) {
	c, t := q.cursorOf(m.Partition), q.budget.tierOf(q)
	switch {
	case c == nil: // the partition was lost meanwhile
	case q.has(m.ID): // a page was faster
	case q.shared && q.ordered() && c.atEnd: // what others have added comes first
		q.drop()
	case !c.atEnd || q.window.full() || !q.enabled() || q.endpoint.breaker.open(),
		t.neededBytes > 0 || !t.fits(q.budget.cost(m)) || len(q.window.fresh) > 0 && t.scarce():
		c.atEnd = false
		q.evict(m)
	default:
		q.admit(m)
	}
}

// admit puts a message that is not in memory yet into the window.
func (q *queue) admit(m *webhook.Message) {
	q.track(m)
	if m.Status == webhook.RetryPending && !q.ordered() {
		q.window.retryLater(m)
		return
	}
	q.window.fresh = append(q.window.fresh, m)
}

func (q *queue) track(m *webhook.Message) {
	q.budget.charge(m, q.budget.tierOf(q))
	q.window.add(m)
}

// available reports whether the queue may begin an attempt, if it has a message.
func (q *queue) available(now time.Time) bool {
	return q.enabled() && q.endpoint.available(now) && (!q.ordered() || len(q.unsettled) == 0 || q.endpoint.breaker.open())
}

// ready reports whether take would give a message.
func (q *queue) ready(now time.Time) bool {
	return q.available(now) && q.window.ready(now, q.ordered())
}

// take gives the next message to attempt, nil where none may go now.
func (q *queue) take(now time.Time) *webhook.Message {
	if !q.ready(now) {
		return nil
	}
	m := q.window.take(now, q.ordered())
	q.unsettled[m.ID] = m
	q.endpoint.inFlight++
	return m
}

// settled takes note that an attempt was written down, and keeps the message where
// another one follows soon.
func (q *queue) settled(m *webhook.Message) {
	delete(q.unsettled, m.ID)
	if q.settledSinceRead != nil {
		q.settledSinceRead[m.ID] = true
	}
	stale, open := q.stale[m.ID], q.endpoint.breaker.open()
	delete(q.stale, m.ID)
	switch {
	case !m.Status.Open() || !q.enabled():
		q.budget.release(m)
	case q.ordered() && (stale || open):
		q.budget.release(m)
		q.drop()
	case q.ordered():
		q.window.head = m
		q.track(m)
	case !stale && !open && len(q.window.retries) < windowMessages/2 && q.window.bytes < windowBytes/2:
		q.track(m)
		q.window.retryLater(m)
	default:
		q.evict(m)
	}
}

// putBack takes back a message whose attempt did not begin, or does not count.
// Those behind it in an ordered queue must not pass it.
func (q *queue) putBack(m *webhook.Message) {
	if delete(q.unsettled, m.ID); q.ordered() {
		q.budget.release(m)
		q.drop()
		return
	}
	q.evict(m)
}

// drop empties the window. What was in it is read again when its time comes.
func (q *queue) drop() {
	for _, m := range q.window.known {
		q.budget.release(m)
	}
	q.window.clear()
	q.blockedUntil = time.Time{}
	q.rewind()
}

// trim gives up the memory of what cannot go now. It is read again when it is
// due, or when those before it have gone.
func (q *queue) trim(now time.Time) {
	w := &q.window
	if h := w.head; h != nil && h.Next.After(now) {
		q.drop()
		q.blockedUntil = h.Next
	}
	due := w.retriesUntil(now)
	for _, m := range w.retries[due:] {
		w.remove(m)
		q.evict(m)
	}
	w.retries = slices.Delete(w.retries, due, len(w.retries))
	for n := len(w.fresh) - 1; n >= q.endpoint.share() && q.budget.inDemand(w.fresh[n]); n-- {
		m := w.fresh[n]
		w.fresh = slices.Delete(w.fresh, n, n+1)
		w.remove(m)
		q.evict(m)
		q.cursorOf(m.Partition).atEnd, q.paused = false, true
	}
}

// invalidate drops the queue and has the store say which of its messages are still
// there; of those under way once they are back.
func (q *queue) invalidate() {
	q.stale = make(map[int64]bool, len(q.unsettled))
	for id := range q.unsettled {
		q.stale[id] = true
	}
	q.drop()
}

// expedite has the queue look for messages that a person has made due. Its breaker
// closes: a request for another attempt expects one.
func (q *queue) expedite() {
	q.endpoint.breaker = breaker{}
	q.drop()
}

// rewind makes the cursors begin again, since something before their places may
// be due.
func (q *queue) rewind() {
	q.outdated = true
	for _, c := range q.cursors {
		c.rewind()
	}
}

// nextWake is when the queue must be looked at again, the zero time for never.
// What is due already waits for a place, not for a time, and does not hide what
// is still to come.
func (q *queue) nextWake(now time.Time) (at time.Time) {
	if !q.enabled() {
		return at
	}
	later := func(t time.Time) {
		if t.After(now) {
			at = earliest(at, t)
		}
	}
	later(q.endpoint.breaker.probe)
	later(q.blockedUntil)
	if len(q.window.retries) > 0 {
		later(q.window.retries[0].Next)
	}
	if q.window.head != nil {
		later(q.window.head.Next)
	}
	for _, c := range q.cursors {
		later(c.wake)
	}
	return at
}

// setPartitions has the queue stop reading from partitions that were lost and begin to read
// from new ones.
func (q *queue) setPartitions(held []Lease) {
	before := len(q.cursors)
	q.cursors = slices.DeleteFunc(q.cursors, func(c *cursor) bool { return !holds(held, c.partition) })
	lost := len(q.cursors) < before
	for _, lease := range held {
		if q.cursorOf(lease.Partition) == nil {
			q.cursors = append(q.cursors, &cursor{partition: lease.Partition})
		}
	}
	if lost {
		q.drop()
	}
}

func (q *queue) cursorOf(partition int64) *cursor {
	for _, c := range q.cursors {
		if c.partition == partition {
			return c
		}
	}
	return nil
}

// evict notes that an open message is in the store alone. The cursor goes back
// where its place is behind the message already: those that were published or
// decided first are not always written first.
func (q *queue) evict(m *webhook.Message) {
	q.budget.release(m)
	c := q.cursorOf(m.Partition)
	if c == nil {
		return // the partition was lost meanwhile
	}
	at := Place{m.Next, m.ID}
	c.rewindTo(at, q.ordered())
	if q.settledSinceRead != nil && (c.firstEvicted.ID == 0 || at.before(c.firstEvicted, q.ordered())) {
		c.firstEvicted = at
	}
}

// refillFrom is the cursor to read from, nil while the queue has enough. An endpoint
// in trouble has its next probe read when it is time for it.
func (q *queue) refillFrom(now time.Time) *cursor {
	switch {
	case !q.enabled() || q.enough() || now.Before(q.blockedUntil):
		return nil
	case q.endpoint.breaker.open() && (len(q.window.known)+len(q.unsettled) > 0 || !q.available(now)):
		return nil
	}
	for _, c := range q.cursors {
		if c.mayRefill(now) {
			return c
		}
	}
	return nil
}

// addPage admits the messages of a page and moves the cursor's place behind them,
// unless the queue was rewound meanwhile. A message may have been attempted since
// it was read.
func (q *queue) addPage(p Page, messages []*webhook.Message, whole bool, due time.Time) {
	c := q.cursorOf(p.Partition)
	if c == nil || q.outdated || !q.enabled() {
		return
	}
	for i, m := range messages {
		removed := len(m.Event.Body) == 0 && m.Event.Size > 0 // since it was listed
		if removed || q.has(m.ID) || q.settledSinceRead[m.ID] {
			continue
		}
		if !q.budget.tierOf(q).fits(q.budget.cost(m)) { // a body that was in memory was let go
			messages, whole = messages[:i], false
			break
		}
		q.admit(m)
	}
	c.place = p.after(messages).After
	c.atEnd, c.wake = whole, earliest(c.wake, due)
	if c.firstEvicted.ID != 0 { // the page may have been read before it was written
		c.atEnd = false
		c.rewindTo(c.firstEvicted, p.InOrder)
	}
}
