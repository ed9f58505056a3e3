package edge

import (
	"context"
	"sync"

	"golang.org/x/time/rate"

	"github.com/bizhook/whd/daemon/account"
)

// Limits of all complete responses to GET requests without valid credentials together.
const (
	anonymousRate    = 8 << 20  // bytes per second
	anonymousBurst   = 1 << 20  // bytes that are sent at once
	maxPaced         = 32 << 20 // bytes that wait: for at most four seconds
	maxPacedOfClient = 4 << 20  // bytes that wait for the addresses of one network
)

// pace limits how many bytes of responses are sent per second. Each response by itself is sent as
// fast as the client reads. A proxy on the same machine spends as much time on them as whd: without
// the limit, a thousand requests for a document keep it from everything else for a second.
type pace struct {
	next  chan struct{} // one element for the response that is next
	bytes *rate.Limiter

	mu       sync.Mutex
	waiting  int            // bytes
	networks map[string]int // bytes that wait, by network
}

func newPace() *pace {
	return &pace{
		next:     make(chan struct{}, 1),
		bytes:    rate.NewLimiter(anonymousRate, anonymousBurst),
		networks: make(map[string]int),
	}
}

// wait waits until a response of n bytes may be sent to an address. Waiting responses are sent whole
// and one after the other, so that they do not all end at the same time. wait fails at once if too
// many bytes wait.
func (p *pace) wait(ctx context.Context, address string, n int) error {
	network := account.Network(address)
	if !p.join(network, n) {
		return busy("too many large responses without a login")
	}
	defer p.leave(network, n)

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

// join counts a response of n bytes as waiting, if there is room. A response that is larger than a
// limit may wait if no other does.
func (p *pace) join(network string, n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	hasRoom := func(waiting, limit int) bool { return waiting == 0 || waiting+n <= limit }
	if !hasRoom(p.waiting, maxPaced) || !hasRoom(p.networks[network], maxPacedOfClient) {
		return false
	}
	p.waiting += n
	p.networks[network] += n
	return true
}

// leave ends the counting of a response.
func (p *pace) leave(network string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting -= n
	p.networks[network] -= n
	if p.networks[network] == 0 {
		delete(p.networks, network)
	}
}
