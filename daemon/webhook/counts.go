package webhook

import (
	"net/http"
	"sync/atomic"
)

// Counts are the figures of an engine since its start.
type Counts struct {
	Events    int64 // stored
	Messages  int64 // made of them
	Delivered int64 // attempts that the receiver took
	Failed    int64 // attempts that failed, and are made again
	GivenUp   int64 // messages that failed for good
	Disabled  int64 // subscriptions disabled by the service
	Refused   int64 // events that could not be stored
	Removed   int64 // messages and idempotency keys, since nobody needs them any more
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

// classNames are what can come of an attempt, as the figures tell it apart.
var classNames = [...]string{"ok", "3xx", "4xx", "5xx", "timeout", "network", "forbidden"}

const classes = len(classNames)

// class is an outcome's place in classNames. Answers that net/http lets through
// without their being any of HTTP's count with the closest.
func (o Outcome) class() int {
	switch {
	case o.Success():
		return 0
	case o.Cause == TimedOut:
		return 4
	case o.Cause == TargetForbidden:
		return 6
	case o.Cause != Answered:
		return 5
	case o.Code < http.StatusBadRequest:
		return 1
	case o.Code < http.StatusInternalServerError:
		return 2
	}
	return 3
}

// counters are the atomic form of Counts.
type counters struct {
	events, messages, delivered, failed, givenUp, disabled, refused, removed atomic.Int64
}

// Counts reads the figures.
func (e *Engine) Counts() Counts {
	c := &e.counters
	return Counts{c.events.Load(), c.messages.Load(), c.delivered.Load(), c.failed.Load(), c.givenUp.Load(), c.disabled.Load(), c.refused.Load(), c.removed.Load()}
}

// tally counts what was written down.
func (e *Engine) tally(l load) {
	now, c := cell{minute: minuteOf(e.now())}, &e.counters
	e.figures.note(&now, l, e.snapshot())
	c.disabled.Add(int64(len(l.disabled)))
	c.events.Add(int64(now.Events))
	c.messages.Add(int64(now.Messages))
	c.delivered.Add(int64(now.Delivered))
	c.failed.Add(int64(now.Failed))
	c.givenUp.Add(int64(now.GivenUp))
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

// Daemons is how many daemons work on the store, as far as is known.
func (e *Engine) Daemons() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.daemons
}
