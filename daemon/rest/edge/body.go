package edge

import (
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

const (
	bodyStep = 64 << 10 // bytes that a body reserves in the budget at a time
	bodyFree = 4 << 10  // first bytes of a body, which are not counted; sufficient for a login
	bodyRate = 8 << 10  // minimum rate of a client, in bytes per second

	EventFactor = 4 // the body of an event may be 4 times as large as others

	// minBodyFactor times the largest body is the minimum memory for all: the share of requests
	// without a login must hold one event of the largest size.
	minBodyFactor = EventFactor * anonymousShare
)

// Bodies reads request bodies within limits of size (http.max_body; a larger body gets status 413),
// rate and memory.
type Bodies struct {
	budget    *Budget
	max       int64         // maximum size of one body
	timeout   time.Duration // maximum time for a body without data, or below bodyRate
	recognize Recognizer    // nil for none
	joining   chan struct{} // has an element while a body is joined
}

// NewBodyBudget returns the budget of all bodies, with a limit for each of them. The memory
// includes the copy of a body that is being joined.
func NewBodyBudget(limit, memory int64) *Budget {
	return NewBudget(max(memory-EventFactor*limit, minBodyFactor*limit))
}

// NewBodies returns Bodies with a limit for each body and the budget of all.
func NewBodies(limit int64, budget *Budget, timeout time.Duration, recognize Recognizer) *Bodies {
	return &Bodies{
		budget:    budget,
		max:       limit,
		timeout:   timeout,
		recognize: recognize,
		joining:   make(chan struct{}, 1),
	}
}

func (b *Bodies) maxSize(x *Context) int64 {
	if x.Route.Large {
		return EventFactor * b.max
	}
	return b.max
}

func (b *Bodies) tooLarge(x *Context) error {
	return fault.New(fault.TooLarge, "the body is larger than %d bytes", b.maxSize(x))
}

// Held returns the number of bytes held by all bodies.
func (b *Bodies) Held() float64 { return b.budget.Held() }

// Release returns the memory of a request's body to the budget.
func (b *Bodies) Release(x *Context) { b.budget.take(-x.memory.bytes, x.memory.anonymous) }

// reserve reserves memory for the next n bytes of a body until the request ends.
func (b *Bodies) reserve(x *Context, n int64) error {
	if x.memory.bytes == 0 {
		x.memory.anonymous = !b.recognize.recognizes(x)
	}
	if !b.budget.take(n, x.memory.anonymous) {
		return &fault.Error{
			Kind:       fault.Unavailable,
			Message:    "the service is busy: too many concurrent request bodies",
			RetryAfter: time.Second,
		}
	}
	x.memory.bytes += n
	return nil
}

// Read reads the body of a request.
func (b *Bodies) Read(x *Context) ([]byte, error) {
	if x.Request.ContentLength == 0 {
		return nil, nil
	}
	coding := x.Request.Header.Get("Content-Encoding")
	if coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, fault.New(fault.Unsupported, "a body with the Content-Encoding %s cannot be read", Clean(coding))
	}
	if x.Request.ContentLength > b.maxSize(x) {
		return nil, b.tooLarge(x)
	}

	sent := x.Request.Body
	if x.Request.ContentLength < 0 { // net/http reads no more than a known length
		sent = http.MaxBytesReader(x.Response.ResponseWriter, sent, b.maxSize(x))
	}
	body, err := b.receive(x, sent)
	if err != nil {
		x.Response.Header().Set("Connection", "close") // the rest of the body is not read
		return nil, b.readError(x, err)
	}
	_ = x.Response.Control.SetReadDeadline(time.Time{}) // net/http continues to read, to detect closed connections
	return body, nil
}

// readError returns the error for the client if the body cannot be read.
func (b *Bodies) readError(x *Context, err error) error {
	var tooLarge *http.MaxBytesError
	var known *fault.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &tooLarge):
		return b.tooLarge(x)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fault.New(fault.SlowBody, "the body arrived at less than %d bytes per second", bodyRate)
	}
	return fault.Wrap(err, fault.Malformed, "the body is incomplete")
}

// receive reads a body in pieces. Memory for a piece is reserved after the previous
// pieces have arrived: a Content-Length alone reserves none.
func (b *Bodies) receive(x *Context, in io.Reader) ([]byte, error) {
	r := &pacedReader{in: in, control: x.Response.Control, bodies: b, until: time.Now().Add(b.timeout)}
	var pieces [][]byte
	size := int64(bodyFree)
	remaining := x.Request.ContentLength // stays negative for an unknown length
	for remaining != 0 {
		if remaining > 0 {
			size = min(size, remaining)
		}
		if pieces != nil {
			if err := b.reserve(x, size); err != nil {
				return nil, err
			}
		}
		piece := make([]byte, size)
		n, err := r.fill(piece)
		pieces = append(pieces, piece[:n])
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		remaining -= int64(n)
		size = bodyStep
	}
	return b.join(pieces), nil
}

// join returns the pieces of a body as one slice. Until the pieces are released, the body takes
// twice its memory. Bodies are therefore joined one after the other, which takes milliseconds for
// a large one: reserving the copies in the budget would fail for bodies that have fully arrived.
func (b *Bodies) join(pieces [][]byte) []byte {
	if len(pieces) == 1 {
		return pieces[0]
	}
	b.joining <- struct{}{}
	defer func() { <-b.joining }()
	return slices.Concat(pieces...)
}

// pacedReader reads a body and sets the deadline of its connection before each read.
type pacedReader struct {
	in      io.Reader
	control *http.ResponseController
	bodies  *Bodies
	until   time.Time // the deadline
}

// fill reads until b is full. Unlike io.ReadFull it returns io.EOF at the end of the body even if
// it has read something: io.ErrUnexpectedEOF is net/http's error for an incomplete body.
func (r *pacedReader) fill(b []byte) (int, error) {
	filled := 0
	for filled < len(b) {
		_ = r.control.SetReadDeadline(r.until)
		n, err := r.in.Read(b[filled:])
		filled += n
		r.until = r.bodies.deadline(r.until, time.Now(), n)
		if err != nil {
			return filled, err
		}
	}
	return filled, nil
}

// deadline returns the time by which the next byte must arrive after n bytes have
// been received. A client that was fast may pause no longer than one that sends a
// step at the minimum rate.
func (b *Bodies) deadline(until, now time.Time, n int) time.Time {
	until = until.Add(time.Duration(n) * time.Second / bodyRate)
	latest := now.Add(b.timeout + bodyStep*time.Second/bodyRate)
	if until.After(latest) {
		return latest
	}
	return until
}
