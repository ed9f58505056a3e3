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
	for running := true; running; {
		q, page := r.nextPage()
		if q == nil {
			running = sleep(ctx, r.queues.budget.refill, 0)
		} else if err := r.readPage(ctx, q, page); err != nil {
			r.Log.Warn("reading messages failed", "error", err.Error())
			running = sleep(ctx, nil, wait.Next())
		} else {
			wait.Reset()
		}
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

// readPage reads messages, then the bodies of those that fit into memory.
func (r *refiller) readPage(ctx context.Context, q *queue, p Page) error {
	messages, err := r.Store.OpenMessages(ctx, p)
	whole := len(messages) < p.Limit
	var due time.Time
	if err == nil && whole && !p.InOrder && !p.Replays {
		due, err = r.Store.NextDue(ctx, p.after(messages))
	}
	var t *tier
	if err == nil {
		var fit int
		t, fit, p.left = r.reserve(q, p, messages)
		whole = whole && fit == len(messages)
		messages = messages[:fit]
		err = r.readBodies(ctx, p, messages)
	}
	r.queues.mu.Lock()
	defer r.queues.mu.Unlock()
	if t != nil {
		t.reserved = 0
	}
	if err == nil {
		q.addPage(p, messages, whole, due)
	}
	q.settledSinceRead = nil
	r.queues.schedule(q)
	r.queues.dispatch()
	return err
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
// the queue's share, and makes them share bodies that are in memory. If not even one
// fits, the queue keeps its turn until memory is free. Messages that wait for others with
// the same key are left to the store.
func (r *refiller) reserve(q *queue, p Page, messages []*webhook.Message) (t *tier, fit int, left map[int64]bool) {
	s, ahead := r.queues, make(map[string]int)
	left = make(map[int64]bool)
	s.mu.Lock()
	defer s.mu.Unlock()
	t = s.budget.tierOf(q)
	limit, added := min(p.share, t.free(), windowBytes-q.window.bytes), 0
	for i, m := range messages {
		switch {
		case q.has(m.ID):
			continue
		case !q.sequences.mayLoad(m, s.clock.Now(), ahead):
			left[m.ID] = true
			continue
		case added > 0 && q.endpoint.breaker.open():
			return t, i, left
		}
		size := s.budget.cost(m)
		if known := s.budget.events[m.Event.ID]; known != nil {
			m.Event = known.Event
		}
		if q.sub != nil && m.URL == q.sub.URL {
			m.URL = q.sub.URL
		}
		switch {
		case added == 0 && !t.fits(size):
			if q.paused = len(q.window.fresh) > 0; !q.paused {
				r.waitForRoom(t, q, size)
			}
			return t, i, left
		case added > 0 && added+size > limit:
			return t, i, left
		}
		added += size
		t.reserved = added
	}
	return t, len(messages), left
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
