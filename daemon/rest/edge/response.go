package edge

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/encode"
)

// Response is a ResponseWriter that remembers what was sent, and cuts off a
// client that takes nothing of it.
type Response struct {
	http.ResponseWriter
	Control *http.ResponseController
	Stall   time.Duration // how long a client may take no byte
	Status  int
	Bytes   int64
	Aborted bool
}

// NewResponse makes a Response on w.
func NewResponse(w http.ResponseWriter, stall time.Duration) *Response {
	return &Response{ResponseWriter: w, Control: http.NewResponseController(w), Stall: stall}
}

// WriteHeader notes the status. What a browser would show as a page gets its
// policy here. The other replies go without, since their ninth header would
// double both of the maps that net/http keeps headers in, at several
// microseconds.
func (w *Response) WriteHeader(status int) {
	if w.Status == 0 {
		w.Status = status
		h := w.Header()
		if media, _, _ := strings.Cut(h.Get("Content-Type"), ";"); media == "text/html" || media == "application/xml" {
			h.Set("Content-Security-Policy", policy)
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// writePiece is how much is given to the connection under one deadline.
const writePiece = 32 << 10

// Write notes the bytes.
func (w *Response) Write(b []byte) (int, error) {
	if w.Status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	written := 0
	for written < len(b) {
		w.extend()
		n, err := w.ResponseWriter.Write(b[written:min(len(b), written+writePiece)])
		written += n
		w.Bytes += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// AwaitBody gives the client time to send a body. On a connection that was used
// before it also takes back the deadline that the last reply had.
func (w *Response) AwaitBody(r *http.Request, patience time.Duration) {
	_ = w.Control.SetWriteDeadline(time.Time{})
	if r.ContentLength != 0 {
		_ = w.Control.SetReadDeadline(time.Now().Add(patience))
	}
}

// extend gives the client time for the next piece.
func (w *Response) extend() {
	_ = w.Control.SetWriteDeadline(time.Now().Add(w.Stall)) // refused only by test recorders
}

// Finish gives the client time for what net/http has still to send. Before that
// it reads what is left of a body, which may take patience.
func (w *Response) Finish(r *http.Request, patience time.Duration) {
	if r.ContentLength == 0 {
		patience = 0
	}
	_ = w.Control.SetWriteDeadline(time.Now().Add(w.Stall + patience))
}

// Unwrap lets http.ResponseController reach the connection.
func (w *Response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// StatusGone is noted for a client that has left before it was answered. There
// is no such status in HTTP: nobody is there to read it.
const StatusGone = 499

// FinalStatus is what became of the request.
func (w *Response) FinalStatus() int {
	switch {
	case w.Status != 0:
		return w.Status
	case w.Aborted:
		return StatusGone
	}
	return http.StatusOK // net/http's, for a handler that writes nothing
}

// Push sends bytes at once, and gives up where the client takes none of them for
// a while or ctx is done.
func (w *Response) Push(ctx context.Context, b []byte) error {
	w.extend()
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { // makes the write fail
		defer close(over)
		_ = w.Control.SetWriteDeadline(time.Now())
	})
	defer func() {
		if !stop() {
			<-over
		}
	}()
	n, err := w.ResponseWriter.Write(b)
	w.Bytes += int64(n)
	if err != nil {
		return err
	}
	return w.Control.Flush()
}

// policy lets a page show its own style and nothing else.
var policy = "default-src 'none'; style-src " + encode.StylePolicy() + "; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
