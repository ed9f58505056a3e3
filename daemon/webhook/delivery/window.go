package delivery

import (
	"slices"
	"sort"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// The bounds of a queue's window.
const (
	windowMessages = 1000
	windowBytes    = 8 << 20
)

// window is the part of a queue that is in memory and waits for an attempt. The
// rest stays in the store.
type window struct {
	known     map[int64]*webhook.Message // in the lists below
	bytes     int                        // of the bodies of known messages
	fresh     []*webhook.Message         // due, first attempt, in order
	retries   []*webhook.Message         // for another attempt, the next first
	head      *webhook.Message           // of an ordered queue: nothing passes it
	retryTurn bool                       // a due retry goes before a fresh message
}

func (w *window) full() bool { return len(w.known) >= windowMessages || w.bytes >= windowBytes }

// add counts a message, which is put into one of the lists.
func (w *window) add(m *webhook.Message) {
	w.known[m.ID] = m
	w.bytes += len(m.Event.Body)
}

// remove is add's opposite.
func (w *window) remove(m *webhook.Message) {
	delete(w.known, m.ID)
	w.bytes -= len(m.Event.Body)
}

// clear empties the lists.
func (w *window) clear() {
	clear(w.known)
	w.fresh, w.retries, w.head, w.bytes = nil, nil, nil, 0
}

// retryLater lists a message for another attempt. Those that are due together keep
// their order.
func (w *window) retryLater(m *webhook.Message) {
	w.retries = slices.Insert(w.retries, w.retriesUntil(m.Next), m)
}

// retriesUntil is how many retries are due by then.
func (w *window) retriesUntil(t time.Time) int {
	return sort.Search(len(w.retries), func(i int) bool { return w.retries[i].Next.After(t) })
}

func (w *window) retryDue(now time.Time) bool {
	return len(w.retries) > 0 && !w.retries[0].Next.After(now)
}

// ready reports whether a message may go now.
func (w *window) ready(now time.Time, ordered bool) bool {
	if !ordered {
		return len(w.fresh) > 0 || w.retryDue(now)
	}
	if w.head == nil && len(w.fresh) > 0 {
		w.head = pop(&w.fresh)
	}
	return w.head != nil && !w.head.Next.After(now)
}

// take gives the message to attempt, where one is ready. Fresh messages and due
// retries take turns, so that neither starves the other.
func (w *window) take(now time.Time, ordered bool) (m *webhook.Message) {
	switch w.retryTurn = !w.retryTurn; {
	case ordered:
		m, w.head = w.head, nil
	case w.retryDue(now) && (w.retryTurn || len(w.fresh) == 0):
		m = pop(&w.retries)
	default:
		m = pop(&w.fresh)
	}
	w.remove(m)
	return m
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

// cursor is how far a queue has read the store: what it has in memory of one
// partition, and what is left there.
type cursor struct {
	partition    int64
	place        Place
	atEnd        bool      // nothing that is due is behind the place
	wake         time.Time // when something will be, the zero time for never
	firstEvicted Place     // the first that was left in the store while a page was read; no number for none
}

// rewind begins again at the first message.
func (c *cursor) rewind() { c.place, c.atEnd, c.wake = Place{}, false, time.Time{} }

// rewindTo makes sure that the cursor comes to a place.
func (c *cursor) rewindTo(at Place, byNumber bool) {
	c.wake = earliest(c.wake, at.Next)
	if !c.place.before(at, byNumber) {
		c.place = Place{at.Next, at.ID - 1}
	}
}

// mayRefill reports whether the store may have something for the cursor.
func (c *cursor) mayRefill(now time.Time) bool {
	return !c.atEnd || !c.wake.IsZero() && !c.wake.After(now)
}
