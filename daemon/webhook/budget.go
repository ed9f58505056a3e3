package webhook

import "slices"

// defaultMemory is the budget of an engine whose Config names none.
const defaultMemory = 64 << 20

// messageCost is about what a message takes in memory beside its event's body:
// the message, its texts, its places in maps and queues, and as much again until
// the garbage collector comes.
const messageCost = 1024

// budget bounds what all queues of an engine hold in memory. The body of an
// event counts once, however many messages in memory carry it. The engine's lock
// guards it.
type budget struct {
	tiers  [2]tier
	events map[int64]*Event // those whose bodies count, by ID
	hunger chan struct{}    // buffered; a queue is starving, or there is room that one waits for
}

// tier is what queues share: turns, and parts of the attempts and of the memory.
// Endpoints that have failed since their last success are in a tier of their own,
// so that however many there are, and whatever waits for them, the others never
// wait for what they hold.
type tier struct {
	ring     []*lane // that may begin an attempt, in the order of their turns
	starving []*lane // that want a page, in the order of their turns
	flying   int     // attempts under way
	attempts int     // the most
	limit    int     // bytes
	used     int     // of them
	reserved int     // bytes for the page that is being read
	need     int     // bytes that the first of starving waits for; 0 while none waits for room
}

func newBudget(memory, attempts int) *budget {
	return &budget{events: make(map[int64]*Event), hunger: make(chan struct{}, 1), tiers: [2]tier{
		{limit: memory - memory/4, attempts: attempts},
		{limit: memory / 4, attempts: max(1, attempts/2)},
	}}
}

// of is the tier of a queue.
func (b *budget) of(l *lane) *tier {
	if l.health.since.IsZero() {
		return &b.tiers[0]
	}
	return &b.tiers[1]
}

// remove takes a queue that is in the other tier from now on out of the lines.
func (t *tier) remove(l *lane) {
	is := func(other *lane) bool { return other == l }
	t.ring, t.starving = slices.DeleteFunc(t.ring, is), slices.DeleteFunc(t.starving, is)
	l.queued, l.starving = false, false
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
func (b *budget) cost(m *Message) int {
	if b.events[m.Event.ID] != nil {
		return messageCost
	}
	return messageCost + max(m.Event.Size, len(m.Event.Body))
}

// charge counts a message, which shares the body that is in memory already.
func (b *budget) charge(m *Message, t *tier) {
	if m.tier != nil {
		return
	}
	if known := b.events[m.Event.ID]; known != nil {
		m.Event = known
	} else {
		b.events[m.Event.ID] = m.Event
		m.Event.tier = t
		t.used += len(m.Event.Body)
	}
	m.Event.holders++
	m.tier = t
	t.used += messageCost
}

// wanted reports whether a queue waits for the memory that the message takes.
func (m *Message) wanted() bool {
	return m.tier != nil && (m.tier.need > 0 || m.Event.tier.need > 0)
}

// release is charge's opposite.
func (b *budget) release(m *Message) {
	if m.tier == nil {
		return
	}
	if m.wanted() {
		signal(b.hunger)
	}
	m.tier.used -= messageCost
	m.tier = nil
	e := m.Event
	if e.holders--; e.holders == 0 {
		e.tier.used -= len(e.Body)
		delete(b.events, e.ID)
	}
}
