package rest

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

// Framed makes a listener whose connections watch the framing of requests.
// net/http drops Transfer-Encoding from requests of HTTP/1.0, and Content-Length
// beside it from others, without a trace: a body, and the filter in it, is lost,
// or a proxy sees another end of it.
func Framed(l net.Listener) net.Listener { return framedListener{l} }

type framedListener struct{ net.Listener }

func (l framedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	f := &framed{Conn: c}
	if t, secured := c.(*tls.Conn); secured {
		return framedTLS{f, t}, nil
	}
	return f, nil
}

// framed follows the requests that come on a connection.
type framed struct {
	net.Conn
	served int64        // requests handled
	bad    atomic.Int64 // the number of the first request with ambiguous framing, 0 for none

	heads   int64
	line    []byte // begun
	skip    int64  // bytes of a body to pass over
	reading func(*framed, []byte)
	first   bool // the request line has been read
	old     bool // HTTP/1.0
	length  int64
	sized   bool
	coded   bool
}

// framedTLS is framed with the handshake, which net/http does only where it sees
// a *tls.Conn.
type framedTLS struct {
	*framed
	tls *tls.Conn
}

// maxKeptLine bounds the memory that a connection keeps for lines.
const maxKeptLine = 1 << 10

const handshakeTimeout = 10 * time.Second

// ConnectionState is asked for once, before the first request.
func (c framedTLS) ConnectionState() tls.ConnectionState {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
	defer cancel()
	_ = c.tls.HandshakeContext(ctx) // the next Read fails with its error
	return c.tls.ConnectionState()
}

// NetConn is the connection underneath.
func (c *framed) NetConn() net.Conn { return c.Conn }

// CloseWrite lets net/http send a reply before it resets a connection.
func (c *framed) CloseWrite() error {
	if half, can := c.Conn.(interface{ CloseWrite() error }); can {
		return half.CloseWrite()
	}
	return nil
}

// Read reads, and follows what it reads.
func (c *framed) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	for rest := b[:n]; len(rest) > 0 && c.bad.Load() == 0; {
		if c.skip > 0 {
			over := min(c.skip, int64(len(rest)))
			c.skip, rest = c.skip-over, rest[over:]
			continue
		}
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		c.line, rest = append(c.line, line...), after
		if ended {
			text := bytes.TrimSuffix(c.line, []byte("\r"))
			if c.line = c.line[:0]; cap(c.line) > maxKeptLine {
				c.line = nil
			}
			if c.reading == nil {
				c.reading = (*framed).head
			}
			c.reading(c, text)
		}
	}
	return n, err
}

// head takes a line of a request's head.
func (c *framed) head(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch {
	case !c.first:
		c.first, c.old = true, bytes.HasSuffix(line, []byte("HTTP/1.0"))
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		c.coded = true
	case bytes.EqualFold(name, []byte("Content-Length")):
		c.sized = true
		c.length, _ = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64) // net/http refuses what is no number
	case len(line) == 0:
		c.endHead()
	}
}

func (c *framed) endHead() {
	c.heads++
	if c.coded && (c.sized || c.old) {
		c.bad.Store(c.heads)
	}
	c.skip = c.length
	if c.coded {
		c.skip, c.reading = 0, (*framed).chunk
	}
	c.first, c.old, c.sized, c.coded, c.length = false, false, false, false, 0
}

// chunk takes the line before a chunk.
func (c *framed) chunk(line []byte) {
	size, _, _ := bytes.Cut(line, []byte(";"))
	n, _ := strconv.ParseInt(string(bytes.TrimSpace(size)), 16, 64) // net/http refuses what is no number
	if c.skip = n + int64(len("\r\n")); n == 0 {
		c.skip, c.reading = 0, (*framed).trailer
	}
}

func (c *framed) trailer(line []byte) {
	if len(line) == 0 {
		c.reading = (*framed).head
	}
}

// checkFraming refuses a request of which it is not clear where it ends.
func (x *exchange) checkFraming() error {
	var c *framed
	switch conn := x.r.Context().Value(connKey{}).(type) {
	case *framed:
		c = conn
	case framedTLS:
		c = conn.framed
	default:
		return nil
	}
	if c.served++; c.served != c.bad.Load() {
		return nil
	}
	x.w.Header().Set("Connection", "close")
	return fault.New(fault.Malformed, "a request of HTTP/1.0 must not have Transfer-Encoding, nor any request both Transfer-Encoding and Content-Length")
}
