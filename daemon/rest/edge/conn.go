package edge

import (
	"context"
	"net"
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
