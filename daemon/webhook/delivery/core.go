package delivery

import (
	"errors"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// core is what the parts of an engine share.
type core struct {
	*Config
	*clock
	*readiness
	pending  *pending
	queues   *queueSet
	recorder *stats.Recorder
}

// readiness is why nothing is delivered or stored, if so.
type readiness struct {
	mu          sync.Mutex
	unavailable error // why nothing is delivered
	failure     error // of the last write, nil if it succeeded
	failedAt    time.Time
}

// errNotStarted is why nothing is delivered before Start, which waits for the tables.
var errNotStarted = &fault.Error{Kind: fault.Unavailable, Message: "the delivery of webhooks has not begun", RetryAfter: 2 * time.Second}

// errFencedOff is why an engine without leases to renew has nothing to do.
var errFencedOff = fault.Wrap(ErrFenced, fault.Unavailable, "the files of the store were replaced, or another whd works with them; this one has stopped delivering")

func overloaded() error {
	return &fault.Error{Kind: fault.Unavailable, Message: "more events wait to be stored than the service can hold; try again", RetryAfter: time.Second}
}

func stopping() error {
	return &fault.Error{Kind: fault.Unavailable, Message: "the service is stopping", RetryAfter: 5 * time.Second}
}

// set notes why nothing is delivered, nil where it is.
func (r *readiness) set(unavailable error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unavailable = unavailable
}

// recordWrite notes what came of a write.
func (r *readiness) recordWrite(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure = err; err != nil {
		r.failedAt = time.Now()
	}
}

// unavailableErr reports why nothing is delivered, if so.
func (r *readiness) unavailableErr() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unavailable
}

// writeFailureTTL is how long a write that failed is taken for what the next one will
// do, where the store can be written otherwise. A store that is damaged stays so
// until a write succeeds.
const writeFailureTTL = 3 * time.Second

// Ready reports why nothing is delivered or events are refused, if so.
func (r *readiness) Ready() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unavailable != nil || r.failure == nil || time.Since(r.failedAt) > writeFailureTTL && !errors.Is(r.failure, ErrDamaged) {
		return r.unavailable
	}
	return fault.Wrap(r.failure, fault.Unavailable, "the last events could not be stored: %s", fault.From(r.failure).Message)
}
