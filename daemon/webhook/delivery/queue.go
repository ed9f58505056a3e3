package delivery

import (
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// Limits of reading from the store.
const (
	maxPageSize  = 128 // messages to read at a time
	lowWaterMark = 64  // number of fresh messages in memory below which more are read
)

// queue holds one subscription's messages in memory, the state of its endpoint, and the
// position up to which the store was read. The lock of the queueSet guards it.
type queue struct {
	id         int64
	subscriber string                // GUID
	sub        *webhook.Subscription // nil once it was deleted
	budget     *budget
	window     window
	endpoint   *endpoint // replaced when the URL changes; attempts at the old URL keep theirs
	rate       *rate     // nil for no limit
	incidents  incidents
	unsettled  map[int64]*webhook.Message // in flight, or not yet written
	stale      map[int64]bool             // subset of unsettled that may have been deleted
	moved      map[int64]bool             // subset of unsettled attempted before the URL changed
	// cursors of messages that are no replays, or of all in a queue with an order
	cursors          cursors
	settledSinceRead map[int64]bool // messages settled since the current page was requested; nil if none is
	outdated         bool           // the page that is being read may be outdated
	shared           bool           // other daemons may add messages
	isReady          bool           // listed in a tier's rotation
	needsRefill      bool           // waiting for a page
	paused           bool           // reads nothing while it has a fresh message: other queues need the memory
	blockedUntil     time.Time      // an ordered queue reads nothing before: its first message is due then
	sequences        sequences      // sequences of a queue that is ordered by key
	replays          replays        // replays of a queue without an order
	requests         requests       // requested messages of a queue without an order
	probes           probes         // probes of a queue without an order
	holds            int            // operations during which a queue with an order sends nothing
	timer            *time.Timer
	// events of messages that were withheld, since messages were last deleted
	withheld  map[string]bool
	postponed map[int64]postponedMessage // messages that wait as Retry-After has requested, by ID
}

// newQueue returns a queue with at most limit concurrent attempts.
func newQueue(sub *webhook.Subscription, limit int, b *budget) *queue {
	q := &queue{
		id:         sub.ID,
		subscriber: sub.Subscriber,
		sub:        sub,
		budget:     b,
		endpoint:   newEndpoint(sub, limit),
		window:     window{known: make(map[int64]*webhook.Message)},
		unsettled:  make(map[int64]*webhook.Message),
		moved:      make(map[int64]bool),
		withheld:   make(map[string]bool),
		postponed:  make(map[int64]postponedMessage),
	}
	q.incidents.publishedUnknown = q.endpoint.breaker.open() // it was failing when an earlier process ended
	q.sequences = sequences{q: q, byKey: make(map[string]*sequence)}
	return q
}

// byKey reports whether each message waits for the previous one with the same key.
func (q *queue) byKey() bool { return q.sub != nil && q.sub.Order.ByKey }

// ordered reports whether each message waits for the previous one.
func (q *queue) ordered() bool { return q.sub != nil && q.sub.Order.All }

// inOrder reports whether messages are read in the order of their IDs.
func (q *queue) inOrder() bool { return q.ordered() || q.byKey() }

func (q *queue) enabled() bool { return q.sub != nil && q.sub.Active() }

// has reports whether a message is in memory.
func (q *queue) has(id int64) bool {
	return q.window.known[id] != nil || q.unsettled[id] != nil || q.replays.has(id) || q.requests.has(id)
}

// pageSize returns the number of messages to read at a time, given the memory available
// to each queue in bytes. It is one if the circuit breaker is open, unless messages may have
// to be skipped, and at most the number of concurrent attempts if memory is scarce.
func (q *queue) pageSize(bytes int) int {
	if q.endpoint.breaker.open() && !q.byKey() {
		return 1
	}
	limit := maxPageSize
	if q.budget.tierOf(q).scarce() {
		limit = min(limit, q.endpoint.share())
	}
	return min(limit, max(1, bytes/messageCost))
}

// enough reports whether the queue needs no more messages in memory.
func (q *queue) enough() bool {
	n := len(q.window.fresh)
	if n >= lowWaterMark || q.window.full() {
		return true
	}
	return n > 0 && (q.paused || q.budget.tierOf(q).scarce())
}

// accept adds a newly committed message to the window, unless it has to wait in the store.
func (q *queue) accept(m *webhook.Message) {
	c := q.cursors.of(m.Partition)
	if c == nil || q.has(m.ID) {
		return // the partition was lost in the meantime, or a page has already contained the message
	}
	if q.shared && q.ordered() && c.atEnd {
		q.drop() // messages of other daemons may come first
		return
	}
	if q.mustStore(m, c) || !q.admit(m, true) {
		c.atEnd = false
		q.evict(m)
	}
}

// mustStore reports whether a newly committed message waits in the store: others may come before
// it, it cannot be sent now, or memory is short.
func (q *queue) mustStore(m *webhook.Message, c *cursor) bool {
	mayFollowOthers := !c.atEnd || q.shared && q.byKey() // in the store, or of other daemons
	if mayFollowOthers || !q.enabled() {
		return true
	}
	if q.endpoint.breaker.open() || q.window.full() {
		return true
	}
	t := q.budget.tierOf(q)
	if t.neededBytes > 0 || !t.fits(q.budget.cost(m)) {
		return true
	}
	return len(q.window.fresh) > 0 && t.scarce()
}

// admit adds a message to the window that is not in memory yet. loaded reports whether it has its
// body. It returns false if the queue is crowded.
func (q *queue) admit(m *webhook.Message, loaded bool) bool {
	switch {
	case q.byKey():
		return q.sequences.place(m, loaded)
	case q.ordered():
		q.track(m)
		q.window.fresh = append(q.window.fresh, m)
	case m.Replay:
		q.budget.charge(m, q.budget.tierOf(q))
		q.replays.messages = append(q.replays.messages, m)
	default:
		q.track(m)
		q.window.list(m)
	}
	return true
}

func (q *queue) track(m *webhook.Message) {
	q.budget.charge(m, q.budget.tierOf(q))
	q.window.add(m)
}

// available reports whether the queue may start an attempt if it has a message.
func (q *queue) available(now time.Time) bool {
	if !q.enabled() || q.isHeld(now) || !q.endpoint.available(now) || !q.rate.allows(now) {
		return false
	}
	return !q.ordered() || len(q.unsettled) == 0 || q.endpoint.breaker.open()
}

// ready reports whether take would return a message, or reserve a turn for a replay.
func (q *queue) ready(now time.Time) bool {
	if q.requests.message != nil && q.mayRequest(now) {
		return true
	}
	return q.available(now) && q.window.ready(now, q.ordered())
}

// take returns the next message to attempt, nil if there is none now.
func (q *queue) take(now time.Time) *webhook.Message {
	if !q.ready(now) {
		return nil
	}
	isRequested := q.requests.message != nil && q.mayRequest(now)
	isReplay := q.inOrder() && q.window.first(now, q.ordered()).Replay
	if isReplay && !q.replays.nextTurn.take(q.budget, now) {
		return nil
	}

	var m *webhook.Message
	if isRequested {
		m = q.requests.take()
	} else {
		m = q.window.take(now, q.ordered())
	}
	q.unsettled[m.ID] = m
	q.endpoint.inFlight++
	q.rate.take(now)
	return m
}

// settled records that an attempt was written, and keeps the message in memory if its
// next attempt is near.
func (q *queue) settled(m *webhook.Message) {
	if q.settledSinceRead != nil {
		q.settledSinceRead[m.ID] = true
	}
	// A message that may have been deleted has to be read again, and of a failing endpoint
	// only the message of an attempt is in memory.
	mustReload := q.stale[m.ID] || q.endpoint.breaker.open()
	q.removeUnsettled(m.ID)
	q.probes.remove(m.ID)

	switch {
	case !m.Status.Open() || !q.enabled():
		q.budget.release(m)
		q.sequences.end(m)
	case q.isReplay(m): // the URL changed during the attempt
		q.evict(m)
	case q.ordered() && mustReload:
		q.budget.release(m)
		q.drop()
	case q.ordered():
		q.window.head = m
		q.track(m)
	case !mustReload && q.window.hasRoomForRetry():
		q.track(m)
		q.window.retryLater(m)
		if s, ok := q.sequences.heads(m); ok {
			q.sequences.unload(s) // the messages behind it wait for long
		}
	default:
		if q.endpoint.breaker.open() {
			q.probes.add(m)
		}
		q.evict(m)
	}
}

// removeUnsettled removes a message after its attempt was written, or was not made.
func (q *queue) removeUnsettled(id int64) {
	delete(q.unsettled, id)
	delete(q.stale, id)
	delete(q.moved, id)
}

// putBack returns a message after an attempt that was not started or is not counted. In an
// ordered queue the window is dropped, so that no later message overtakes it.
func (q *queue) putBack(m *webhook.Message) {
	q.removeUnsettled(m.ID)
	if q.ordered() {
		q.budget.release(m)
		q.drop()
		return
	}
	q.evict(m)
}

// withheldPause is how long a message waits in memory that the owner of its subscription may not
// read. A change of the rights ends it.
const withheldPause = time.Minute

// withhold puts back a message that must not be sent now. Those that must not precede it wait, too.
func (q *queue) withhold(m *webhook.Message, now time.Time) {
	q.withheld[m.Event.Name] = true
	m.Next = now.Add(withheldPause)
	s, isHead := q.sequences.heads(m)
	if isHead { // it is due in the store: if the cursor went back, it would be read again at once
		q.removeUnsettled(m.ID)
		q.budget.release(m)
		q.sequences.postpone(s)
		return
	}
	q.putBack(m)
	if q.ordered() {
		q.blockedUntil = m.Next
	}
}

// drop empties the window. Its messages are read again when they are due.
func (q *queue) drop() {
	for _, m := range q.window.known {
		q.budget.release(m)
	}
	q.window.clear()
	q.replays.drop(q.budget)
	q.requests.clear(q.budget)
	q.sequences.reset()
	q.blockedUntil = time.Time{}
	q.rewind()
}

// trim evicts messages that cannot be attempted now. They are read again when they are
// due or when earlier ones have been sent.
func (q *queue) trim(now time.Time) {
	w := &q.window
	if h := w.head; h != nil && h.Next.After(now) {
		q.drop()
		q.blockedUntil = h.Next
	}
	for _, s := range q.sequences.byKey {
		if len(s.behind) > 0 && q.budget.inDemand(s.behind[0]) {
			q.sequences.unload(s)
		}
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
		q.cursors.of(m.Partition).atEnd = false
		q.paused = true
	}
	for _, m := range q.replays.trim(q.budget) {
		q.evict(m)
	}
}

// invalidate drops the window, so that deleted messages disappear from it. Deleted
// messages in flight are recognized when they are settled.
func (q *queue) invalidate() {
	q.stale = make(map[int64]bool, len(q.unsettled))
	for id := range q.unsettled {
		q.stale[id] = true
	}
	clear(q.withheld)
	clear(q.postponed)
	q.drop()
}

// heldEvents returns the events of which messages were withheld and still are.
func (q *queue) heldEvents() []string {
	var events []string
	for event := range q.withheld {
		if q.sub.Withholds(event) {
			events = append(events, event)
		}
	}
	slices.Sort(events)
	return events
}

// expedite makes the queue read messages that were made due on request, closes the circuit
// breaker, and ends a wait requested by Retry-After, so that all attempts are made: it is not known
// which were requested, or all before them must be made, too.
func (q *queue) expedite() {
	q.endpoint.breaker = breaker{}
	q.endpoint.retryAt = time.Time{}
	q.drop()
}

// applyPeerEvent applies an event of another daemon. recent reports whether the events before were
// read so recently that messages added since then cannot be before the safe positions of the cursors.
func (q *queue) applyPeerEvent(kind PeerEventKind, recent bool) {
	switch kind {
	case PeerDue:
		q.expedite()
	case PeerDeleted:
		q.invalidate()
	case PeerAdded:
		if !q.byKey() || !recent {
			q.drop()
			return
		}
		q.outdated = true
		for _, c := range q.cursors {
			c.rewindRecent()
		}
	}
}

// stats returns the state of the queue, with its backlog.
func (q *queue) stats(now time.Time, backlog stats.Backlog) stats.Queue {
	e := q.endpoint
	next := q.nextWake(now)
	if e.breaker.open() {
		next = e.nextProbe() // it determines the next attempt
	}
	var rateUntil time.Time
	if q.enabled() && q.inMemory() > 0 {
		rateUntil = q.rate.next(now)
	}
	return stats.Queue{
		Subscription: q.sub,
		FailingSince: e.health.since,
		InFlight:     e.inFlight,
		Limit:        e.share(),
		InMemory:     q.inMemory(),
		Failures:     e.breaker.failures,
		BreakerOpen:  e.breaker.open(),
		NextProbe:    e.nextProbe(),
		WaitUntil:    q.requestedWait(now),
		RateUntil:    rateUntil,
		MaxPerMinute: q.rate.limit(),
		Next:         next,
		NotSent:      backlog.NotSent,
		RetryPending: backlog.RetryPending,
		Oldest:       backlog.Oldest,
		HeldEvents:   q.heldEvents(),
	}
}

// rewind restarts all cursors, since messages before their positions may be due.
func (q *queue) rewind() {
	q.outdated = true
	q.cursors.rewind()
	q.replays.cursors.rewind()
}

// nextWake returns when the queue must be scheduled again, zero for never. Messages
// that are already due wait for a free slot and are ignored.
func (q *queue) nextWake(now time.Time) time.Time {
	if !q.enabled() {
		return time.Time{}
	}
	var wake time.Time
	consider := func(t time.Time) {
		if t.After(now) {
			wake = earliest(wake, t)
		}
	}
	consider(q.endpoint.breaker.probe)
	consider(q.endpoint.waitsUntil())
	consider(q.blockedUntil)
	consider(q.replays.nextTurn.startAt)
	mayAwaitRate := q.inMemory() > 0 || q.endpoint.breaker.open() || q.requests.areUnread()
	if mayAwaitRate {
		consider(q.rate.next(now))
	}
	if len(q.sequences.stored) > 0 {
		consider(q.sequences.stored[0].due)
	}
	if len(q.window.retries) > 0 {
		consider(q.window.retries[0].Next)
	}
	if q.window.head != nil {
		consider(q.window.head.Next)
	}
	for _, c := range q.cursors {
		consider(c.wake)
	}
	return wake
}

// setPartitions removes the cursors of lost partitions and adds cursors for new ones.
func (q *queue) setPartitions(held []Lease) {
	lost := q.cursors.setPartitions(held)
	q.replays.cursors.setPartitions(held)
	if lost {
		q.drop()
	}
}

// evict records that an open message is only in the store. The cursor is moved back if
// it is already past the message: messages are not always written in the order in which
// they were published or decided.
func (q *queue) evict(m *webhook.Message) {
	q.budget.release(m)
	if s, ok := q.sequences.heads(m); ok && q.sequences.suspend(s) {
		return
	}
	c := q.cursors.of(m.Partition)
	if q.isReplay(m) {
		c = q.replays.cursors.of(m.Partition)
	}
	if c == nil {
		return // the partition was lost in the meantime
	}
	if q.byKey() {
		c.atEnd = false // messages with the same key must not precede it
	}
	position := Position{Next: m.Next, ID: m.ID}
	c.rewindTo(position, q.inOrder())

	isFirst := c.firstEvicted.ID == 0 || position.before(c.firstEvicted, q.inOrder())
	if q.settledSinceRead != nil && isFirst {
		c.firstEvicted = position
	}
}
