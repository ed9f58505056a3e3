package rest

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

// admission bounds the requests in work, and ends them when the service stops.
type admission struct {
	slots    chan struct{} // one element for each request in work
	stopping atomic.Bool
	drained  int // slots that drain has taken for good
}

func newAdmission(size int) *admission { return &admission{slots: make(chan struct{}, size)} }

// enter takes a place, which leave gives back. Where there is none the request
// is turned away rather than kept waiting: its client knows best what to do.
func (a *admission) enter() error {
	if a.stopping.Load() {
		return errStopping()
	}
	select {
	case a.slots <- struct{}{}:
		return nil
	default:
	}
	if a.stopping.Load() {
		return errStopping()
	}
	return &fault.Error{Kind: fault.Unavailable, Message: "the service is busy: too many requests in work", RetryAfter: time.Second}
}

func (a *admission) leave() { <-a.slots }

func errStopping() error { return fault.New(fault.Unavailable, "the service is stopping") }

// drain takes all places for good. One goroutine at a time may call it.
func (a *admission) drain(ctx context.Context) error {
	a.stopping.Store(true)
	for ; a.drained < cap(a.slots); a.drained++ {
		select {
		case a.slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
