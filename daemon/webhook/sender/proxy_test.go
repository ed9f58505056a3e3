package sender

import (
	"io"
	"net"
	"sync"
	"testing"
)

// stoppingProxy forwards connections. When it stops, the connections that it has stay open, but
// nothing passes them any more, as after a failover of a load balancer.
type stoppingProxy struct {
	address string

	mu      sync.Mutex
	stopped chan struct{} // of the present connections
	conns   []net.Conn
}

func newStoppingProxy(t *testing.T, target string) *stoppingProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &stoppingProxy{address: l.Addr().String(), stopped: make(chan struct{})}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			behind, err := net.Dial("tcp", target)
			if err != nil {
				conn.Close()
				return
			}
			p.mu.Lock()
			p.conns = append(p.conns, conn, behind)
			stopped := p.stopped
			p.mu.Unlock()
			go forward(conn, behind, stopped)
			go forward(behind, conn, stopped)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, conn := range p.conns {
			conn.Close()
		}
	})
	return p
}

// forward copies until a connection breaks. Once it is stopped, it throws everything away.
func forward(from, to net.Conn, stopped <-chan struct{}) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		select {
		case <-stopped:
			continue
		default:
		}
		if _, err := io.Writer(to).Write(buffer[:n]); err != nil {
			return
		}
	}
}

// stopForwarding makes the present connections dead.
func (p *stoppingProxy) stopForwarding() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.stopped)
	p.stopped = make(chan struct{})
}
