package edge

import (
	"context"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

// Admission bounds the requests in work, and waits for all that have arrived
// when the service stops.
type Admission struct {
	slots chan struct{} // one element for each request in work

	mu      sync.Mutex
	arrived int           // requests between arrive and depart
	empty   chan struct{} // nil until the service stops; closed when the last has departed
}

// NewAdmission makes an Admission of so many places.
func NewAdmission(size int) *Admission { return &Admission{slots: make(chan struct{}, size)} }

// Arrive notes a request that the service will answer, unless it is stopping.
func (a *Admission) Arrive() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.empty != nil {
		return StoppingError()
	}
	a.arrived++
	return nil
}

// StoppingError is why a request is turned away once the service stops.
func StoppingError() error { return fault.New(fault.Unavailable, "the service is stopping") }

// Depart ends what Arrive began.
func (a *Admission) Depart() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.arrived--; a.empty != nil && a.arrived == 0 {
		close(a.empty)
	}
}

// Enter takes a place, which Leave gives back. Where there is none the request
// is turned away rather than kept waiting: its client knows best what to do.
func (a *Admission) Enter() error {
	select {
	case a.slots <- struct{}{}:
		return nil
	default:
		return &fault.Error{Kind: fault.Unavailable, Message: "the service is busy: too many requests in work", RetryAfter: time.Second}
	}
}

// Leave gives back the place that Enter took.
func (a *Admission) Leave() { <-a.slots }

// Stopping reports whether Drain has been called.
func (a *Admission) Stopping() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.empty != nil
}

// Drain lets nobody in any more and waits until the last has departed, or ctx
// is done. It may be called again to go on waiting.
func (a *Admission) Drain(ctx context.Context) error {
	a.mu.Lock()
	if a.empty == nil {
		a.empty = make(chan struct{})
		if a.arrived == 0 {
			close(a.empty)
		}
	}
	a.mu.Unlock()
	select {
	case <-a.empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
