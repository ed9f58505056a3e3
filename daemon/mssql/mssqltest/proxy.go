package mssqltest

import (
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Proxy is a line to the server that tests can break in the ways that networks
// and servers do.
type Proxy struct {
	DSN string // of the server, over the proxy

	listener net.Listener
	target   string

	mu     sync.Mutex
	lines  map[*net.TCPConn]*net.TCPConn // client -> server
	made   int
	down   bool
	most   int64         // bytes from the server after which a line is cut; 0 for no limit
	gate   chan struct{} // open, which is closed, while bytes may pass
	waited chan struct{} // closed when something first waits at the gate
}

// NewProxy makes a line to the server of a connection string until the test
// ends.
func NewProxy(tb testing.TB, dsn string) *Proxy {
	tb.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		tb.Fatal("the connection string is no URL")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{listener: listener, target: u.Host, lines: make(map[*net.TCPConn]*net.TCPConn), gate: make(chan struct{})}
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

func (p *Proxy) serve(running *sync.WaitGroup) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		running.Go(func() { p.join(client.(*net.TCPConn)) })
	}
}

// join connects a client with the server until one of them has had enough.
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
	var up sync.WaitGroup
	up.Go(func() { p.pass(server, client, false) })
	p.pass(client, server, true)
	up.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.lines, client)
	client.Close()
	server.Close()
}

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

// pass hands on what comes. An end in good order is handed on as one, any other
// as a reset.
func (p *Proxy) pass(to, from *net.TCPConn, answers bool) {
	piece := make([]byte, 32<<10)
	for passed := int64(0); ; {
		n, err := from.Read(piece)
		if errors.Is(err, io.EOF) {
			to.CloseWrite()
			return
		}
		passed += int64(n)
		if err == nil && p.allows(answers, passed) {
			_, err = to.Write(piece[:n])
		} else {
			err = net.ErrClosed
		}
		if err != nil {
			reset(to, from)
			return
		}
	}
}

// allows waits at the gate, and reports whether so many bytes may pass.
func (p *Proxy) allows(answers bool, passed int64) bool {
	p.mu.Lock()
	gate := p.gate
	select {
	case <-gate:
	default:
		select {
		case <-p.waited:
		default:
			close(p.waited)
		}
	}
	p.mu.Unlock()
	<-gate
	p.mu.Lock()
	defer p.mu.Unlock()
	return !answers || p.most == 0 || passed <= p.most
}

// reset ends connections as if the other side had crashed.
func reset(all ...*net.TCPConn) {
	for _, c := range all {
		c.SetLinger(0)
		c.Close()
	}
}

// Reset cuts all lines there are.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for client, server := range p.lines {
		reset(client, server)
	}
}

// HangUp ends all lines there are in good order, as a server does that stops.
func (p *Proxy) HangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for client, server := range p.lines {
		client.Close()
		server.Close()
	}
}

// Down cuts all lines and lets nobody in any more, until Up.
func (p *Proxy) Down() {
	p.setDown(true)
	p.Reset()
}

// Up ends what Down began.
func (p *Proxy) Up() { p.setDown(false) }

func (p *Proxy) setDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

// Freeze lets nothing pass any more, without a word to anybody, until Thaw. The
// channel is closed once something waits.
func (p *Proxy) Freeze() (waited <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate, p.waited = make(chan struct{}), make(chan struct{})
	return p.waited
}

// Thaw ends what Freeze began.
func (p *Proxy) Thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gate:
	default:
		close(p.gate)
	}
}

// CutAfter cuts each line after so many bytes from the server; 0 for never.
func (p *Proxy) CutAfter(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = bytes
}

// Made is how many connections there have been.
func (p *Proxy) Made() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.made
}
