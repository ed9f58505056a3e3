package delivery

import (
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// defaultMemory is the budget of an engine whose Config names none.
const defaultMemory = 64 << 20

// messageCost is about what a message takes in memory beside its event's body:
// the message, its texts, its places in maps and queues, and as much again until
// the garbage collector comes.
const messageCost = 1024

// budget bounds what all queues of an engine hold in memory. The body of an
// event counts once, however many messages in memory carry it. The lock of the
// queueSet guards it.
type budget struct {
	tiers    [2]tier
	events   map[int64]*heldEvent       // those whose bodies count, by ID
	messages map[*webhook.Message]*tier // those in memory, and what they count for
	refill   chan struct{}              // buffered; a queue needs a page, or there is room that one waits for
}

// heldEvent is an event that messages in memory carry.
type heldEvent struct {
	*webhook.Event
	holders int   // these messages
	tier    *tier // that the body counts for
}

// tier is what queues share: turns, and parts of the attempts and of the memory.
// Endpoints that have failed since their last success are in a tier of their own,
// so that however many there are, and whatever waits for them, the others never
// wait for what they hold.
type tier struct {
	ring        []*queue // that may begin an attempt, in the order of their turns
	refills     []*queue // that need a page, in the order of their turns
	inFlight    int      // attempts under way
	maxAttempts int      // the most
	limit       int      // bytes
	used        int      // of them
	reserved    int      // bytes for the page that is being read
	neededBytes int      // bytes that the first of refills waits for; 0 while none waits for room
}

func newBudget(memory, attempts int) *budget {
	return &budget{events: make(map[int64]*heldEvent), messages: make(map[*webhook.Message]*tier), refill: make(chan struct{}, 1), tiers: [2]tier{
		{limit: memory - memory/4, maxAttempts: attempts},
		{limit: memory / 4, maxAttempts: max(1, attempts/2)},
	}}
}

// tierOf is the tier of a queue.
func (b *budget) tierOf(q *queue) *tier {
	if q.endpoint.failing() {
		return &b.tiers[1]
	}
	return &b.tiers[0]
}

// inFlight is the number of attempts under way.
func (b *budget) inFlight() int { return b.tiers[0].inFlight + b.tiers[1].inFlight }

// remove takes a queue that is in the other tier from now on out of the lines.
func (t *tier) remove(q *queue) {
	is := func(other *queue) bool { return other == q }
	t.ring, t.refills = slices.DeleteFunc(t.ring, is), slices.DeleteFunc(t.refills, is)
	q.inRing, q.needsRefill = false, false
}

// pageShare is what the first of the queues that need a page gets of the room.
func (t *tier) pageShare() int { return max(0, t.limit-t.used-t.reserved) / max(1, len(t.refills)) }

// nextPage gives the queue whose turn it is to read, and its page; nil where none may.
func (t *tier) nextPage(now time.Time) (*queue, Page) {
	if t.neededBytes > 0 && !t.fits(t.neededBytes) {
		return nil, Page{}
	}
	t.neededBytes = 0
	for len(t.refills) > 0 {
		q, bytes := t.refills[0], t.pageShare()
		t.refills = t.refills[1:]
		q.needsRefill = false
		if c := q.refillFrom(now); c != nil {
			q.settledSinceRead, q.outdated, q.paused = make(map[int64]bool), false, false
			c.atEnd, c.wake, c.firstEvicted = false, time.Time{}, Place{}
			return q, Page{Partition: c.partition, Subscription: q.id, After: c.place, Until: now, InOrder: q.ordered(), Limit: q.pageSize(bytes)}
		}
	}
	return nil, Page{}
}

// fits reports whether there is room. A message that is larger than the tier has
// it to itself.
func (t *tier) fits(size int) bool {
	held := t.used + t.reserved
	return held == 0 || held+size <= t.limit
}

// scarce reports whether queues are to hold no more than what can go at once.
func (t *tier) scarce() bool { return t.used > t.limit/2 }

// cost is what a message that is not in memory would add.
func (b *budget) cost(m *webhook.Message) int {
	if b.events[m.Event.ID] != nil {
		return messageCost
	}
	return messageCost + max(m.Event.Size, len(m.Event.Body))
}

// charge counts a message, which shares the body that is in memory already.
func (b *budget) charge(m *webhook.Message, t *tier) {
	if b.messages[m] != nil {
		return
	}
	held := b.events[m.Event.ID]
	if held == nil {
		held = &heldEvent{Event: m.Event, tier: t}
		b.events[m.Event.ID] = held
		t.used += len(m.Event.Body)
	}
	m.Event = held.Event
	held.holders++
	b.messages[m] = t
	t.used += messageCost
}

// inDemand reports whether a queue waits for the memory that a message takes.
func (b *budget) inDemand(m *webhook.Message) bool {
	t := b.messages[m]
	return t != nil && (t.neededBytes > 0 || b.events[m.Event.ID].tier.neededBytes > 0)
}

// release is charge's opposite.
func (b *budget) release(m *webhook.Message) {
	t := b.messages[m]
	if t == nil {
		return
	}
	if b.inDemand(m) {
		signal(b.refill)
	}
	t.used -= messageCost
	delete(b.messages, m)
	held := b.events[m.Event.ID]
	if held.holders--; held.holders == 0 {
		held.tier.used -= len(held.Body)
		delete(b.events, held.ID)
	}
}
