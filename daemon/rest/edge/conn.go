package edge

import (
	"context"
	"net"
)

// Abort makes net/http close the connection when the handler panics, as it must
// then. HTTP/1.0 has no end mark, so there a clean close would look whole: it
// gets a TCP reset, below TLS, whose own end mark would make the reply look whole
// as well.
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

// sendBuffer bounds what the system holds of a reply that the client has not
// taken yet. Left to itself it may hold megabytes and tell us of progress only
// when a third of that has gone: a client that reads slowly, but reads, would
// look as if it took nothing.
const sendBuffer = 256 << 10

// ConnContext is for http.Server: it keeps a request's connection where Abort
// finds it.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if tcp, ok := underTLS(c).(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // else the system's own
	}
	return context.WithValue(ctx, connKey{}, c)
}

// underTLS is the connection that others are wrapped around.
func underTLS(c net.Conn) net.Conn {
	for {
		over, is := c.(interface{ NetConn() net.Conn })
		if !is {
			return c
		}
		c = over.NetConn()
	}
}
