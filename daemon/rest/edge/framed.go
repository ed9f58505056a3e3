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
func Framed(l net.Listener, heads *Heads, errorLog *log.Logger) net.Listener {
	return framedListener{Listener: l, heads: heads, errorLog: errorLog}
}

type framedListener struct {
	net.Listener
	heads    *Heads
	errorLog *log.Logger
}

// Accept accepts the next connection.
func (l framedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	closer, ok := conn.(halfCloser)
	if !ok {
		return conn, nil // neither TCP nor a Unix socket
	}

	c := &framed{halfCloser: closer, heads: l.heads}
	if secure, ok := conn.(*tls.Conn); ok {
		return framedTLS{framed: c, secure: secure, errorLog: l.errorLog}, nil
	}
	return c, nil
}

// framed is a connection that checks the framing and the heads of its requests.
type framed struct {
	halfCloser
	framing framing
	heads   *Heads
	held    heldHead

	refused error       // why a head was refused; all later reads fail with it
	lingers atomic.Bool // the error has been sent: Close leaves the client time to read it
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

// settleHead reduces the reservation for a head that has been read.
func (c *framed) settleHead(authenticated bool) { c.held.settle(c.heads.budget, authenticated) }

// Read reads from the connection and parses the framing.
func (c *framed) Read(b []byte) (int, error) {
	if c.refused != nil {
		return 0, c.refused
	}
	n, err := c.halfCloser.Read(b)
	c.framing.scan(b[:n])
	if refused := c.checkHead(); refused != nil {
		return 0, refused
	}
	return n, err
}

// ambiguous reports whether the end of the request is ambiguous. Pipelined requests
// are rejected together.
func (c *framed) ambiguous(r *http.Request) bool {
	hasIgnoredCoding := c.framing.coded.Load() && !r.ProtoAtLeast(1, 1)
	return hasIgnoredCoding || c.framing.unsure.Load()
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

// framedTLS is a framed connection with TLS. net/http calls HandshakeContext only for a
// *tls.Conn; for other connections it calls ConnectionState, see connectionStater in net/http.
type framedTLS struct {
	*framed
	secure   *tls.Conn
	errorLog *log.Logger
}

// ConnectionState returns the state after the handshake. net/http calls it once, before it reads
// the first request.
func (c framedTLS) ConnectionState() tls.ConnectionState {
	c.handshake()
	return c.secure.ConnectionState()
}

const handshakeTimeout = 10 * time.Second

// handshake runs the TLS handshake and logs its failure as net/http does for a *tls.Conn. The
// error is not returned, since the next Read fails with it.
func (c framedTLS) handshake() {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
	defer cancel()
	err := c.secure.HandshakeContext(ctx)
	if err == nil {
		return
	}
	if errors.Is(err, net.ErrClosed) { // by this side: there were too many connections
		return
	}
	c.errorLog.Printf("http: TLS handshake error from %s: %v", c.RemoteAddr(), err)
	if notTLS, ok := errors.AsType[tls.RecordHeaderError](err); ok && notTLS.Conn != nil {
		_, _ = io.WriteString(notTLS.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nthis port expects HTTPS, not HTTP\n")
	}
}
