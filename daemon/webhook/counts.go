package webhook

import "sync/atomic"

// Counts are the figures of an engine since its start.
type Counts struct {
	Events    int64 // stored
	Messages  int64 // made of them
	Delivered int64 // attempts that the receiver took
	Failed    int64 // attempts that failed, and are made again
	GivenUp   int64 // messages that failed for good
	Disabled  int64 // subscriptions disabled by what a receiver answered
	Refused   int64 // events that could not be stored
}

// Depth is what an engine has in hand now.
type Depth struct {
	Waiting   int // events that wait to be stored
	Unsaved   int // outcomes that wait to be stored
	Underway  int // attempts
	InMemory  int // messages that wait for an attempt
	Troubled  int // lanes whose endpoint is in trouble
	Lanes     int
	Partition int // leased
}

// counters are the atomic form of Counts.
type counters struct {
	events, messages, delivered, failed, givenUp, disabled, refused atomic.Int64
}

// Counts reads the figures.
func (e *Engine) Counts() Counts {
	c := &e.counters
	return Counts{c.events.Load(), c.messages.Load(), c.delivered.Load(), c.failed.Load(), c.givenUp.Load(), c.disabled.Load(), c.refused.Load()}
}

// tally counts what was written down.
func (e *Engine) tally(l load) {
	c := &e.counters
	c.disabled.Add(int64(len(l.disabled)))
	for _, p := range l.publications {
		c.events.Add(1)
		c.messages.Add(int64(len(p.messages)))
	}
	for i := range l.outcomes {
		switch l.outcomes[i].After.Status {
		case Successful:
			c.delivered.Add(1)
		case Failed:
			c.givenUp.Add(1)
		default:
			c.failed.Add(1)
		}
	}
}

// Depth looks at what is in hand.
func (e *Engine) Depth() Depth {
	waiting, unsaved := e.ledger.depth()
	e.mu.Lock()
	defer e.mu.Unlock()
	d := Depth{Waiting: waiting, Unsaved: unsaved, Underway: e.flying, Lanes: len(e.lanes), Partition: len(e.leases)}
	for _, l := range e.lanes {
		d.InMemory += len(l.known)
		if l.open() {
			d.Troubled++
		}
	}
	return d
}
