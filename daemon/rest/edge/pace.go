package edge

import (
	"context"
	"sync"

	"golang.org/x/time/rate"

	"github.com/bizhook/whd/daemon/account"
)

// Rate at which complete responses are sent to all GET requests without valid credentials together,
// and how much may wait for it.
const (
	anonymousRate    = 8 << 20  // bytes per second
	anonymousBurst   = 1 << 20  // bytes that are sent at once
	maxPaced         = 32 << 20 // bytes that wait: for four seconds
	maxPacedOfClient = 4 << 20  // those for the addresses of one network
)

// pace limits how many bytes of responses are sent per second. Each response by itself is sent as
// fast as the client reads. A proxy on the same machine spends as much time on them as whd: without
// the limit, a thousand requests for a document keep it from everything else for a second.
type pace struct {
	next  chan struct{} // one element for the response that is next
	bytes *rate.Limiter

	mu       sync.Mutex
	waiting  int
	networks map[string]int // parts of waiting, by network
}

func newPace() *pace {
	return &pace{
		next:     make(chan struct{}, 1),
		bytes:    rate.NewLimiter(anonymousRate, anonymousBurst),
		networks: make(map[string]int),
	}
}

// wait waits until a response of n bytes may be sent to an address. Those that wait are sent whole,
// in turn, so that they do not all end at the same time either. It fails at once if too many wait.
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

// join counts a response of n bytes as waiting. One response may wait even if it is larger.
func (p *pace) join(network string, n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	full := p.waiting > 0 && p.waiting+n > maxPaced
	ofNetwork := p.networks[network]
	if full || ofNetwork > 0 && ofNetwork+n > maxPacedOfClient {
		return false
	}
	p.waiting += n
	p.networks[network] = ofNetwork + n
	return true
}

func (p *pace) leave(network string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting -= n
	p.networks[network] -= n
	if p.networks[network] == 0 {
		delete(p.networks, network)
	}
}
