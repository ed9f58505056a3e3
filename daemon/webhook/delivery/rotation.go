package delivery

import "slices"

// rotation selects queues in turn: the subscribers take turns, and so do the queues of each
// subscriber. A subscriber with many queues therefore gets as many turns as one with a single
// queue.
type rotation struct {
	turns        []*subscriberQueues // turns of subscribers with queues, in order
	bySubscriber map[string]*subscriberQueues
}

// subscriberQueues has the queues of a subscriber that may start an attempt, in order.
type subscriberQueues struct {
	subscriber string
	queues     []*queue
}

func newRotation() rotation { return rotation{bySubscriber: make(map[string]*subscriberQueues)} }

// add puts a queue at the end of its subscriber's turn.
func (r *rotation) add(q *queue) {
	t := r.bySubscriber[q.subscriber]
	if t == nil {
		t = &subscriberQueues{subscriber: q.subscriber}
		r.bySubscriber[q.subscriber] = t
		r.turns = append(r.turns, t)
	}
	t.queues = append(t.queues, q)
}

// remove removes a queue.
func (r *rotation) remove(q *queue) {
	t := r.bySubscriber[q.subscriber]
	if t == nil {
		return
	}
	t.queues = slices.DeleteFunc(t.queues, func(other *queue) bool { return other == q })
	if len(t.queues) == 0 {
		r.drop(t)
	}
}

// next removes and returns the next queue of a subscriber that may start an attempt, nil if there
// is none. Subscribers that may not keep their turn.
func (r *rotation) next(mayStart func(subscriber string) bool) *queue {
	for i, t := range r.turns {
		if !mayStart(t.subscriber) {
			continue
		}
		q := t.queues[0]
		t.queues[0] = nil
		t.queues = t.queues[1:]
		if len(t.queues) == 0 {
			r.drop(t)
			return q
		}
		if i == 0 {
			r.turns = append(r.turns[1:], t)
		} else {
			r.turns = append(slices.Delete(r.turns, i, i+1), t)
		}
		return q
	}
	return nil
}

// drop removes a subscriber without queues.
func (r *rotation) drop(t *subscriberQueues) {
	delete(r.bySubscriber, t.subscriber)
	if r.turns[0] == t {
		r.turns[0] = nil
		r.turns = r.turns[1:]
		return
	}
	r.turns = slices.DeleteFunc(r.turns, func(other *subscriberQueues) bool { return other == t })
}

// slots counts attempts in flight, and limits them in all and for each subscriber.
type slots struct {
	max          int
	inFlight     int
	bySubscriber map[string]int
}

func newSlots(max int) slots { return slots{max: max, bySubscriber: make(map[string]int)} }

// allow reports whether a subscriber may start another attempt: if it has less than a third of the
// number of free slots. A single subscriber gets a quarter of all slots, and each further one a
// quarter of the remaining slots. However many subscribers have receivers that hang, there are
// slots left for one that has no attempt in flight.
func (s *slots) allow(subscriber string) bool {
	free := s.max - s.inFlight
	return 3*s.bySubscriber[subscriber] < free
}

func (s *slots) take(subscriber string) {
	s.inFlight++
	s.bySubscriber[subscriber]++
}

func (s *slots) release(subscriber string) {
	s.inFlight--
	s.bySubscriber[subscriber]--
	if s.bySubscriber[subscriber] == 0 {
		delete(s.bySubscriber, subscriber)
	}
}
