package account

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

const (
	mostAtOnce  = 2  // password hashes computed at a time, see atOnce; each takes 19 MiB
	mostWaiting = 32 // more are sent away
)

// gate lets few pass at once and few wait, so that a flood of logins costs
// neither memory nor the processor's time of everyone else.
type gate struct {
	inside  chan struct{}
	waiting atomic.Int32
}

func newGate() *gate { return &gate{inside: make(chan struct{}, atOnce())} }

// atOnce leaves at least half of the processors to those who are signed in
// already.
func atOnce() int { return min(mostAtOnce, max(1, runtime.GOMAXPROCS(0)/2)) }

func (g *gate) enter(ctx context.Context) error {
	select {
	case g.inside <- struct{}{}:
		return nil
	default:
	}
	defer g.waiting.Add(-1)
	if g.waiting.Add(1) > mostWaiting {
		return &fault.Error{Kind: fault.Unavailable, Message: "too many logins at once", RetryAfter: time.Second}
	}
	select {
	case g.inside <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fault.Because(ctx.Err(), fault.Unavailable, "the request ended before its password was checked")
	}
}

func (g *gate) leave() { <-g.inside }
