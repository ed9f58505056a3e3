package edge

import (
	"context"
	"iter"
	"net"
	"net/http"
)

// Abort makes net/http close the connection when the handler panics, as it must do
// next. HTTP/1.0 responses may end with a normal close, so their connections get a
// TCP reset, below TLS: a TLS close notification would make the response look
// complete as well.
func (x *Context) Abort() {
	x.Response.Aborted = true
	if x.Request.ProtoAtLeast(1, 1) {
		return
	}
	conn, _ := x.Request.Context().Value(connKey{}).(net.Conn)
	if tcp, ok := innermost(conn).(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
		_ = tcp.Close() // net/http closes it again
	}
}

type connKey struct{}

// sendBuffer limits the kernel's send buffer. By default it may hold megabytes, and
// writes only make progress when a third of it has been sent: a client that reads
// slowly would look as if it did not read at all.
const sendBuffer = 256 << 10

// ConnContext is for http.Server: it stores the connection for Abort.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if tcp, ok := innermost(c).(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // otherwise the default size
	}
	return context.WithValue(ctx, connKey{}, c)
}

// layers iterates over a connection and those that it wraps, from the outermost to the innermost.
func layers(c net.Conn) iter.Seq[net.Conn] {
	return func(yield func(net.Conn) bool) {
		for c != nil && yield(c) {
			outer, ok := c.(interface{ NetConn() net.Conn })
			if !ok {
				return
			}
			c = outer.NetConn()
		}
	}
}

// innermost returns the connection under TLS and all other wrappers.
func innermost(c net.Conn) net.Conn {
	inner := c
	for layer := range layers(c) {
		inner = layer
	}
	return inner
}

// clientOf returns the counted connection among the layers of c, nil if there is none.
func clientOf(c net.Conn) *clientConn {
	for layer := range layers(c) {
		if client, ok := layer.(*clientConn); ok {
			return client
		}
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

// HeadRead records that the head of a request has been read on the connection of ctx, and whether
// it has valid credentials.
func HeadRead(ctx context.Context, authenticated bool) {
	conn, _ := ctx.Value(connKey{}).(net.Conn)
	if client := clientOf(conn); client != nil && authenticated {
		client.authenticated.Store(true)
	}
	if f, ok := conn.(interface{ settleHead(bool) }); ok {
		f.settleHead(authenticated)
	}
}
