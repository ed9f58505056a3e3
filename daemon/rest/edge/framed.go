package edge

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

// Framed returns a listener that checks the framing of requests. net/http silently
// drops Transfer-Encoding from HTTP/1.0 requests, and Content-Length next to
// Transfer-Encoding: a body with its filters would be lost, or a proxy would see the
// end of the request elsewhere. It also limits the heads of requests.
func Framed(l net.Listener, heads *Heads, errors *log.Logger) net.Listener {
	return framedListener{l, heads, errors}
}

type framedListener struct {
	net.Listener
	heads  *Heads
	errors *log.Logger
}

// Accept implements net.Listener.
func (l framedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	plain, ok := c.(halfCloser)
	if err != nil || !ok {
		return c, err
	}
	f := &framed{halfCloser: plain, heads: l.heads}
	if t, secured := c.(*tls.Conn); secured {
		return framedTLS{f, t, l.errors}, nil
	}
	return f, nil
}

// framed parses the framing of the requests on a connection.
type framed struct {
	halfCloser
	heads  *Heads
	held   heldHead
	coded  atomic.Bool // a request had Transfer-Encoding
	unsure atomic.Bool // a request had Content-Length as well, or a header that may hide one of them

	refused error       // of a head; later reads fail with it
	lingers atomic.Bool // the client has been sent the error, and has time to read it

	part    framedPart
	size    int    // bytes of the head so far
	line    []byte // the start of the line being read
	skip    int64  // remaining bytes of a body
	length  int64
	sized   bool // the head has Content-Length
	chunked bool
}

// NetConn returns the underlying connection.
func (c *framed) NetConn() net.Conn { return c.halfCloser }

// Close closes the connection.
func (c *framed) Close() error {
	if c.lingers.Swap(false) {
		c.heads.linger(c)
		return nil
	}
	c.releaseHead()
	return c.halfCloser.Close()
}

// releaseHead ends the reservation of memory for heads.
func (c *framed) releaseHead() { c.held.release(c.heads.budget) }

// Read reads from the connection and parses the framing.
func (c *framed) Read(b []byte) (int, error) {
	if c.refused != nil {
		return 0, c.refused
	}
	n, err := c.halfCloser.Read(b)
	c.scan(b[:n])
	if refused := c.checkHead(); refused != nil {
		return 0, refused
	}
	return n, err
}

// ambiguous reports whether the end of the request is ambiguous. Pipelined requests
// are rejected together.
func (c *framed) ambiguous(r *http.Request) bool {
	return c.unsure.Load() || c.coded.Load() && !r.ProtoAtLeast(1, 1)
}

// CheckFraming rejects a request with an ambiguous end.
func CheckFraming(reply http.Header, r *http.Request) error {
	c, ok := r.Context().Value(connKey{}).(interface{ ambiguous(*http.Request) bool })
	if !ok || !c.ambiguous(r) {
		return nil
	}
	reply.Set("Connection", "close")
	return fault.New(fault.Malformed, "ambiguous request framing: Transfer-Encoding in HTTP/1.0, Transfer-Encoding together with Content-Length, or a header folded over several lines")
}

// framedTLS is framed with the TLS handshake, which net/http only does for a
// *tls.Conn.
type framedTLS struct {
	*framed
	tls    *tls.Conn
	errors *log.Logger
}

const handshakeTimeout = 10 * time.Second

// ConnectionState is called once, before the first request.
func (c framedTLS) ConnectionState() tls.ConnectionState {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
	defer cancel()
	err := c.tls.HandshakeContext(ctx)                // the next Read fails with its error
	if err != nil && !errors.Is(err, net.ErrClosed) { // by this end: there were too many connections
		c.errors.Printf("http: TLS handshake error from %s: %v", c.RemoteAddr(), err)
		if plain, is := errors.AsType[tls.RecordHeaderError](err); is && plain.Conn != nil {
			_, _ = io.WriteString(plain.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nthis port expects HTTPS, not HTTP\n")
		}
	}
	return c.tls.ConnectionState()
}
