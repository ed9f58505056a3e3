package webhook

import (
	"context"
	"time"
)

// feed is where a lane stands in the store: what it has in memory of one
// partition, and what is left there.
type feed struct {
	partition int64
	place     Place
	end       bool      // nothing that is due stands behind the place
	wake      time.Time // when something will be, the zero time for never
	left      Place     // the first that was left in the store while a page was read; no number for none
}

func (l *lane) feed(partition int64) *feed {
	for _, f := range l.feeds {
		if f.partition == partition {
			return f
		}
	}
	return nil
}

// rewind begins again at the first message.
func (f *feed) rewind() { f.place, f.end, f.wake = Place{}, false, time.Time{} }

// leave notes that an open message is in the store alone. The feed goes back
// where its place is behind the message already: those that were raised or
// decided first are not always written first.
func (l *lane) leave(m *Message) {
	f := l.feed(m.Partition)
	if f == nil {
		return // the partition was lost meanwhile
	}
	at := Place{m.Next, m.ID}
	f.back(at, l.ordered())
	if l.lately != nil && (f.left.ID == 0 || at.before(f.left, l.ordered())) {
		f.left = at
	}
}

// back makes sure that the feed comes to a place.
func (f *feed) back(at Place, byNumber bool) {
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

// hungry reports whether the store may have something for the feed.
func (f *feed) hungry(now time.Time) bool {
	return !f.end || !f.wake.IsZero() && !f.wake.After(now)
}

// hungry is the feed to read from, nil while the lane has enough.
func (l *lane) hungry(now time.Time) *feed {
	if !l.enabled() || len(l.fresh) >= lowMark || l.full() {
		return nil
	}
	for _, f := range l.feeds {
		if f.hungry(now) {
			return f
		}
	}
	return nil
}

// feeding reads pages for lanes that want them, one after another, until the
// engine stops.
func (e *Engine) feeding(ctx context.Context) {
	wait := newPatience()
	for {
		l, page := e.nextPage()
		if l == nil {
			if !e.sleep(ctx, e.hunger, 0) {
				return
			}
			continue
		}
		if err := e.readPage(ctx, l, page); err != nil {
			e.log.Warn("reading messages failed", "error", err.Error())
			if !e.sleep(ctx, nil, wait.next()) {
				return
			}
			continue
		}
		wait.reset()
	}
}

// nextPage finds a lane to read for.
func (e *Engine) nextPage() (*lane, Page) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	for len(e.starving) > 0 {
		l := e.starving[0]
		e.starving = e.starving[1:]
		delete(e.isStarving, l.id)
		if f := l.hungry(now); f != nil {
			l.lately, l.outdated = make(map[int64]bool), false
			f.end, f.wake, f.left = false, time.Time{}, Place{}
			return l, Page{Partition: f.partition, Subscription: l.id, After: f.place, Until: now, InOrder: l.ordered(), Limit: l.pageSize()}
		}
	}
	return nil, Page{}
}

func (e *Engine) readPage(ctx context.Context, l *lane, p Page) error {
	messages, err := e.store.Page(ctx, p)
	var due time.Time
	if err == nil && len(messages) < p.Limit && !p.InOrder {
		due, err = e.store.Due(ctx, after(p, messages))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err == nil {
		l.paged(p, messages, due)
	}
	l.lately = nil
	e.tend(l)
	e.pump()
	return err
}

// after is the same page beginning behind the messages, and what is due later.
func after(p Page, messages []*Message) Page {
	if n := len(messages); n > 0 {
		p.After = Place{messages[n-1].Next, messages[n-1].ID}
	}
	return p
}

// paged admits the messages of a page and moves the feed's place behind them,
// unless the lane was rewound meanwhile. A message may have been attempted since
// it was read.
func (l *lane) paged(p Page, messages []*Message, due time.Time) {
	f := l.feed(p.Partition)
	if f == nil || l.outdated || !l.enabled() {
		return
	}
	size := 0
	for _, m := range messages {
		size += len(m.Event.Body)
		if l.known[m.ID] == nil && l.away[m.ID] == nil && !l.lately[m.ID] {
			l.admit(m)
		}
	}
	if len(messages) > 0 {
		l.average = max(1, size/len(messages))
	}
	f.place = after(p, messages).After
	f.end, f.wake = len(messages) < p.Limit, earliest(f.wake, due)
	if f.left.ID != 0 { // the page may have been read before it was written
		f.end = false
		f.back(f.left, p.InOrder)
	}
}
