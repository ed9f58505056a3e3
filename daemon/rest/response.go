package rest

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/encode"
)

// response is a ResponseWriter that remembers what was sent, and cuts off a
// client that takes nothing of it.
type response struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration // how long a client may take no byte
	status  int
	bytes   int64
	aborted bool
}

func newResponse(w http.ResponseWriter, stall time.Duration) *response {
	return &response{ResponseWriter: w, control: http.NewResponseController(w), stall: stall}
}

// WriteHeader notes the status. What a browser would show as a page gets its
// policy here. The other replies go without, since their ninth header would
// double both of the maps that net/http keeps headers in, at several
// microseconds.
func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
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
func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	written := 0
	for written < len(b) {
		w.extend()
		n, err := w.ResponseWriter.Write(b[written:min(len(b), written+writePiece)])
		written += n
		w.bytes += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// awaitBody gives the client time to send a body. On a connection that was used
// before it also takes back the deadline that the last reply had.
func (w *response) awaitBody(r *http.Request, patience time.Duration) {
	_ = w.control.SetWriteDeadline(time.Time{})
	if r.ContentLength != 0 {
		_ = w.control.SetReadDeadline(time.Now().Add(patience))
	}
}

// extend gives the client time for the next piece.
func (w *response) extend() {
	_ = w.control.SetWriteDeadline(time.Now().Add(w.stall)) // refused only by test recorders
}

// leave gives the client time for what net/http has still to send. Before that
// it reads what is left of a body, which may take patience.
func (w *response) leave(r *http.Request, patience time.Duration) {
	if r.ContentLength == 0 {
		patience = 0
	}
	_ = w.control.SetWriteDeadline(time.Now().Add(w.stall + patience))
}

// Unwrap lets http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// statusGone is noted for a client that has left before it was answered. There
// is no such status in HTTP: nobody is there to read it.
const statusGone = 499

// finalStatus is what became of the request.
func (w *response) finalStatus() int {
	switch {
	case w.status != 0:
		return w.status
	case w.aborted:
		return statusGone
	}
	return http.StatusOK // net/http's, for a handler that writes nothing
}

// push sends bytes at once, and gives up where the client takes none of them for
// a while or ctx is done.
func (w *response) push(ctx context.Context, b []byte) error {
	w.extend()
	defer w.until(ctx)()
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	if err != nil {
		return err
	}
	return w.control.Flush()
}

// until makes a write fail once ctx is done. What it returns ends that.
func (w *response) until(ctx context.Context) (release func()) {
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(over)
		_ = w.control.SetWriteDeadline(time.Now())
	})
	return func() {
		if !stop() {
			<-over
		}
	}
}

// policy lets a page show its own style and nothing else.
var policy = "default-src 'none'; style-src " + encode.StylePolicy() + "; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
