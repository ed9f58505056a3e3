package edge

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

// Admission limits the number of concurrent requests and waits for them when the
// service stops.
type Admission struct {
	slots     chan struct{} // one element for each request in progress
	anonymous chan struct{} // one for each of them without valid credentials
	streams   chan struct{} // one for each of them that sends rows while it reads them
	replies   *Budget       // memory for responses that are held whole
	unknown   *pace         // pace of complete responses to requests without valid credentials
	recognize Recognizer    // nil for none

	mu      sync.Mutex
	arrived int           // requests between BeginRequest and EndRequest
	empty   chan struct{} // nil until the service stops; closed when the last request has ended
}

// NewAdmission returns an Admission for at most size concurrent requests. At most half of
// them are without valid credentials, and at most three quarters are streams, which last as
// long as the client reads. Responses that are held whole take their memory from replies.
func NewAdmission(size int, replies *Budget, recognize Recognizer) *Admission {
	return &Admission{
		slots:     make(chan struct{}, size),
		anonymous: make(chan struct{}, (size+1)/2),
		streams:   make(chan struct{}, (3*size+3)/4),
		replies:   replies,
		unknown:   newPace(),
		recognize: recognize,
	}
}

// BeginRequest registers a request. It fails if the service is stopping.
func (a *Admission) BeginRequest() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.empty != nil {
		return StoppingError()
	}
	a.arrived++
	return nil
}

// StoppingError returns the error for requests that arrive while the service is
// stopping.
func StoppingError() error { return fault.New(fault.Unavailable, "the service is stopping") }

// EndRequest ends a request registered by BeginRequest.
func (a *Admission) EndRequest() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.arrived--
	if a.empty != nil && a.arrived == 0 {
		close(a.empty)
	}
}

// Slot is the place of a request among the concurrent ones. A nil *Slot is for requests that need
// none.
type Slot struct {
	admission *Admission
	gauge     Gauge
	anonymous bool
	held      []chan struct{} // the occupied places; empty after Release
}

// Gauge counts the requests in progress.
type Gauge interface {
	Inc()
	Dec()
}

// TakeSlot acquires the slot of a request until End is called. If there is none, it fails at once
// instead of queueing: the client decides whether to retry.
func (a *Admission) TakeSlot(x *Context, gauge Gauge) error {
	anonymous := !x.isKnown()
	slot, err := a.takeSlot(gauge, anonymous)
	if err != nil && anonymous && a.recognize.recognizes(x) {
		slot, err = a.takeSlot(gauge, false)
	}
	x.Response.Slot = slot
	return err
}

func (a *Admission) takeSlot(gauge Gauge, anonymous bool) (*Slot, error) {
	s := &Slot{admission: a, gauge: gauge, anonymous: anonymous}
	if anonymous && !s.take(a.anonymous) {
		return nil, busy("too many concurrent requests without a login")
	}
	if !s.take(a.slots) {
		s.giveBack()
		return nil, busy("too many concurrent requests")
	}
	return s, nil
}

// busy returns the error for a request for which there is no room.
func busy(reason string) error {
	return &fault.Error{
		Kind:       fault.Unavailable,
		Message:    "the service is busy: " + reason,
		RetryAfter: time.Second,
	}
}

// take occupies one of some places if there is a free one.
func (s *Slot) take(places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		s.held = append(s.held, places)
		return true
	default:
		return false
	}
}

// giveBack frees all occupied places.
func (s *Slot) giveBack() {
	for _, places := range s.held {
		<-places
	}
	s.held = nil
}

// Release ends the use of the slot before the request ends: it no longer uses the store, and
// only waits, or sends a complete response. The gauge of requests does not count it.
func (s *Slot) Release() {
	if s != nil && s.held != nil {
		s.giveBack()
		s.gauge.Dec()
	}
}

// Retake waits for a slot again after Release.
func (s *Slot) Retake(ctx context.Context) error {
	if s == nil || s.held != nil {
		return nil
	}
	required := []chan struct{}{s.admission.slots}
	if s.anonymous { // in the order of takeSlot
		required = []chan struct{}{s.admission.anonymous, s.admission.slots}
	}
	for _, places := range required {
		select {
		case places <- struct{}{}:
			s.held = append(s.held, places)
		case <-ctx.Done():
			s.giveBack()
			return busy("too many concurrent requests")
		}
	}
	s.gauge.Inc()
	return nil
}

// Stream marks the slot as occupied by a stream. It fails if there are too many streams.
func (s *Slot) Stream() error {
	if s == nil || s.held == nil || s.take(s.admission.streams) {
		return nil
	}
	return busy("too many large responses are being read")
}

// End ends the use of the slot.
func (s *Slot) End() {
	if s.held == nil {
		s.gauge.Inc() // the request is counted until its end
	}
	s.giveBack()
}

// Limits of the memory for responses that are held whole.
const (
	replyFree      = 16 << 10 // bytes; responses up to this size, such as errors, are not counted
	minReplyMemory = 16 << 20 // bytes
)

// NewReplies returns the budget for responses that are held whole.
func NewReplies(memory int64) *Budget { return NewBudget(max(memory, minReplyMemory)) }

// holdReply reserves memory for a response of n bytes until release is called, and releases the
// slot of the request: a client that reads slowly does not occupy one. Without memory it fails,
// unless the request may have changed something: the client would repeat it. Its response is sent
// in its slot, so that http.max_requests limits the memory of all such responses.
func (a *Admission) holdReply(x *Context, n int) (release func(), err error) {
	if a == nil || x.Response.Kept {
		return func() {}, nil
	}
	size := int64(n)
	anonymous := !x.isKnown()
	if n <= replyFree {
		size = 0
	}
	if !a.replies.take(size, anonymous) {
		hasCredentials := anonymous && a.recognize.recognizes(x)
		isTaken := hasCredentials && a.replies.take(size, false)
		if !isTaken && x.Route != nil && x.Route.Changes {
			return func() {}, nil
		}
		if !isTaken {
			return nil, busy("too many responses are being read")
		}
		anonymous = false
	}
	x.Response.Slot.Release()
	return func() { a.replies.take(-size, anonymous) }, nil
}

// pace waits until a complete response of n bytes may be sent to a GET request without valid
// credentials. Others do not wait, nor do short responses, such as errors.
func (a *Admission) pace(x *Context, n int) error {
	if a == nil || x.Response.Kept || n <= replyFree {
		return nil
	}
	if x.isKnown() || x.Request.Method != http.MethodGet {
		return nil
	}
	err := a.unknown.wait(x.Request.Context(), x.Origin.Address, n)
	if fault.Is(err, fault.Unavailable) && a.recognize.recognizes(x) {
		return nil
	}
	return err
}

// Stopping reports whether Drain has been called.
func (a *Admission) Stopping() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.empty != nil
}

// Drain rejects new requests and waits until the last request has ended or ctx is
// done. It may be called again to continue waiting.
func (a *Admission) Drain(ctx context.Context) error {
	a.mu.Lock()
	if a.empty == nil {
		a.empty = make(chan struct{})
		if a.arrived == 0 {
			close(a.empty)
		}
	}
	a.mu.Unlock()
	select {
	case <-a.empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
