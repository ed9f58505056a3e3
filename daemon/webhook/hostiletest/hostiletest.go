// Package hostiletest has receivers of webhooks that misbehave, as a table: when a new way to
// hold up deliveries is found, it becomes a line. The tests of the sender and of the engine run
// all of them.
package hostiletest

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// Protocol is the protocol of a receiver.
type Protocol string

// The protocols.
const (
	Plain Protocol = "HTTP/1.1"
	TLS   Protocol = "HTTP/1.1 over TLS"
	HTTP2 Protocol = "HTTP/2"
)

// Receiver is a receiver that misbehaves.
type Receiver struct {
	Name     string
	Protocol Protocol
	Want     []Outcome // acceptable outcomes; more than one if the result depends on timing
	Body     int       // bytes of the request body that it needs to misbehave; 0 for any

	refuses bool             // nothing listens
	handles func(c *Conn)    // one connection, after the TLS handshake
	raw     func(c net.Conn) // one connection before the TLS handshake
}

// Outcome is the recorded outcome of an attempt.
type Outcome struct {
	Code  int
	Cause webhook.Cause
}

// Conn is a connection to a receiver.
type Conn struct {
	net.Conn
	server *Server
	in     *bufio.Reader
}

// Server is a running receiver.
type Server struct {
	URL  string
	done chan struct{} // closed when the test ends

	mu       sync.Mutex
	requests int // that began to arrive
	conns    map[net.Conn]bool
	handlers sync.WaitGroup
}

// Requests returns how many requests have arrived, counted by their heads or, over HTTP/2, by
// their HEADERS frames.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func (s *Server) countRequest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
}

// Start starts a receiver that runs until the test ends. config has the certificate of receivers
// with TLS.
func (r Receiver) Start(t testing.TB, config *tls.Config) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if r.refuses {
		return &Server{URL: refusingURL(t, l)}
	}
	s := &Server{
		URL:   "http://" + l.Addr().String() + "/hook",
		done:  make(chan struct{}),
		conns: make(map[net.Conn]bool),
	}
	if r.Protocol != Plain {
		s.URL = "https://" + l.Addr().String() + "/hook"
		config = config.Clone()
		config.NextProtos = []string{"http/1.1"}
		if r.Protocol == HTTP2 {
			config.NextProtos = []string{"h2"}
		}
	}
	s.handlers.Go(func() { s.accept(l, r, config) })
	t.Cleanup(func() { s.stop(l) })
	return s
}

// refusingURL returns a URL that refuses connections until the test ends. Nothing listens on the
// port of an outgoing connection, and no other program gets it until the connection is closed.
func refusingURL(t testing.TB, l net.Listener) string {
	t.Helper()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		l.Close()
	})
	return "http://" + conn.LocalAddr().String() + "/hook"
}

// accept serves connections until the listener is closed.
func (s *Server) accept(l net.Listener, r Receiver, config *tls.Config) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		if !s.remember(conn) {
			conn.Close()
			return
		}
		s.handlers.Go(func() {
			defer s.forget(conn)
			s.serve(conn, r, config)
		})
	}
}

// serve lets a receiver handle a connection.
func (s *Server) serve(conn net.Conn, r Receiver, config *tls.Config) {
	if r.raw != nil {
		r.raw(conn)
		discard(conn)
		return
	}
	c := &Conn{Conn: conn, server: s}
	if r.Protocol != Plain {
		secured := tls.Server(conn, config)
		if secured.Handshake() != nil {
			return
		}
		c.Conn = secured
	}
	c.in = bufio.NewReader(c.Conn)
	r.handles(c)
}

// remember records a connection. It returns false if the server has been stopped.
func (s *Server) remember(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.done:
		return false
	default:
	}
	s.conns[conn] = true
	return true
}

func (s *Server) forget(conn net.Conn) {
	conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, conn)
}

func (s *Server) stop(l net.Listener) {
	l.Close()
	s.mu.Lock()
	close(s.done)
	for conn := range s.conns {
		conn.Close()
	}
	s.mu.Unlock()
	s.handlers.Wait()
}

// hang does nothing until the test ends. It reads nothing, so that writes of the peer stall as well.
func (c *Conn) hang() { <-c.server.done }

// discard reads and ignores everything until the peer closes the connection.
func discard(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// pause waits between two pieces that are written slowly. It returns false when the test ends.
func (c *Conn) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.server.done:
		return false
	}
}
