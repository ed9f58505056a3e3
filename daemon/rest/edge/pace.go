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

// pace limits how many bytes of responses are sent per second. Each response by itself is sent as
// fast as the client reads. A proxy on the same machine spends as much time on them as whd: without
// the limit, a thousand requests for a document keep it from everything else for a second.
type pace struct {
	next  chan struct{} // one element for the response that is next
	bytes *rate.Limiter
}

func newPace() *pace {
	return &pace{next: make(chan struct{}, 1), bytes: rate.NewLimiter(anonymousRate, anonymousBurst)}
}

// wait waits until a response of n bytes may be sent. Those that wait are sent whole, in turn, so
// that they do not all end at the same time either.
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
