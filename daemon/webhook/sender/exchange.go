package sender

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

const (
	// closeTimeout is how long the end of an exchange may take after its time limit. After
	// that the exchange is left behind, so that the attempt ends in any case.
	closeTimeout = time.Second

	// bodyReadTimeout limits the time to read the body of a response.
	bodyReadTimeout = 2 * time.Second

	// Limits of a response, in bytes.
	maxResponseHeader = 64 << 10
	maxResponseBody   = 64 << 10 // part of the body that is read: enough to reuse most connections
)

// exchange is the HTTP traffic of one attempt: a request, the request once more if its first
// connection turns out to be closed, and the response.
type exchange struct {
	request   *http.Request
	body      []byte
	pool      *pool
	limit     time.Duration
	began     time.Time
	storeTime time.Time // began, by the store's clock
	cancel    context.CancelFunc
	overdue   *atomic.Int64 // counts exchanges that were left behind

	mu          sync.Mutex
	outcome     webhook.Outcome // as far as it is known
	response    io.Closer       // its body
	conn        connection      // connection of the last request
	interrupted bool
	abandoned   bool
	ended       bool
}

// connection describes the connection of a request.
type connection struct {
	reused   bool
	http2    bool
	answered bool // received the first byte of a response
}

// run makes the exchange.
func (x *exchange) run() {
	defer x.end()
	response, err := x.send(x.request, x.pool.transport)
	if err != nil && x.mayRepeat(err) {
		response, err = x.send(x.withBody(), x.pool.route.singleUse)
	}
	if err != nil {
		x.fail(err)
		return
	}
	x.read(response)
}

// send sends a request. net/http sends it only once: it has no GetBody, and POST is not
// idempotent.
func (x *exchange) send(request *http.Request, transport *http.Transport) (*http.Response, error) {
	x.mu.Lock()
	x.conn = connection{}
	x.mu.Unlock()
	ctx := httptrace.WithClientTrace(request.Context(), &httptrace.ClientTrace{
		GotConn:              x.gotConn,
		GotFirstResponseByte: x.gotFirstByte,
	})
	return transport.RoundTrip(request.WithContext(ctx))
}

func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.conn.reused = info.Reused || info.WasIdle
	if secured, ok := info.Conn.(*tls.Conn); ok {
		x.conn.http2 = secured.ConnectionState().NegotiatedProtocol == "h2"
	}
}

func (x *exchange) gotFirstByte() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.conn.answered = true
}

// mayRepeat reports whether a request that failed has probably not been processed: the peer has
// reported that over HTTP/2, or the connection had been used before and broke without an answer,
// as when the peer closes it at the same moment.
func (x *exchange) mayRepeat(err error) bool {
	if x.request.Context().Err() != nil || ownFailure(err) != "" {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.conn.http2 && isUnprocessed(err) {
		return true
	}
	if x.conn.http2 && isLostConnection(err) {
		return false // after a while without any answer
	}
	return x.conn.reused && !x.conn.answered
}

// withBody returns the request with its body at the start.
func (x *exchange) withBody() *http.Request {
	request := x.request.Clone(x.request.Context())
	request.Body = io.NopCloser(bytes.NewReader(x.body))
	return request
}

// fail records the outcome of an exchange without a response.
func (x *exchange) fail(err error) {
	ctx := x.request.Context()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.outcome = x.pool.route.network.failure(ctx, err, x.limit, x.conn.http2)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && x.conn.http2 {
		x.pool.retire()
	}
}

// read records a response.
func (x *exchange) read(response *http.Response) {
	defer response.Body.Close()
	x.pool.route.network.connected()
	if response.StatusCode == http.StatusSwitchingProtocols {
		x.conclude(nil, webhook.Outcome{
			Cause:  webhook.InvalidResponse,
			Detail: "101 Switching Protocols is not a response to a POST request",
		})
		return
	}
	if !x.conclude(response.Body, outcomeOf(response, x.storeTime.Add(time.Since(x.began)))) {
		return
	}

	// The status is known, so a body that does not end has no effect on the outcome.
	timer := time.AfterFunc(bodyReadTimeout, func() {
		x.cancel()
		response.Body.Close()
	})
	defer timer.Stop()
	text := readBody(response.Body)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.outcome.Text = text
}

// conclude records the outcome and the body that is still to be read. It returns false if the
// exchange has been interrupted.
func (x *exchange) conclude(body io.Closer, outcome webhook.Outcome) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.outcome = outcome
	x.response = body
	return !x.interrupted
}

// readBody returns the beginning of a response body.
func readBody(body io.Reader) []byte {
	kept, _ := io.ReadAll(io.LimitReader(body, webhook.MaxResponseText))
	if len(kept) == webhook.MaxResponseText {
		_, _ = io.CopyN(io.Discard, body, maxResponseBody-webhook.MaxResponseText)
	}
	return bytes.ToValidUTF8(kept, []byte("\uFFFD"))
}

// interrupt makes run return, after the context of the request has been cancelled. That alone
// does not interrupt reads of a connection that a 101 has handed over, nor of an HTTP/2
// response that arrived before the request was sent completely. Closing the body does. It
// closes the connection, but over HTTP/2 only the stream.
func (x *exchange) interrupt() {
	x.mu.Lock()
	x.interrupted = true
	body := x.response
	x.mu.Unlock()
	if body != nil {
		body.Close()
	}
}

// abandon leaves an exchange behind that does not end, and returns its outcome as far as it is
// known.
func (x *exchange) abandon() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		return
	}
	x.abandoned = true
	x.overdue.Add(1)
	if x.conn.http2 {
		x.pool.retire()
	}
	if x.outcome.Code == 0 && x.outcome.Cause == "" {
		x.outcome = timedOut(x.limit)
	}
}

// end ends an exchange, possibly after it was left behind.
func (x *exchange) end() {
	x.pool.release()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ended = true
	if x.abandoned {
		x.overdue.Add(-1)
	}
}

// result returns the outcome. It may be called while run has not returned.
func (x *exchange) result() webhook.Outcome {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.outcome
}
