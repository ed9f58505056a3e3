package mssqltest

import (
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Proxy is a TCP proxy to the server that simulates failures of networks and servers.
type Proxy struct {
	DSN string // connects to the server through the proxy

	listener net.Listener
	target   string

	mu       sync.Mutex
	lines    map[*net.TCPConn]*net.TCPConn // client -> server
	made     int                           // number of connections so far
	down     bool                          // new connections are rejected
	maxBytes int64                         // bytes from the server after which a connection is reset; 0 for no limit
	gate     chan struct{}                 // closed while data may pass
	held     chan struct{}                 // closed when data is first held back
}

// NewProxy starts a proxy to the server of a connection string. It ends with the test.
func NewProxy(tb testing.TB, dsn string) *Proxy {
	tb.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		tb.Fatal("the connection string is not a URL")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{
		listener: listener,
		target:   u.Host,
		lines:    make(map[*net.TCPConn]*net.TCPConn),
		gate:     make(chan struct{}),
	}
	close(p.gate)
	if u.Port() == "" {
		p.target = net.JoinHostPort(u.Hostname(), "1433")
	}
	u.Host = listener.Addr().String()
	p.DSN = u.String()
	var running sync.WaitGroup
	running.Go(func() { p.serve(&running) })
	tb.Cleanup(func() {
		p.Down()
		p.Thaw()
		listener.Close()
		running.Wait()
	})
	return p
}

// serve accepts connections until the listener is closed.
func (p *Proxy) serve(running *sync.WaitGroup) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		running.Go(func() { p.join(client.(*net.TCPConn)) })
	}
}

// join forwards data between a client and the server until either closes.
func (p *Proxy) join(client *net.TCPConn) {
	socket, err := net.Dial("tcp", p.target)
	if err != nil {
		reset(client)
		return
	}
	server := socket.(*net.TCPConn)
	if !p.add(client, server) {
		reset(client, server)
		return
	}
	var requests sync.WaitGroup
	requests.Go(func() { p.pass(server, client, false) })
	p.pass(client, server, true)
	requests.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.lines, client)
	client.Close()
	server.Close()
}

// add records a connection, or returns false while the proxy is down.
func (p *Proxy) add(client, server *net.TCPConn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	if p.down {
		return false
	}
	p.lines[client] = server
	return true
}

// pass copies data. It forwards a regular end as such, and any error as a reset. fromServer
// reports the direction, since only data from the server is limited.
func (p *Proxy) pass(to, from *net.TCPConn, fromServer bool) {
	buffer := make([]byte, 32<<10)
	passed := int64(0)
	for {
		n, err := from.Read(buffer)
		if errors.Is(err, io.EOF) {
			to.CloseWrite()
			return
		}
		if err != nil {
			break
		}
		passed += int64(n)
		p.awaitGate()
		excess := 0
		if fromServer {
			excess = p.excess(passed)
		}
		_, err = to.Write(buffer[:max(n-excess, 0)])
		if err != nil || excess > 0 {
			break
		}
	}
	reset(to, from)
}

// awaitGate waits while the proxy is frozen.
func (p *Proxy) awaitGate() {
	p.mu.Lock()
	gate := p.gate
	select {
	case <-gate:
	default:
		p.reportHeld()
	}
	p.mu.Unlock()
	<-gate
}

// reportHeld closes held once. The caller holds mu.
func (p *Proxy) reportHeld() {
	select {
	case <-p.held:
	default:
		close(p.held)
	}
}

// excess returns the number of bytes, of those that the server has sent, that may not pass.
func (p *Proxy) excess(sent int64) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.maxBytes == 0 {
		return 0
	}
	return int(max(sent-p.maxBytes, 0))
}

// reset closes connections as if the peer had crashed.
func reset(conns ...*net.TCPConn) {
	for _, c := range conns {
		c.SetLinger(0)
		c.Close()
	}
}

// Reset resets all connections.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for client, server := range p.lines {
		reset(client, server)
	}
}

// HangUp closes all connections regularly, like a server that stops.
func (p *Proxy) HangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for client, server := range p.lines {
		client.Close()
		server.Close()
	}
}

// Down resets all connections and rejects new ones until Up.
func (p *Proxy) Down() {
	p.setDown(true)
	p.Reset()
}

// Up accepts connections again after Down.
func (p *Proxy) Up() { p.setDown(false) }

func (p *Proxy) setDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

// Freeze holds back all data until Thaw, without closing connections. The channel is
// closed when data is first held back.
func (p *Proxy) Freeze() (held <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate = make(chan struct{})
	p.held = make(chan struct{})
	return p.held
}

// Thaw lets data pass again.
func (p *Proxy) Thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gate:
	default:
		close(p.gate)
	}
}

// CutAfter resets each connection after that many bytes from the server; 0 means never.
func (p *Proxy) CutAfter(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.maxBytes = bytes
}

// Made returns the number of connections so far.
func (p *Proxy) Made() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.made
}
