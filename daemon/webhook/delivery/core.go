package delivery

import (
	"errors"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// core is shared by all parts of an engine.
type core struct {
	*Config
	*clock
	*readiness
	pending  *pending
	queues   *queueSet
	recorder *stats.Recorder
}

// readiness records why messages are not delivered or events not stored.
type readiness struct {
	mu          sync.Mutex
	unavailable error // why messages are not delivered, nil if they are
	failure     error // error of the last write, nil if it succeeded
	failedAt    time.Time
}

// errNotStarted is the error before Start, which requires the tables.
var errNotStarted = &fault.Error{
	Kind:       fault.Unavailable,
	Message:    "the delivery of webhooks has not started yet",
	RetryAfter: 2 * time.Second,
}

// errFencedOff is the error of an engine without leases to renew, after another process
// took over its store or the store was lost.
var errFencedOff = fault.Wrap(ErrFenced, fault.Unavailable,
	"the files of the store were replaced, cannot be written to the disk, or are used by another whd; this one has stopped delivering")

func overloaded() error {
	return &fault.Error{
		Kind:       fault.Unavailable,
		Message:    "too many events are waiting to be stored; try again",
		RetryAfter: time.Second,
	}
}

func stopping() error {
	return &fault.Error{Kind: fault.Unavailable, Message: "the service is stopping", RetryAfter: 5 * time.Second}
}

// set records why messages are not delivered, nil if they are.
func (r *readiness) set(unavailable error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unavailable = unavailable
}

// recordWrite records the result of a write.
func (r *readiness) recordWrite(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failure = err
	if err != nil {
		r.failedAt = time.Now()
	}
}

// unavailableErr returns why messages are not delivered, nil if they are.
func (r *readiness) unavailableErr() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unavailable
}

// writeFailureTTL is how long a failed write makes the engine not ready. A damaged
// store makes it not ready until a write succeeds.
const writeFailureTTL = 3 * time.Second

// Ready returns why messages are not delivered or events rejected, nil if all is well.
func (r *readiness) Ready() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unavailable != nil || r.failure == nil {
		return r.unavailable
	}
	if time.Since(r.failedAt) > writeFailureTTL && !errors.Is(r.failure, ErrDamaged) {
		return nil
	}
	return fault.Wrap(r.failure, fault.Unavailable, "the last events could not be stored: %s",
		fault.From(r.failure).Message)
}
