package edge

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/encode"
)

// Response is a ResponseWriter that records the status and size, and disconnects clients
// that do not read, or too slowly.
type Response struct {
	http.ResponseWriter
	Control *http.ResponseController
	Stall   time.Duration // maximum time in which the client reads nothing
	Status  int
	Bytes   int64
	Aborted bool
	Kept    bool // the response is held, not sent: an error can replace it

	Admission *Admission // nil for none
	Slot      *Slot      // nil for requests that need none

	waited time.Duration // for the client to read
}

// NewResponse returns a Response that writes to w.
func NewResponse(w http.ResponseWriter, stall time.Duration) *Response {
	return &Response{ResponseWriter: w, Control: http.NewResponseController(w), Stall: stall}
}

// WriteHeader records the status and sends the headers. Only HTML, and XML, which browsers render
// too, gets the Content-Security-Policy: a ninth header would double both of the maps in which
// net/http keeps headers, which takes several microseconds.
func (w *Response) WriteHeader(status int) {
	if w.Status == 0 {
		w.Status = status
		h := w.Header()
		media, _, _ := strings.Cut(h.Get("Content-Type"), ";")
		isPage := media == "text/html" || media == "application/xml"
		if isPage && h.Get("Content-Security-Policy") == "" {
			h.Set("Content-Security-Policy", policy)
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// writePiece is the number of bytes written under one deadline.
const writePiece = 32 << 10

// Write writes and counts bytes.
func (w *Response) Write(b []byte) (int, error) {
	if w.Status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	written := 0
	for written < len(b) {
		piece := b[written:min(len(b), written+writePiece)]
		start := time.Now()
		_ = w.Control.SetWriteDeadline(start.Add(w.timeoutFor(len(piece)))) // fails in test recorders only
		n, err := w.ResponseWriter.Write(piece)
		w.waited += time.Since(start)
		written += n
		w.Bytes += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// Limits of the time that clients take to read a response.
const (
	readRate  = 8 << 10          // minimum average, in bytes per second
	readGrace = 30 * time.Second // in addition, for all of a response
)

// timeoutFor returns how long the client may take for the next n bytes. The time in which the
// service has nothing to send does not count. A negative result means that the deadline has
// expired already: a write with it fails at once.
func (w *Response) timeoutFor(n int) time.Duration {
	due := readGrace + time.Duration((w.Bytes+int64(n))/readRate)*time.Second
	return min(w.Stall, due-w.waited)
}

// AwaitBody sets the deadline for the first bytes of a body.
func (w *Response) AwaitBody(r *http.Request, timeout time.Duration) {
	if r.ContentLength != 0 {
		_ = w.Control.SetReadDeadline(time.Now().Add(timeout))
	}
}

// Finish sets the deadline for the rest that net/http sends. Before that net/http
// reads the rest of the body, which may take until timeout. Afterwards it removes the deadline.
func (w *Response) Finish(r *http.Request, timeout time.Duration) {
	if r.ContentLength == 0 {
		timeout = 0
	}
	_ = w.Control.SetWriteDeadline(time.Now().Add(w.Stall + timeout))
}

// Unwrap provides http.ResponseController with access to the connection.
func (w *Response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// StatusGone is recorded for clients that disconnected before the response. It is
// not an HTTP status and never sent.
const StatusGone = 499

// FinalStatus returns the status of the finished request.
func (w *Response) FinalStatus() int {
	if w.Status != 0 {
		return w.Status
	}
	if w.Aborted {
		return StatusGone
	}
	return http.StatusOK // of net/http, for handlers that write nothing
}

// Push sends bytes immediately, for responses that are streams. It fails if the client reads
// nothing for the time Stall, or when ctx is done. Unlike Write it sets no minimum rate: a stream
// has no size that the client would have to read in a given time.
func (w *Response) Push(ctx context.Context, b []byte) error {
	_ = w.Control.SetWriteDeadline(time.Now().Add(w.Stall))
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { // interrupts the write
		defer close(stopped)
		_ = w.Control.SetWriteDeadline(time.Now())
	})
	defer func() {
		if !stop() {
			<-stopped
		}
	}()
	n, err := w.ResponseWriter.Write(b)
	w.Bytes += int64(n)
	if err != nil {
		return err
	}
	return w.Control.Flush()
}

// policy allows a page its own style, pictures of the service, and no other content.
var policy = "default-src 'none'; style-src " + encode.StylePolicy() + "; img-src 'self'" +
	"; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
