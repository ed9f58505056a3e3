package delivery

import (
	"context"
	"time"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/daemon/webhook"
)

// cursor is where a lane stands in the store: what it has in memory of one
// partition, and what is left there.
type cursor struct {
	partition int64
	place     Place
	end       bool      // nothing that is due stands behind the place
	wake      time.Time // when something will be, the zero time for never
	left      Place     // the first that was left in the store while a page was read; no number for none
}

func (l *queue) cursorOf(partition int64) *cursor {
	for _, f := range l.cursors {
		if f.partition == partition {
			return f
		}
	}
	return nil
}

// rewind begins again at the first message.
func (f *cursor) rewind() { f.place, f.end, f.wake = Place{}, false, time.Time{} }

// leave notes that an open message is in the store alone. The feed goes back
// where its place is behind the message already: those that were raised or
// decided first are not always written first.
func (l *queue) leave(m *webhook.Message) {
	l.budget.release(m)
	f := l.cursorOf(m.Partition)
	if f == nil {
		return // the partition was lost meanwhile
	}
	at := Place{m.Next, m.ID}
	f.back(at, l.ordered())
	if l.recent != nil && (f.left.ID == 0 || at.before(f.left, l.ordered())) {
		f.left = at
	}
}

// back makes sure that the feed comes to a place.
func (f *cursor) back(at Place, byNumber bool) {
	f.wake = earliest(f.wake, at.Next)
	if !f.place.before(at, byNumber) {
		f.place = Place{at.Next, at.ID - 1}
	}
}

// before compares places in the order in which messages are due, or in that of
// their numbers.
func (p Place) before(other Place, byNumber bool) bool {
	if byNumber || p.Next.Equal(other.Next) {
		return p.ID < other.ID
	}
	return p.Next.Before(other.Next)
}

// mayRefill reports whether the store may have something for the feed.
func (f *cursor) mayRefill(now time.Time) bool {
	return !f.end || !f.wake.IsZero() && !f.wake.After(now)
}

// refillFrom is the feed to read from, nil while the lane has enough. An endpoint in
// trouble has its next probe read when it is time for it.
func (l *queue) refillFrom(now time.Time) *cursor {
	switch {
	case !l.enabled() || l.enough() || now.Before(l.until):
		return nil
	case l.open() && (len(l.known)+len(l.away) > 0 || !l.free(now)):
		return nil
	}
	for _, f := range l.cursors {
		if f.mayRefill(now) {
			return f
		}
	}
	return nil
}

// refilling reads pages for lanes that want them, one after another, until the
// engine stops.
func (e *Engine) refilling(ctx context.Context) {
	wait := backoff.Backoff{Min: minBackoff, Max: maxBackoff}
	for {
		l, page := e.nextPage()
		if l == nil {
			if !e.sleep(ctx, e.budget.refill, 0) {
				return
			}
			continue
		}
		if err := e.readPage(ctx, l, page); err != nil {
			e.log.Warn("reading messages failed", "error", err.Error())
			if !e.sleep(ctx, nil, wait.Next()) {
				return
			}
			continue
		}
		wait.Reset()
	}
}

// nextPage finds a lane to read for. The tiers take turns.
func (e *Engine) nextPage() (*queue, Page) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for range e.budget.tiers {
		e.fed = 1 - e.fed
		if l, p := e.budget.tiers[e.fed].nextPage(e.Now()); l != nil {
			return l, p
		}
	}
	return nil, Page{}
}

func (t *tier) nextPage(now time.Time) (*queue, Page) {
	if t.need > 0 && !t.fits(t.need) {
		return nil, Page{}
	}
	t.need = 0
	for len(t.refills) > 0 {
		l, bytes := t.refills[0], t.portion()
		t.refills = t.refills[1:]
		l.needsRefill = false
		if f := l.refillFrom(now); f != nil {
			l.recent, l.outdated, l.paused = make(map[int64]bool), false, false
			f.end, f.wake, f.left = false, time.Time{}, Place{}
			return l, Page{Partition: f.partition, Subscription: l.id, After: f.place, Until: now, InOrder: l.ordered(), Limit: l.pageSize(bytes)}
		}
	}
	return nil, Page{}
}

// portion is what the first of the lanes that want a page gets of the room.
func (t *tier) portion() int { return max(0, t.limit-t.used-t.reserved) / max(1, len(t.refills)) }

// readPage reads messages first, and then the bodies of those for which there is
// room.
func (e *Engine) readPage(ctx context.Context, l *queue, p Page) error {
	messages, err := e.store.Page(ctx, p)
	whole := len(messages) < p.Limit
	var due time.Time
	if err == nil && whole && !p.InOrder {
		due, err = e.store.Due(ctx, after(p, messages))
	}
	var t *tier
	if err == nil {
		var fit int
		t, fit = e.reserve(l, messages)
		whole = whole && fit == len(messages)
		messages = messages[:fit]
		err = e.readBodies(ctx, messages)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if t != nil {
		t.reserved = 0
	}
	if err == nil {
		l.paged(p, messages, whole, due)
	}
	l.recent = nil
	e.schedule(l)
	e.dispatch()
	return err
}

// readBodies reads the bodies that are not in memory.
func (e *Engine) readBodies(ctx context.Context, messages []*webhook.Message) error {
	var missing []int64
	for _, m := range messages {
		if m.Event.Body == nil {
			missing = append(missing, m.Event.ID)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	bodies, err := e.store.Bodies(ctx, missing)
	for _, m := range messages {
		if m.Event.Body == nil {
			m.Event.Body = bodies[m.Event.ID]
		}
	}
	return err
}

// reserve sets memory aside for the first messages of a page, as many as fit in
// the queue's share of it, and has them use bodies that are in memory. Where
// there is no room for one, the queue keeps its turn until there is.
func (e *Engine) reserve(l *queue, messages []*webhook.Message) (t *tier, fit int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t = e.budget.of(l)
	most, added := min(t.portion(), windowBytes-l.bytes), 0
	for i, m := range messages {
		size := e.budget.cost(m)
		if known := e.budget.events[m.Event.ID]; known != nil {
			m.Event = known.Event
		}
		if l.sub != nil && m.URL == l.sub.URL {
			m.URL = l.sub.URL
		}
		switch {
		case l.has(m.ID):
			continue
		case added == 0 && !t.fits(size):
			if l.paused = len(l.fresh) > 0; !l.paused {
				e.wait(t, l, size)
			}
			return t, i
		case added > 0 && added+size > most:
			return t, i
		}
		added += size
		t.reserved = added
	}
	return t, len(messages)
}

// wait has a lane be the next that reads once there is so much room, and frees
// what it can.
func (e *Engine) wait(t *tier, l *queue, size int) {
	t.need = size
	t.refills = append([]*queue{l}, t.refills...)
	l.needsRefill = true
	for _, other := range e.queues {
		other.spare(e.Now())
		e.schedule(other)
	}
}

// after is the same page beginning behind the messages, and what is due later.
func after(p Page, messages []*webhook.Message) Page {
	if n := len(messages); n > 0 {
		p.After = Place{messages[n-1].Next, messages[n-1].ID}
	}
	return p
}

// paged admits the messages of a page and moves the feed's place behind them,
// unless the lane was rewound meanwhile. A message may have been attempted since
// it was read.
func (l *queue) paged(p Page, messages []*webhook.Message, whole bool, due time.Time) {
	f := l.cursorOf(p.Partition)
	if f == nil || l.outdated || !l.enabled() {
		return
	}
	for i, m := range messages {
		switch {
		case l.has(m.ID) || l.recent[m.ID]:
		case len(m.Event.Body) == 0 && m.Event.Size > 0: // removed since it was listed
		case !l.budget.of(l).fits(l.budget.cost(m)): // a body that was in memory was let go
			messages, whole = messages[:i], false
		default:
			l.admit(m)
		}
		if i >= len(messages) {
			break
		}
	}
	f.place = after(p, messages).After
	f.end, f.wake = whole, earliest(f.wake, due)
	if f.left.ID != 0 { // the page may have been read before it was written
		f.end = false
		f.back(f.left, p.InOrder)
	}
}
