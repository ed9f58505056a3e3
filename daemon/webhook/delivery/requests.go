package delivery

import (
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// maxRequests limits the messages of a queue that are sent before others on request. Those of a
// larger request are due like all others.
const maxRequests = 1000

// requests are the messages that are to be sent on request now although the circuit breaker of
// their endpoint is open. They are read by their IDs and attempted one at a time, while all others
// go on waiting.
//
// They are not stored: after a restart they wait like the others. A queue with an order has none,
// since a message that is requested cannot precede the others.
type requests struct {
	ids       []int64          // of messages that are not in memory, in the order of their attempts
	message   *webhook.Message // the first one, once it has been read
	underway  *webhook.Message // the last one that was taken for an attempt
	partition int              // index of the cursor of the partition in which the first ID is searched
}

// add appends messages that are not requested yet.
func (r *requests) add(ids []int64) {
	for _, id := range ids {
		if len(r.ids) >= maxRequests {
			return
		}
		if !r.has(id) && !slices.Contains(r.ids, id) {
			r.ids = append(r.ids, id)
		}
	}
}

// has reports whether a message was read and awaits its attempt.
func (r *requests) has(id int64) bool { return r.message != nil && r.message.ID == id }

// clear drops the message that was read. It is read again.
func (r *requests) clear(b *budget) {
	if r.message == nil {
		return
	}
	b.release(r.message)
	r.ids = append([]int64{r.message.ID}, r.ids...)
	r.message = nil
}

// areUnread reports whether the next message has to be read.
func (r *requests) areUnread() bool { return r.message == nil && len(r.ids) > 0 }

// take removes and returns the message that was read, nil if there is none.
func (r *requests) take() *webhook.Message {
	m := r.message
	r.message = nil
	r.underway = m
	return m
}

// end forgets all requests. It returns the message that was read, nil if there is none.
func (r *requests) end() *webhook.Message {
	r.ids = nil
	return r.take()
}

// removeFirst removes the first ID.
func (r *requests) removeFirst() {
	r.ids = r.ids[1:]
	r.partition = 0
}

// request makes the queue read messages that were made due on request, and ends a wait requested
// by Retry-After. Those with the given IDs are attempted even if the circuit breaker is open.
func (q *queue) request(ids []int64) {
	if q.inOrder() {
		q.expedite()
		return
	}
	q.endpoint.endRequestedWait()
	q.drop()
	if q.endpoint.breaker.open() {
		q.requests.add(ids)
	}
}

// mayRequest reports whether the queue may attempt a requested message. A due probe with another
// message comes first: the requested ones may fail for reasons of their own.
func (q *queue) mayRequest(now time.Time) bool {
	if !q.enabled() || len(q.cursors) == 0 || !q.endpoint.mayTry(now) || !q.rate.allows(now) {
		return false
	}
	probeIsDue := q.endpoint.breaker.open() && q.available(now)
	hasOthers := q.window.ready(now, false) || q.refillFrom(now) != nil
	return !probeIsDue || !hasOthers
}

// page returns the page of the next message of a subscription. If there is more than one
// partition, it is searched in all of them.
func (r *requests) page(subscription int64, partitions cursors, now time.Time) Page {
	id := r.ids[0]
	return Page{
		Partition:    partitions[min(r.partition, len(partitions)-1)].partition,
		Subscription: subscription,
		After:        Position{ID: id - 1},
		Until:        now,
		InOrder:      true,
		Limit:        1,
		requested:    id,
	}
}

// addRequested adds the requested message of a page. If it has gone, or if an attempt
// has just been made, the request is done.
func (q *queue) addRequested(p Page, messages []*webhook.Message, whole bool) {
	if len(q.requests.ids) == 0 || q.requests.ids[0] != p.requested {
		return
	}
	isRead := len(messages) > 0 && messages[0].ID == p.requested
	switch {
	case isRead:
		q.requests.removeFirst()
	case len(messages) == 0 && !whole: // there was no memory for it
		return
	default:
		q.requests.partition++
		if q.requests.partition >= len(q.cursors) {
			q.requests.removeFirst()
		}
		return
	}

	m := messages[0]
	if listed := q.window.known[m.ID]; listed != nil {
		q.window.unlist(listed)
		q.requests.message = listed
		return
	}
	if !p.loaded(m) || q.has(m.ID) || q.settledSinceRead[m.ID] {
		return
	}
	q.budget.charge(m, q.budget.tierOf(q))
	q.requests.message = m
}
