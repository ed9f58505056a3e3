package edge

import (
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

const (
	bodyStep = 64 << 10 // bytes that a body takes from the budget at a time
	bodyFree = 4 << 10  // first bytes of a body, which count as part of the connection: a login needs no more
	bodyRate = 8 << 10  // bytes a second that a client must send

	anonymousShare = 4                  // requests without a login get one part of so many of the budget
	minBodyMemory  = 4 * anonymousShare // times the largest body: the share holds one event of the largest size

	EventFactor = 4 // how many times larger than others the body of an event may be
)

// bodyBudget bounds the bytes that all request bodies hold together.
type bodyBudget struct {
	size      int64
	mu        sync.Mutex
	free      int64
	anonymous int64 // the part of it that requests without a login may take
}

func newBodyBudget(size int64) *bodyBudget {
	return &bodyBudget{size: size, free: size, anonymous: size / anonymousShare}
}

// take reserves n bytes and reports whether they were free. A negative n gives
// bytes back, which always succeeds.
func (b *bodyBudget) take(n int64, anonymous bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.free < n || anonymous && b.anonymous < n {
		return false
	}
	b.free -= n
	if anonymous {
		b.anonymous -= n
	}
	return true
}

// Bodies reads the bodies of requests.
type Bodies struct {
	budget   *bodyBudget
	max      int64          // size of one
	timeout  time.Duration  // how long a client may send nothing of one, or less than bodyRate
	identify func(*Context) // finds out who asks
}

// NewBodies makes Bodies of at most limit bytes each and memory bytes together.
func NewBodies(limit, memory int64, timeout time.Duration, identify func(*Context)) *Bodies {
	return &Bodies{newBodyBudget(max(memory, minBodyMemory*limit)), limit, timeout, identify}
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

// Held is the number of bytes that all bodies hold.
func (b *Bodies) Held() float64 {
	b.budget.mu.Lock()
	defer b.budget.mu.Unlock()
	return float64(b.budget.size - b.budget.free)
}

// Release gives back what a request took.
func (b *Bodies) Release(x *Context) { b.budget.take(-x.memory.bytes, x.memory.anonymous) }

// reserve takes the next n bytes of a body from the budget. They are given back
// when the request ends.
func (b *Bodies) reserve(x *Context, n int64) error {
	if x.memory.bytes == 0 {
		if !x.Identity.Known() {
			b.identify(x) // where the route needs no login; the handler reports what is wrong with one
		}
		x.memory.anonymous = !x.Identity.Known()
	}
	if !b.budget.take(n, x.memory.anonymous) {
		return &fault.Error{Kind: fault.Unavailable, Message: "the service is busy: too many request bodies at once", RetryAfter: time.Second}
	}
	x.memory.bytes += n
	return nil
}

// Read reads the body of a request.
func (b *Bodies) Read(x *Context) ([]byte, error) {
	if x.Request.ContentLength == 0 {
		return nil, nil
	}
	switch coding := x.Request.Header.Get("Content-Encoding"); {
	case coding != "" && !strings.EqualFold(coding, "identity"):
		return nil, fault.New(fault.Unsupported, "a body with the Content-Encoding %s cannot be read", Clean(coding))
	case x.Request.ContentLength > b.maxSize(x):
		return nil, b.tooLarge(x)
	}
	body, err := b.receive(x, http.MaxBytesReader(x.Response.ResponseWriter, x.Request.Body, b.maxSize(x)))
	if err != nil {
		x.Response.Header().Set("Connection", "close") // the rest of the body is not read
		return nil, b.fault(x, err)
	}
	_ = x.Response.Control.SetReadDeadline(time.Time{}) // net/http goes on reading, to notice a client that leaves
	return body, nil
}

func (b *Bodies) fault(x *Context, err error) error {
	var tooLarge *http.MaxBytesError
	var known *fault.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &tooLarge):
		return b.tooLarge(x)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fault.New(fault.SlowBody, "the body arrived more slowly than %d bytes a second", bodyRate)
	}
	return fault.Wrap(err, fault.Malformed, "the body did not arrive whole")
}

// receive reads a body in pieces. Memory for a piece is reserved when the pieces
// before it have arrived, whatever length the request announces.
func (b *Bodies) receive(x *Context, in io.Reader) ([]byte, error) {
	var pieces [][]byte
	var err error
	until := time.Now().Add(b.timeout)
	_ = x.Response.Control.SetReadDeadline(until) // the login may have taken long
	for left, size := x.Request.ContentLength, int64(bodyFree); left != 0 && err == nil; size = bodyStep {
		if left > 0 {
			size = min(size, left)
		}
		if pieces != nil {
			if err := b.reserve(x, size); err != nil {
				return nil, err
			}
		}
		piece := make([]byte, size)
		at := 0
		for at < len(piece) && err == nil {
			var n int
			n, err = in.Read(piece[at:])
			at += n
			until = b.deadline(until, time.Now(), n)
			_ = x.Response.Control.SetReadDeadline(until)
		}
		pieces = append(pieces, piece[:at])
		left -= int64(at) // of an unknown length it stays negative
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	if len(pieces) == 1 {
		return pieces[0], nil
	}
	return slices.Concat(pieces...), nil
}

// deadline is the time by which the next byte of a body must arrive after n
// bytes have. A client that was fast may then pause for no longer than one that
// sends a step at the least rate.
func (b *Bodies) deadline(until, now time.Time, n int) time.Time {
	until = until.Add(time.Duration(n) * time.Second / bodyRate)
	if latest := now.Add(b.timeout + bodyStep*time.Second/bodyRate); until.After(latest) {
		return latest
	}
	return until
}
