package edge

import (
	"context"
	"net"
	"net/http"
)

// Abort makes net/http close the connection when the handler panics, as it must do
// next. HTTP/1.0 responses may end with a normal close, so their connections get a
// TCP reset, below TLS: a TLS close notification would make the response look
// complete as well.
func (x *Context) Abort() {
	x.Response.Aborted = true
	if !x.Request.ProtoAtLeast(1, 1) {
		conn, _ := x.Request.Context().Value(connKey{}).(net.Conn)
		if tcp, ok := underTLS(conn).(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
			_ = tcp.Close() // net/http closes it again
		}
	}
}

type connKey struct{}

// sendBuffer limits the kernel's send buffer. By default it may hold megabytes, and
// writes only make progress when a third of it has been sent: a client that reads
// slowly would look as if it did not read at all.
const sendBuffer = 256 << 10

// ConnContext is for http.Server: it stores the connection for Abort.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if tcp, ok := underTLS(c).(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // otherwise the default size
	}
	return context.WithValue(ctx, connKey{}, c)
}

// underTLS returns the innermost wrapped connection.
func underTLS(c net.Conn) net.Conn {
	for {
		over, is := c.(interface{ NetConn() net.Conn })
		if !is {
			return c
		}
		c = over.NetConn()
	}
}

// clientOf returns the client's connection under others, nil if it is not counted.
func clientOf(c net.Conn) *clientConn {
	for c != nil {
		if client, ok := c.(*clientConn); ok {
			return client
		}
		over, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		c = over.NetConn()
	}
	return nil
}

// ConnState is for http.Server: it records whether a request is in progress. Between requests a
// connection holds no head.
func ConnState(c net.Conn, state http.ConnState) {
	if client := clientOf(c); client != nil {
		client.busy.Store(state == http.StateActive)
	}
	if f, ok := c.(interface{ releaseHead() }); ok && state == http.StateIdle {
		f.releaseHead()
	}
}

// MarkAuthenticated records that a request with valid credentials has arrived on the connection
// of ctx.
func MarkAuthenticated(ctx context.Context) {
	conn, _ := ctx.Value(connKey{}).(net.Conn)
	if client := clientOf(conn); client != nil {
		client.authenticated.Store(true)
	}
}
