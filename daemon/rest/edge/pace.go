package edge

import (
	"context"

	"golang.org/x/time/rate"
)

// Rate at which complete responses are sent to all requests without valid credentials together.
const (
	anonymousRate  = 8 << 20 // bytes per second
	anonymousBurst = 1 << 20 // bytes that are sent at once
)

// pace limits the rate at which responses begin, each of which is then sent as fast as the client
// reads. A proxy on the same machine spends as much time on them as whd: without the limit, a
// thousand requests for a document keep it from everything else for a second.
type pace struct {
	next  chan struct{} // one element for the response that begins next
	bytes *rate.Limiter
}

func newPace() *pace {
	return &pace{next: make(chan struct{}, 1), bytes: rate.NewLimiter(anonymousRate, anonymousBurst)}
}

// wait waits until a response of n bytes may begin. Responses begin in the order in which they
// called it, so that they do not all end together either.
func (p *pace) wait(ctx context.Context, n int) error {
	select {
	case p.next <- struct{}{}:
		defer func() { <-p.next }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for n > 0 {
		piece := min(n, anonymousBurst)
		if err := p.bytes.WaitN(ctx, piece); err != nil {
			return err
		}
		n -= piece
	}
	return nil
}
