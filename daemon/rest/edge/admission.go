package edge

import (
	"context"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

// Admission limits the number of concurrent requests and waits for them when the
// service stops.
type Admission struct {
	slots chan struct{} // one element for each request in progress

	mu      sync.Mutex
	arrived int           // requests between arrive and depart
	empty   chan struct{} // nil until the service stops; closed when the last request has departed
}

// NewAdmission returns an Admission for at most size concurrent requests.
func NewAdmission(size int) *Admission { return &Admission{slots: make(chan struct{}, size)} }

// BeginRequest registers a request. It fails if the service is stopping.
func (a *Admission) BeginRequest() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.empty != nil {
		return StoppingError()
	}
	a.arrived++
	return nil
}

// StoppingError returns the error for requests that arrive while the service is
// stopping.
func StoppingError() error { return fault.New(fault.Unavailable, "the service is stopping") }

// EndRequest ends a request registered by BeginRequest.
func (a *Admission) EndRequest() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.arrived--; a.empty != nil && a.arrived == 0 {
		close(a.empty)
	}
}

// TakeSlot acquires a slot until end is called, or idle: from then on the request waits
// without using the store, and the gauge of requests does not count it. If there is no slot,
// it fails at once instead of queueing: the client decides whether to retry.
func (a *Admission) TakeSlot(gauge interface {
	Inc()
	Dec()
}) (idle, end func(), err error) {
	select {
	case a.slots <- struct{}{}:
	default:
		return nil, nil, &fault.Error{Kind: fault.Unavailable, Message: "the service is busy: too many concurrent requests", RetryAfter: time.Second}
	}
	isIdle := false
	idle = func() {
		if !isIdle {
			isIdle = true
			<-a.slots
			gauge.Dec()
		}
	}
	end = func() {
		if isIdle {
			gauge.Inc()
		} else {
			<-a.slots
		}
	}
	return idle, end, nil
}

// Stopping reports whether Drain has been called.
func (a *Admission) Stopping() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.empty != nil
}

// Drain rejects new requests and waits until the last request has departed or ctx is
// done. It may be called again to continue waiting.
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
