package edge

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

const (
	headMemory    = 16 << 20           // bytes for all heads together
	headCost      = 3                  // bytes of memory for each byte: net/http copies a long line as it grows
	minHeadMemory = 4 * anonymousShare // in largest heads, so that the anonymous share holds some
	headFree      = 4 << 10            // first bytes of a head, which are not counted: net/http has a buffer for them
	headSlop      = 4 << 10            // bytes for line ends, which the limit of a head does not include
	maxDrained    = 32                 // refused connections that are read to the end at a time

	lingerTimeout = 500 * time.Millisecond // time for a refused client to read the error
)

// Heads limits the size of a request head, and the memory for the heads of all connections. A head
// beyond the limit is refused at once, before net/http stores more of it.
type Heads struct {
	max     int
	budget  *Budget
	drained chan struct{} // one element for each refused connection that is read to the end
}

// NewHeads returns Heads with a limit for each head.
func NewHeads(limit int) *Heads {
	return &Heads{
		max:     limit,
		budget:  NewBudget(int64(max(headMemory, minHeadMemory*headCost*limit))),
		drained: make(chan struct{}, maxDrained),
	}
}

// Max returns the maximum number of bytes that net/http receives of a head.
func (h *Heads) Max() int { return h.max + headSlop }

// heldHead is the memory reserved for the heads that have arrived on a connection.
type heldHead struct {
	mu        sync.Mutex
	bytes     int64
	anonymous bool // in the share of connections without valid credentials
}

// grow reserves memory for a head of size bytes.
func (h *heldHead) grow(budget *Budget, size int, anonymous bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := int64(size-headFree)*headCost - h.bytes
	if n <= 0 {
		return true
	}
	if h.bytes == 0 {
		h.anonymous = anonymous
	}
	if !budget.take(n, h.anonymous) {
		return false
	}
	h.bytes += n
	return true
}

// release returns the memory to the budget.
func (h *heldHead) release(budget *Budget) {
	h.mu.Lock()
	defer h.mu.Unlock()
	budget.take(-h.bytes, h.anonymous)
	h.bytes = 0
}

// settle reduces the reservation to the size of the head, which has been read completely: requests
// that wait must not keep out the heads of others. With valid credentials it leaves the anonymous
// share.
func (h *heldHead) settle(budget *Budget, authenticated bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	size := h.bytes / headCost
	budget.take(size-h.bytes, h.anonymous)
	h.bytes = size
	if authenticated && h.anonymous {
		budget.leaveAnonymous(size)
		h.anonymous = false
	}
}

// checkHead reserves memory for the head that is arriving. If it is too large, or there is no
// room for it, the client gets an error and the connection ends.
func (c *framed) checkHead() error {
	if c.framing.size > c.heads.Max() {
		return c.refuse(headTooLarge(c.heads.max))
	}
	client := clientOf(c.halfCloser)
	anonymous := client == nil || !client.authenticated.Load()
	if c.framing.size > headFree && !c.held.grow(c.heads.budget, c.framing.size, anonymous) {
		return c.refuse(&fault.Error{
			Kind:       fault.Unavailable,
			Message:    "the service is busy: too many large request heads",
			RetryAfter: time.Second,
		})
	}
	return nil
}

// refuse sends an error while net/http is reading a head. All later reads fail with it, and
// net/http closes the connection without a response of its own.
func (c *framed) refuse(f *fault.Error) error {
	status := StatusOf(f)
	body := fmt.Sprintf(`{"ResponseStatus":{"ErrorCode":%q,"Message":%q}}`, failures[f.Kind].code, f.Message)
	lines := []string{
		fmt.Sprintf("HTTP/1.1 %d %s", status, http.StatusText(status)),
		"Content-Type: application/json; charset=utf-8",
	}
	if f.RetryAfter > 0 {
		lines = append(lines, "Retry-After: "+RetryAfter(f.RetryAfter))
	}
	lines = append(lines, "Connection: close", fmt.Sprintf("Content-Length: %d", len(body)), "", body)

	_ = c.SetDeadline(time.Now().Add(lingerTimeout))
	_, err := io.WriteString(c.halfCloser, strings.Join(lines, "\r\n"))
	if err == nil {
		err = c.CloseWrite()
	}
	c.lingers.Store(err == nil)
	c.refused = &net.OpError{Op: "read", Net: "tcp", Err: f}
	return c.refused
}

// linger closes a refused connection after the client has had time to read the error. To close it
// at once would reset it, since the client still sends its head. On up to maxDrained connections
// the rest of the head is read and discarded, so that clients that send all of it first get the
// error, too. The others only wait. The memory of the head stays reserved until the end, which
// slows down clients that connect again and again.
func (h *Heads) linger(c *framed) {
	end := func() {
		c.releaseHead()
		c.halfCloser.Close()
	}
	select {
	case h.drained <- struct{}{}:
		go func() {
			defer func() { <-h.drained }()
			defer end()
			_, _ = io.Copy(io.Discard, c.halfCloser) // until the deadline
		}()
	default:
		time.AfterFunc(lingerTimeout, end)
	}
}

// headTooLarge returns the error for a head beyond the limit.
func headTooLarge(limit int) *fault.Error {
	return fault.New(fault.HeadTooLarge, "the URL and the headers together are larger than %d bytes", limit)
}

// CheckHead rejects a head that is too large. Line ends do not count.
func CheckHead(r *http.Request, limit int) error {
	size := len(r.Method) + len(r.RequestURI) + len(r.Host)
	for name, values := range r.Header {
		for _, v := range values {
			size += len(name) + len(v)
		}
	}
	if size > limit {
		return headTooLarge(limit)
	}
	return nil
}
