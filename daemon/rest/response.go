package rest

import (
	"context"
	"net"
	"net/http"
	"time"
)

// response is a ResponseWriter that remembers what was sent.
type response struct {
	http.ResponseWriter
	control *http.ResponseController
	status  int
	bytes   int64
	aborted bool
}

func newResponse(w http.ResponseWriter) *response {
	return &response{ResponseWriter: w, control: http.NewResponseController(w)}
}

// WriteHeader notes the status.
func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write notes the bytes.
func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// writePiece is how much is given to the connection under one deadline.
const writePiece = 32 << 10

// send writes b. A client that takes no byte for stall is cut off.
func (w *response) send(b []byte, stall time.Duration) error {
	for len(b) > 0 {
		if stall > 0 {
			_ = w.control.SetWriteDeadline(time.Now().Add(stall)) // refused only by recorders
		}
		n, err := w.Write(b[:min(len(b), writePiece)])
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

type connKey struct{}

// withConn keeps a request's connection where resetOnClose finds it.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// resetOnClose makes the close of the request's connection a TCP reset.
func resetOnClose(ctx context.Context) {
	conn, _ := ctx.Value(connKey{}).(net.Conn)
	for {
		under, wrapped := conn.(interface{ NetConn() net.Conn })
		if !wrapped {
			break
		}
		conn = under.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}
