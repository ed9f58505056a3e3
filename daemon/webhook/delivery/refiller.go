package delivery

import (
	"context"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// refiller reads pages of messages for the queues, one at a time.
type refiller struct {
	*core
	lastTier int // index of the tier of the last page
}

// run reads pages until ctx is done.
func (r *refiller) run(ctx context.Context) {
	wait := newBackoff()
	for ctx.Err() == nil {
		q, page := r.nextPage()
		if q == nil {
			sleep(ctx, r.queues.budget.refill, 0)
			continue
		}

		err := r.readPage(ctx, q, page)
		if err != nil {
			r.Log.Warn("reading messages failed", "error", err.Error())
			sleep(ctx, nil, wait.Next())
			continue
		}
		wait.Reset()
	}
}

// nextPage selects a queue to read for, alternating between the tiers.
func (r *refiller) nextPage() (*queue, Page) {
	s := r.queues
	s.mu.Lock()
	defer s.mu.Unlock()
	for range s.budget.tiers {
		r.lastTier = 1 - r.lastTier
		if q, p := s.budget.tiers[r.lastTier].nextPage(s.clock.Now()); q != nil {
			return q, p
		}
	}
	return nil, Page{}
}

// loadedPage is the result of reading a page.
type loadedPage struct {
	messages []*webhook.Message // those that fit into memory, with their bodies
	whole    bool               // there are no more messages for the page
	due      time.Time          // when the next message after a whole page is due
}

// readPage reads a page and adds its messages to the queue.
func (r *refiller) readPage(ctx context.Context, q *queue, p Page) error {
	// The messages that are left to the store are not loaded with their bodies. The queue must
	// recognize them when it adds the page.
	p.left = make(map[int64]bool)
	loaded, err := r.load(ctx, q, p)
	r.finish(q, p, loaded, err)
	return err
}

// load reads messages, then the bodies of those that fit into memory.
func (r *refiller) load(ctx context.Context, q *queue, p Page) (loadedPage, error) {
	messages, err := r.Store.OpenMessages(ctx, p)
	if err != nil {
		return loadedPage{}, err
	}
	page := loadedPage{whole: len(messages) < p.Limit}
	if page.whole && !p.InOrder && !p.Replays {
		page.due, err = r.Store.NextDue(ctx, p.after(messages))
		if err != nil {
			return loadedPage{}, err
		}
	}

	fit := r.reserve(q, p, messages)
	page.messages = messages[:fit]
	if fit < len(messages) {
		page.whole = false
	}
	err = r.readBodies(ctx, p, page.messages)
	if err != nil {
		return loadedPage{}, err
	}
	return page, nil
}

// finish adds a page to the queue unless it could not be read, and releases the memory that was
// reserved for it.
func (r *refiller) finish(q *queue, p Page, page loadedPage, err error) {
	r.queues.mu.Lock()
	defer r.queues.mu.Unlock()
	for i := range r.queues.budget.tiers {
		r.queues.budget.tiers[i].reserved = 0 // one page is read at a time
	}
	if err == nil {
		q.addPage(p, page.messages, page.whole, page.due)
		q.noteWaits(page.messages, r.policyFor(q.sub), r.Now())
	}
	q.settledSinceRead = nil
	r.queues.schedule(q)
	r.queues.dispatch()
}

// readBodies reads the bodies that are needed and not in memory.
func (r *refiller) readBodies(ctx context.Context, p Page, messages []*webhook.Message) error {
	var missing []int64
	for _, m := range messages {
		if m.Event.Body == nil && !p.left[m.ID] {
			missing = append(missing, m.Event.ID)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	bodies, err := r.Store.Bodies(ctx, missing)
	for _, m := range messages {
		if m.Event.Body == nil {
			m.Event.Body = bodies[m.Event.ID]
		}
	}
	return err
}

// reserve reserves memory for as many messages of a page, from the first, as fit into
// the queue's share, and returns their number. It makes them share bodies that are in memory, and
// adds messages that wait for others with the same key to those left to the store.
func (r *refiller) reserve(q *queue, p Page, messages []*webhook.Message) int {
	s := r.queues
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.budget.tierOf(q)
	limit := min(p.share, t.free(), windowBytes-q.window.bytes)
	added := 0
	ahead := make(map[string]int) // messages of each sequence before this one in the page
	for i, m := range messages {
		if q.has(m.ID) {
			continue
		}
		if !q.sequences.mayLoad(m, s.clock.Now(), ahead) {
			p.left[m.ID] = true
			continue
		}
		if added > 0 && q.endpoint.breaker.open() {
			return i // one message is enough for a probe
		}

		size := s.budget.cost(m)
		r.share(q, m)
		if added > 0 && added+size > limit {
			return i
		}
		if added == 0 && !t.fits(size) {
			r.pause(t, q, size)
			return i
		}
		added += size
		t.reserved = added
	}
	return len(messages)
}

// share makes a message use the body and the URL that are in memory. The lock of the queues is
// held.
func (r *refiller) share(q *queue, m *webhook.Message) {
	held := r.queues.budget.events[m.Event.ID]
	if held != nil {
		m.Event = held.Event
	}
	if q.sub != nil && m.URL == q.sub.URL {
		m.URL = q.sub.URL
	}
}

// pause ends reading for a queue without memory for a single message. If it has messages to send,
// it reads again when it has sent them. Otherwise it keeps its turn until size bytes are free. The
// lock of the queues is held.
func (r *refiller) pause(t *tier, q *queue, size int) {
	q.paused = len(q.window.fresh) > 0
	if !q.paused {
		r.waitForRoom(t, q, size)
	}
}

// waitForRoom makes the queue the next one to read once size bytes are free, and frees
// memory of other queues. The lock of the queues is held.
func (r *refiller) waitForRoom(t *tier, q *queue, size int) {
	t.neededBytes = size
	t.refills = append([]*queue{q}, t.refills...)
	q.needsRefill = true
	for _, other := range r.queues.byID {
		other.trim(r.queues.clock.Now())
		r.queues.schedule(other)
	}
}
