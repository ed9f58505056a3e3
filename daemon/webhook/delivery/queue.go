package delivery

import (
	"slices"
	"sort"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// The window of a lane: how much of it is kept in memory. The rest stays in the
// store.
const (
	windowMessages = 1000
	windowBytes    = 8 << 20
	pageIn         = 128 // messages read at once
	lowMark        = 64  // fresh messages in memory below which more are read
)

// queue is the way to one subscription's endpoint: its messages in memory, and
// how many attempts at once the endpoint gets. The engine's lock guards it.
type queue struct {
	id       int64
	sub      *webhook.Subscription      // nil once it was deleted
	known    map[int64]*webhook.Message // in the queues below
	bytes    int                        // of the bodies of known messages
	away     map[int64]*webhook.Message // under way, or not yet written down
	recent   map[int64]bool             // written down since the page that is being read; nil while none is
	stale    map[int64]bool             // of away: may have been deleted
	fresh    []*webhook.Message         // due, first attempt, in order
	retries  []*webhook.Message         // for another attempt, the next first
	head     *webhook.Message           // of an ordered lane: nothing passes it
	inFlight int                        // attempts under way
	throttle
	breaker
	health
	daemons     int  // that share the endpoint
	shared      bool // other daemons may add to it
	outdated    bool // what is being read may not be true any more
	retryTurn   bool // a due retry goes before a fresh message
	queued      bool // is in a ring
	needsRefill bool // waits for a page
	paused      bool // reads nothing while it has a fresh message: others want the room
	cursors     []*cursor
	until       time.Time // before which an ordered lane reads nothing: its first message is due then
	timer       *time.Timer
	budget      *budget
}

// newQueue makes a lane. An endpoint that has only failed lately is probed first.
func newQueue(sub *webhook.Subscription, most int, b *budget) *queue {
	l := &queue{id: sub.ID, sub: sub, health: health{since: sub.FailingSince}, daemons: 1, known: make(map[int64]*webhook.Message), away: make(map[int64]*webhook.Message), throttle: throttle{limit: min(firstLimit, most), most: most}, budget: b}
	if !sub.FailingSince.IsZero() {
		l.breaker.failures = breakerFailures
	}
	return l
}

func (l *queue) ordered() bool { return l.sub != nil && l.sub.Ordered }

func (l *queue) enabled() bool { return l.sub != nil && l.sub.Enabled }

// pageSize is how many messages are read at once, where each queue gets so many
// bytes of memory. An endpoint in trouble gets one, and none gets more than it can
// take at once where memory is scarce.
func (l *queue) pageSize(bytes int) int {
	most := pageIn
	switch {
	case l.open():
		return 1
	case l.budget.of(l).scarce():
		most = min(most, l.share())
	}
	return min(most, max(1, bytes/messageCost))
}

// enough reports whether the lane needs no more messages in memory.
func (l *queue) enough() bool {
	return len(l.fresh) >= lowMark || l.full() || len(l.fresh) > 0 && (l.paused || l.budget.of(l).scarce())
}

// has reports whether a message is in memory.
func (l *queue) has(id int64) bool { return l.known[id] != nil || l.away[id] != nil }

func (l *queue) full() bool { return len(l.known) >= windowMessages || l.bytes >= windowBytes }

// accept takes a message that was just committed into memory, where there is
// room that no other queue waits for, and nothing of the lane is left behind in
// the store.
func (l *queue) accept(m *webhook.Message) {
	f, t := l.cursorOf(m.Partition), l.budget.of(l)
	switch {
	case f == nil: // the partition was lost meanwhile
	case l.has(m.ID): // a page was faster
	case l.shared && l.ordered() && f.end: // what others have added comes first
		l.drop()
	case !f.end || l.full() || !l.enabled() || l.open(),
		t.need > 0 || !t.fits(l.budget.cost(m)) || len(l.fresh) > 0 && t.scarce():
		f.end = false
		l.leave(m)
	default:
		l.admit(m)
	}
}

// admit puts a message that is not in memory yet into its queue.
func (l *queue) admit(m *webhook.Message) {
	l.hold(m)
	if m.Status == webhook.RetryPending && !l.ordered() {
		l.retryLater(m)
		return
	}
	l.fresh = append(l.fresh, m)
}

// retryLater queues a message for another attempt. Those that are due together keep
// their order.
func (l *queue) retryLater(m *webhook.Message) {
	l.retries = slices.Insert(l.retries, l.retriesUntil(m.Next), m)
}

// retriesUntil is how many retries are due by then.
func (l *queue) retriesUntil(t time.Time) int {
	return sort.Search(len(l.retries), func(i int) bool { return l.retries[i].Next.After(t) })
}

func (l *queue) hold(m *webhook.Message) {
	l.budget.charge(m, l.budget.of(l))
	l.known[m.ID] = m
	l.bytes += len(m.Event.Body)
}

// forget takes a message out of the queues.
func (l *queue) forget(m *webhook.Message) {
	delete(l.known, m.ID)
	l.bytes -= len(m.Event.Body)
}

// free reports whether the lane may begin an attempt, if it has a message.
func (l *queue) free(now time.Time) bool {
	switch {
	case !l.enabled() || l.inFlight >= l.share():
		return false
	case l.open():
		return l.inFlight == 0 && !now.Before(l.probe)
	}
	return !l.ordered() || len(l.away) == 0
}

// share is how many attempts this daemon may have under way: its part of what
// the endpoint gets.
func (l *queue) share() int { return max(1, l.limit/l.daemons) }

// ready reports whether take would give a message.
func (l *queue) ready(now time.Time) bool {
	if !l.free(now) {
		return false
	}
	if l.ordered() {
		head := l.first()
		return head != nil && !head.Next.After(now)
	}
	return len(l.fresh) > 0 || l.retryDue(now)
}

func (l *queue) retryDue(now time.Time) bool {
	return len(l.retries) > 0 && !l.retries[0].Next.After(now)
}

// first is the message that an ordered lane waits for.
func (l *queue) first() *webhook.Message {
	if l.head == nil && len(l.fresh) > 0 {
		l.head = pop(&l.fresh)
	}
	return l.head
}

// take gives the next message to attempt. Fresh messages and due retries take
// turns, so that neither starves the other.
func (l *queue) take(now time.Time) *webhook.Message {
	if !l.ready(now) {
		return nil
	}
	m := l.choose(now)
	l.forget(m)
	l.away[m.ID] = m
	l.inFlight++
	return m
}

func (l *queue) choose(now time.Time) *webhook.Message {
	if l.ordered() {
		m := l.head
		l.head = nil
		return m
	}
	l.retryTurn = !l.retryTurn
	if l.retryDue(now) && (l.retryTurn || len(l.fresh) == 0) {
		return pop(&l.retries)
	}
	return pop(&l.fresh)
}

// pop takes the first out.
func pop(all *[]*webhook.Message) *webhook.Message {
	m := (*all)[0]
	(*all)[0] = nil
	if *all = (*all)[1:]; len(*all) == 0 {
		*all = nil
	}
	return m
}

// settled is told that an attempt was written down, and keeps the message where
// another one follows soon.
func (l *queue) settled(m *webhook.Message) {
	delete(l.away, m.ID)
	if l.recent != nil {
		l.recent[m.ID] = true
	}
	suspect := l.stale[m.ID]
	delete(l.stale, m.ID)
	switch {
	case !m.Status.Open() || !l.enabled():
		l.budget.release(m)
	case l.ordered() && (suspect || l.open()):
		l.budget.release(m)
		l.drop()
	case l.ordered():
		l.head = m
		l.hold(m)
	case !suspect && !l.open() && len(l.retries) < windowMessages/2 && l.bytes < windowBytes/2:
		l.hold(m)
		l.retryLater(m)
	default:
		l.leave(m)
	}
}

// putBack takes back a message whose attempt did not begin, or does not count.
// Those behind it in an ordered lane must not pass it.
func (l *queue) putBack(m *webhook.Message) {
	if delete(l.away, m.ID); l.ordered() {
		l.budget.release(m)
		l.drop()
		return
	}
	l.leave(m)
}

// drop empties the queues. What was in them is read again when its time comes.
func (l *queue) drop() {
	l.fresh, l.retries, l.head = nil, nil, nil
	for _, m := range l.known {
		l.budget.release(m)
	}
	clear(l.known)
	l.bytes, l.until = 0, time.Time{}
	l.rewind()
}

// spare gives up the memory of what cannot go now. It is read again when it is
// due, or when those before it have gone.
func (l *queue) spare(now time.Time) {
	if h := l.head; h != nil && h.Next.After(now) {
		l.drop()
		l.until = h.Next
	}
	due := l.retriesUntil(now)
	for _, m := range l.retries[due:] {
		l.forget(m)
		l.leave(m)
	}
	l.retries = slices.Delete(l.retries, due, len(l.retries))
	for n := len(l.fresh) - 1; n >= l.share() && l.budget.wanted(l.fresh[n]); n-- {
		m := l.fresh[n]
		l.fresh = slices.Delete(l.fresh, n, n+1)
		l.forget(m)
		l.leave(m)
		l.cursorOf(m.Partition).end, l.paused = false, true
	}
}

// invalidate has the store say which of the lane's messages are still there.
func (l *queue) invalidate() {
	l.markStale()
	l.drop()
}

// expedite has the lane look for messages that a person has made due. Its breaker
// closes: whoever asks for another attempt expects one.
func (l *queue) expedite() {
	l.breaker = breaker{}
	l.drop()
}

// markStale has the store say, once they are back, whether messages under way
// are still there.
func (l *queue) markStale() {
	l.stale = make(map[int64]bool, len(l.away))
	for id := range l.away {
		l.stale[id] = true
	}
}

// rewind makes the feeds begin again, since something before their places may
// be due.
func (l *queue) rewind() {
	l.outdated = true
	for _, f := range l.cursors {
		f.rewind()
	}
}

// alarm is when the lane wants to be looked at again, the zero time for never.
// What is due already waits for a place, not for a time, and does not hide what
// is still to come.
func (l *queue) alarm(now time.Time) (at time.Time) {
	if !l.enabled() {
		return at
	}
	later := func(t time.Time) {
		if t.After(now) {
			at = earliest(at, t)
		}
	}
	later(l.probe)
	later(l.until)
	if len(l.retries) > 0 {
		later(l.retries[0].Next)
	}
	if l.head != nil {
		later(l.head.Next)
	}
	for _, f := range l.cursors {
		later(f.wake)
	}
	return at
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
