package delivery

import (
	"slices"
	"sort"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// Limits of a queue's window.
const (
	windowMessages = 1000
	windowBytes    = 8 << 20
)

// window is the part of a queue that is in memory and awaits an attempt. The rest stays
// in the store.
type window struct {
	known     map[int64]*webhook.Message // contained in the lists below
	bytes     int                        // of the bodies of known messages
	fresh     []*webhook.Message         // first attempt, due, in order
	retries   []*webhook.Message         // awaiting a retry, ordered by due time
	head      *webhook.Message           // first message of an ordered queue, never overtaken
	retryTurn bool                       // a due retry precedes a fresh message
}

func (w *window) full() bool { return len(w.known) >= windowMessages || w.bytes >= windowBytes }

// add counts a message. The caller adds it to a list.
func (w *window) add(m *webhook.Message) {
	w.known[m.ID] = m
	w.bytes += len(m.Event.Body)
}

// remove reverses add.
func (w *window) remove(m *webhook.Message) {
	delete(w.known, m.ID)
	w.bytes -= len(m.Event.Body)
}

// clear empties the lists.
func (w *window) clear() {
	clear(w.known)
	w.fresh, w.retries, w.head, w.bytes = nil, nil, nil, 0
}

// retryLater lists a message for a retry. Messages with equal due times keep their
// order.
func (w *window) retryLater(m *webhook.Message) {
	w.retries = slices.Insert(w.retries, w.retriesUntil(m.Next), m)
}

// retriesUntil returns the number of retries that are due by t.
func (w *window) retriesUntil(t time.Time) int {
	return sort.Search(len(w.retries), func(i int) bool { return w.retries[i].Next.After(t) })
}

func (w *window) retryDue(now time.Time) bool {
	return len(w.retries) > 0 && !w.retries[0].Next.After(now)
}

// ready reports whether a message may be sent now.
func (w *window) ready(now time.Time, ordered bool) bool {
	if !ordered {
		return len(w.fresh) > 0 || w.retryDue(now)
	}
	if w.head == nil && len(w.fresh) > 0 {
		w.head = pop(&w.fresh)
	}
	return w.head != nil && !w.head.Next.After(now)
}

// take removes and returns the message to attempt; one must be ready. Fresh messages
// and due retries alternate, so that neither starves.
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

// pop removes and returns the first message.
func pop(all *[]*webhook.Message) *webhook.Message {
	m := (*all)[0]
	(*all)[0] = nil
	if *all = (*all)[1:]; len(*all) == 0 {
		*all = nil
	}
	return m
}

// cursor is the position up to which a queue has read one partition in the store.
type cursor struct {
	partition    int64
	position     Position
	atEnd        bool      // no due messages after place
	wake         time.Time // when a later message is due, zero for never
	firstEvicted Position  // the first message evicted while a page is read; ID 0 for none
}

// rewind restarts at the first message.
func (c *cursor) rewind() { c.position, c.atEnd, c.wake = Position{}, false, time.Time{} }

// rewindTo moves the cursor back, if necessary, to read the message at a place.
func (c *cursor) rewindTo(at Position, byNumber bool) {
	c.wake = earliest(c.wake, at.Next)
	if !c.position.before(at, byNumber) {
		c.position = Position{at.Next, at.ID - 1}
	}
}

// mayRefill reports whether there may be messages to read now.
func (c *cursor) mayRefill(now time.Time) bool {
	return !c.atEnd || !c.wake.IsZero() && !c.wake.After(now)
}
