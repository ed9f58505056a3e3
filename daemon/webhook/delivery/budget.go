package delivery

import (
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/wake"
	"github.com/bizhook/whd/daemon/webhook"
)

// defaultMemory is the budget of an engine without a configured limit, in bytes.
const defaultMemory = 64 << 20

// messageCost is the approximate memory of a message in addition to its event's body:
// the message, its strings, its entries in maps and queues, doubled for garbage that is
// not collected yet.
const messageCost = 1024

// budget limits the memory of all queues of an engine. The body of an event counts
// once, regardless of the number of messages in memory that refer to it. The lock of
// the queueSet guards it.
type budget struct {
	slots                   slots // slots of all tiers
	tiers                   [2]tier
	replays                 tier                       // tier of queues without an order: it has no memory of its own
	nextReplay              time.Time                  // the next time that no queue has reserved for a replay
	events                  map[int64]*heldEvent       // events in memory, by ID
	messages                map[*webhook.Message]*tier // messages in memory, with the tier they count for
	sequences, maxSequences int                        // number of sequences of all queues, and its limit
	maxOfQueue              int                        // limit of the sequences of one queue

	refill chan struct{} // buffered; signals that a queue needs a page, or that memory became free that one waits for
}

// heldEvent is an event that messages in memory refer to.
type heldEvent struct {
	*webhook.Event
	holders int   // number of these messages
	tier    *tier // that the body counts for
}

// The tiers: troubled has the endpoints that fail or are slow.
const (
	healthy = iota
	troubled
)

// tier is a share of the attempts and the memory, with its own rotation of queues.
// Endpoints that have failed since their last success, and slow ones, use a separate tier, so
// that they never block the others, however many they are.
type tier struct {
	ready       rotation // queues that may start an attempt
	slots       slots
	refills     []*queue // queues that need a page, in order
	limit       int      // bytes
	used        int      // bytes of limit in use
	reserved    int      // bytes for the page that is being read
	neededBytes int      // bytes that the first of refills waits for; 0 if it does not wait
}

func newBudget(memory, attempts int) *budget {
	return &budget{
		slots: newSlots(attempts),
		tiers: [...]tier{
			healthy: {ready: newRotation(), slots: newSlots(attempts), limit: memory - memory/4},
			// Half of the attempts, since those that hang take the longest, and little memory,
			// since endpoints that fail only need that of their attempts.
			troubled: {ready: newRotation(), slots: newSlots(max(1, attempts/2)), limit: memory / 4},
		},
		replays:      tier{ready: newRotation(), slots: newSlots(max(1, attempts/replayShare))},
		events:       make(map[int64]*heldEvent),
		messages:     make(map[*webhook.Message]*tier),
		maxSequences: memory / 4 / sequenceCost,
		maxOfQueue:   maxOfQueue,
		refill:       make(chan struct{}, 1),
	}
}

// tierOf returns the tier of a queue.
func (b *budget) tierOf(q *queue) *tier {
	if q.endpoint.failing() || q.endpoint.durations.areLong() {
		return &b.tiers[troubled]
	}
	return &b.tiers[healthy]
}

// remove removes a queue that changes to the other tier.
func (t *tier) remove(q *queue) {
	t.ready.remove(q)
	t.refills = slices.DeleteFunc(t.refills, func(other *queue) bool { return other == q })
	q.isReady = false
	q.needsRefill = false
}

// free returns the memory that is not in use, in bytes.
func (t *tier) free() int { return max(0, t.limit-t.used-t.reserved) }

// pageShare returns the memory for the page of the first of refills, in bytes.
func (t *tier) pageShare() int { return t.free() / max(1, len(t.refills)) }

// nextPage returns the next queue to read for and its page; nil if there is none.
func (t *tier) nextPage(now time.Time) (*queue, Page) {
	if t.neededBytes > 0 && !t.fits(t.neededBytes) {
		return nil, Page{}
	}
	t.neededBytes = 0
	for len(t.refills) > 0 {
		q, bytes := t.refills[0], t.pageShare()
		t.refills = t.refills[1:]
		q.needsRefill = false
		if p, ok := q.nextPage(now, bytes); ok {
			p.share = bytes
			return q, p
		}
	}
	return nil, Page{}
}

// fits reports whether size bytes are free. A message larger than the tier fits if the
// tier is empty.
func (t *tier) fits(size int) bool {
	held := t.used + t.reserved
	return held == 0 || held+size <= t.limit
}

// scarce reports whether queues should only hold messages that can be sent immediately.
func (t *tier) scarce() bool { return t.used > t.limit/2 }

// cost returns the memory that a message would add.
func (b *budget) cost(m *webhook.Message) int {
	if b.events[m.Event.ID] != nil {
		return messageCost
	}
	return messageCost + max(m.Event.Size, len(m.Event.Body))
}

// charge counts a message, which then shares a body that is already in memory.
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

// inDemand reports whether a queue waits for the memory of a message.
func (b *budget) inDemand(m *webhook.Message) bool {
	t := b.messages[m]
	return t != nil && (t.neededBytes > 0 || b.events[m.Event.ID].tier.neededBytes > 0)
}

// release reverses charge.
func (b *budget) release(m *webhook.Message) {
	t := b.messages[m]
	if t == nil {
		return
	}
	if b.inDemand(m) {
		wake.Signal(b.refill)
	}
	t.used -= messageCost
	delete(b.messages, m)
	held := b.events[m.Event.ID]
	held.holders--
	if held.holders == 0 {
		held.tier.used -= len(held.Body)
		delete(b.events, held.ID)
	}
}
