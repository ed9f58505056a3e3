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
	bytes     int                        // size of the bodies of known messages
	fresh     []*webhook.Message         // first attempt, due, in order
	retries   []*webhook.Message         // awaiting a retry, ordered by due time
	head      *webhook.Message           // first message of an ordered queue, never overtaken
	freshTurn bool                       // a fresh message precedes a due retry
}

func (w *window) full() bool { return len(w.known) >= windowMessages || w.bytes >= windowBytes }

// hasRoomForRetry reports whether a message may stay in memory until its next attempt. Half of the
// window remains for messages that can be sent.
func (w *window) hasRoomForRetry() bool {
	return len(w.retries) < windowMessages/2 && w.bytes < windowBytes/2
}

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

// list adds a known message to the list that it belongs to.
func (w *window) list(m *webhook.Message) {
	if m.Status == webhook.RetryPending {
		w.retryLater(m)
		return
	}
	w.fresh = append(w.fresh, m)
}

// unlist removes a message from the lists.
func (w *window) unlist(m *webhook.Message) {
	same := func(other *webhook.Message) bool { return other == m }
	w.fresh = slices.DeleteFunc(w.fresh, same)
	w.retries = slices.DeleteFunc(w.retries, same)
	w.remove(m)
}

// clear empties the lists.
func (w *window) clear() {
	clear(w.known)
	w.bytes = 0
	w.fresh = nil
	w.retries = nil
	w.head = nil
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

// first returns the message to attempt; one must be ready. Fresh messages and due retries
// alternate, so that neither starves.
func (w *window) first(now time.Time, ordered bool) *webhook.Message {
	if ordered {
		return w.head
	}
	if w.takesRetry(now) {
		return w.retries[0]
	}
	return w.fresh[0]
}

// takesRetry reports whether the message to attempt is a retry.
func (w *window) takesRetry(now time.Time) bool {
	return w.retryDue(now) && (!w.freshTurn || len(w.fresh) == 0)
}

// take removes and returns the first message.
func (w *window) take(now time.Time, ordered bool) *webhook.Message {
	m := w.first(now, ordered)
	if ordered {
		w.head = nil
	} else if w.takesRetry(now) {
		pop(&w.retries)
	} else {
		pop(&w.fresh)
	}
	w.freshTurn = !w.freshTurn
	w.remove(m)
	return m
}

// pop removes and returns the first message.
func pop(list *[]*webhook.Message) *webhook.Message {
	messages := *list
	first := messages[0]
	messages[0] = nil
	*list = messages[1:]
	if len(*list) == 0 {
		*list = nil
	}
	return first
}
