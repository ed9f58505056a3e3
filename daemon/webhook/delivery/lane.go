package delivery

import (
	"container/heap"
	"slices"
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

// lane is the way to one subscription's endpoint: its messages in memory, and
// how many attempts at once the endpoint gets. The engine's lock guards it.
type lane struct {
	id      int64
	sub     *webhook.Subscription      // nil once it was deleted
	known   map[int64]*webhook.Message // in the queues below
	bytes   int                        // of the bodies of known messages
	away    map[int64]*webhook.Message // under way, or not yet written down
	lately  map[int64]bool             // written down since the page that is being read; nil while none is
	suspect map[int64]bool             // of away: may have been deleted
	fresh   []*webhook.Message         // due, first attempt, in order
	waiting waiting                    // for another attempt
	head    *webhook.Message           // of an ordered lane: nothing passes it
	flying  int                        // attempts under way
	throttle
	breaker
	health
	daemons   int  // that share the endpoint
	shared    bool // other daemons may add to it
	outdated  bool // what is being read may not be true any more
	retryTurn bool // a due retry goes before a fresh message
	queued    bool // is in a ring
	starving  bool // waits for a page
	sated     bool // reads nothing while it has a fresh message: others want the room
	feeds     []*feed
	until     time.Time // before which an ordered lane reads nothing: its first message is due then
	timer     *time.Timer
	budget    *budget
}

// newLane makes a lane. An endpoint that has only failed lately is probed first.
func newLane(sub *webhook.Subscription, most int, b *budget) *lane {
	l := &lane{id: sub.ID, sub: sub, health: health{since: sub.FailingSince}, daemons: 1, known: make(map[int64]*webhook.Message), away: make(map[int64]*webhook.Message), throttle: throttle{limit: min(firstLimit, most), most: most}, budget: b}
	if !sub.FailingSince.IsZero() {
		l.breaker.failures = trips
	}
	return l
}

func (l *lane) ordered() bool { return l.sub != nil && l.sub.Ordered }

func (l *lane) enabled() bool { return l.sub != nil && l.sub.Enabled }

// pageSize is how many messages are read at once, where each queue gets so many
// bytes of memory. An endpoint in trouble gets one, and none gets more than it can
// take at once where memory is scarce.
func (l *lane) pageSize(bytes int) int {
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
func (l *lane) enough() bool {
	return len(l.fresh) >= lowMark || l.full() || len(l.fresh) > 0 && (l.sated || l.budget.of(l).scarce())
}

// has reports whether a message is in memory.
func (l *lane) has(id int64) bool { return l.known[id] != nil || l.away[id] != nil }

func (l *lane) full() bool { return len(l.known) >= windowMessages || l.bytes >= windowBytes }

// accept takes a message that was just committed into memory, where there is
// room that no other queue waits for, and nothing of the lane is left behind in
// the store.
func (l *lane) accept(m *webhook.Message) {
	f, t := l.feed(m.Partition), l.budget.of(l)
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
func (l *lane) admit(m *webhook.Message) {
	l.hold(m)
	if m.Status == webhook.RetryPending && !l.ordered() {
		heap.Push(&l.waiting, m)
		return
	}
	l.fresh = append(l.fresh, m)
}

func (l *lane) hold(m *webhook.Message) {
	l.budget.charge(m, l.budget.of(l))
	l.known[m.ID] = m
	l.bytes += len(m.Event.Body)
}

// forget takes a message out of the queues.
func (l *lane) forget(m *webhook.Message) {
	delete(l.known, m.ID)
	l.bytes -= len(m.Event.Body)
}

// free reports whether the lane may begin an attempt, if it has a message.
func (l *lane) free(now time.Time) bool {
	switch {
	case !l.enabled() || l.flying >= l.share():
		return false
	case l.open():
		return l.flying == 0 && !now.Before(l.probe)
	}
	return !l.ordered() || len(l.away) == 0
}

// share is how many attempts this daemon may have under way: its part of what
// the endpoint gets.
func (l *lane) share() int { return max(1, l.limit/l.daemons) }

// ready reports whether take would give a message.
func (l *lane) ready(now time.Time) bool {
	if !l.free(now) {
		return false
	}
	if l.ordered() {
		head := l.first()
		return head != nil && !head.Next.After(now)
	}
	return len(l.fresh) > 0 || l.waiting.due(now)
}

// first is the message that an ordered lane waits for.
func (l *lane) first() *webhook.Message {
	if l.head == nil && len(l.fresh) > 0 {
		l.head = l.pop()
	}
	return l.head
}

// take gives the next message to attempt. Fresh messages and due retries take
// turns, so that neither starves the other.
func (l *lane) take(now time.Time) *webhook.Message {
	if !l.ready(now) {
		return nil
	}
	m := l.choose(now)
	l.forget(m)
	l.away[m.ID] = m
	l.flying++
	return m
}

func (l *lane) choose(now time.Time) *webhook.Message {
	if l.ordered() {
		m := l.head
		l.head = nil
		return m
	}
	l.retryTurn = !l.retryTurn
	if l.waiting.due(now) && (l.retryTurn || len(l.fresh) == 0) {
		return heap.Pop(&l.waiting).(*webhook.Message)
	}
	return l.pop()
}

func (l *lane) pop() *webhook.Message {
	m := l.fresh[0]
	l.fresh[0] = nil
	if l.fresh = l.fresh[1:]; len(l.fresh) == 0 {
		l.fresh = nil
	}
	return m
}

// settle is told that an attempt was written down, and keeps the message where
// another one follows soon.
func (l *lane) settle(m *webhook.Message) {
	delete(l.away, m.ID)
	if l.lately != nil {
		l.lately[m.ID] = true
	}
	suspect := l.suspect[m.ID]
	delete(l.suspect, m.ID)
	switch {
	case !m.Status.Open() || !l.enabled():
		l.budget.release(m)
	case l.ordered() && (suspect || l.open()):
		l.budget.release(m)
		l.drop()
	case l.ordered():
		l.head = m
		l.hold(m)
	case !suspect && !l.open() && len(l.waiting) < windowMessages/2 && l.bytes < windowBytes/2:
		l.hold(m)
		heap.Push(&l.waiting, m)
	default:
		l.leave(m)
	}
}

// putBack takes back a message whose attempt did not begin, or does not count.
// Those behind it in an ordered lane must not pass it.
func (l *lane) putBack(m *webhook.Message) {
	if delete(l.away, m.ID); l.ordered() {
		l.budget.release(m)
		l.drop()
		return
	}
	l.leave(m)
}

// drop empties the queues. What was in them is read again when its time comes.
func (l *lane) drop() {
	l.fresh, l.waiting, l.head = nil, nil, nil
	for _, m := range l.known {
		l.budget.release(m)
	}
	clear(l.known)
	l.bytes, l.until = 0, time.Time{}
	l.rewind()
}

// spare gives up the memory of what cannot go now. It is read again when it is
// due, or when those before it have gone.
func (l *lane) spare(now time.Time) {
	if h := l.head; h != nil && h.Next.After(now) {
		l.drop()
		l.until = h.Next
	}
	var due waiting
	for _, m := range l.waiting {
		if m.Next.After(now) {
			l.forget(m)
			l.leave(m)
			continue
		}
		due = append(due, m)
	}
	heap.Init(&due)
	l.waiting = due
	for n := len(l.fresh) - 1; n >= l.share() && l.budget.wanted(l.fresh[n]); n-- {
		m := l.fresh[n]
		l.fresh = slices.Delete(l.fresh, n, n+1)
		l.forget(m)
		l.leave(m)
		l.feed(m.Partition).end, l.sated = false, true
	}
}

// doubtAll has the store say which of the lane's messages are still there.
func (l *lane) doubtAll() {
	l.distrust()
	l.drop()
}

// hurry has the lane look for messages that a person has made due. Its breaker
// closes: whoever asks for another attempt expects one.
func (l *lane) hurry() {
	l.breaker = breaker{}
	l.drop()
}

// distrust has the store say, once they are back, whether messages under way
// are still there.
func (l *lane) distrust() {
	l.suspect = make(map[int64]bool, len(l.away))
	for id := range l.away {
		l.suspect[id] = true
	}
}

// rewind makes the feeds begin again, since something before their places may
// be due.
func (l *lane) rewind() {
	l.outdated = true
	for _, f := range l.feeds {
		f.rewind()
	}
}

// alarm is when the lane wants to be looked at again, the zero time for never.
// What is due already waits for a place, not for a time, and does not hide what
// is still to come.
func (l *lane) alarm(now time.Time) (at time.Time) {
	if !l.enabled() {
		return at
	}
	times := []time.Time{l.probe, l.until}
	if len(l.waiting) > 0 {
		times = append(times, l.waiting[0].Next)
	}
	if l.head != nil {
		times = append(times, l.head.Next)
	}
	for _, f := range l.feeds {
		times = append(times, f.wake)
	}
	for _, t := range times {
		if t.After(now) {
			at = earliest(at, t)
		}
	}
	return at
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// waiting is a heap of messages by the time of their next attempt.
type waiting []*webhook.Message

func (w waiting) due(now time.Time) bool { return len(w) > 0 && !w[0].Next.After(now) }

// Len is sort.Interface's.
func (w waiting) Len() int { return len(w) }

// Less is sort.Interface's.
func (w waiting) Less(i, j int) bool { return w[i].Next.Before(w[j].Next) }

// Swap is sort.Interface's.
func (w waiting) Swap(i, j int) { w[i], w[j] = w[j], w[i] }

// Push is heap.Interface's.
func (w *waiting) Push(m any) { *w = append(*w, m.(*webhook.Message)) }

// Pop is heap.Interface's.
func (w *waiting) Pop() any {
	last := len(*w) - 1
	m := (*w)[last]
	(*w)[last] = nil
	*w = (*w)[:last]
	return m
}
