package sender

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// outcomeOf returns the outcome of an attempt with a response, without its body. now is the time
// of the store's clock.
func outcomeOf(response *http.Response, now time.Time) webhook.Outcome {
	o := webhook.Outcome{
		Code:       response.StatusCode,
		RetryAfter: retryAfter(response.Header.Get("Retry-After"), now),
	}
	for _, request := range response.Header.Values("Webhook-Delivery") {
		switch strings.ToLower(strings.TrimSpace(request)) {
		case "disable":
			o.Disable = true
		case "abort-message":
			o.Abort = true
		}
	}
	return o
}

// maxRetryAfter is longer than any wait that the settings allow, in seconds. The header may have
// any number of digits.
const maxRetryAfter = 366 * 24 * 60 * 60

// retryAfter parses the header's seconds or date. It returns 0 for an invalid value.
func retryAfter(text string, now time.Time) time.Duration {
	seconds, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) { // then it is the largest number
		return time.Duration(min(seconds, maxRetryAfter)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// failure returns the outcome of an attempt without a response within a limit.
func (n *network) failure(ctx context.Context, err error, limit time.Duration, http2 bool) webhook.Outcome {
	isDialing := isA[*net.OpError](err) || errors.Is(err, errProxyUnusable)
	if errors.Is(err, context.DeadlineExceeded) && !isDialing {
		return timedOut(limit)
	}
	o := webhook.Outcome{Cause: cause(ctx, err), Detail: detail(err)}
	if ctx.Err() != nil {
		return o // the limit has been used up
	}
	if http2 && isLostConnection(err) {
		o.Cause = webhook.TimedOut
		o.Own = webhook.ConnectionLost
		return o
	}
	o.Own = ownFailure(err)
	if o.Own == "" && n.isDown(err) {
		o.Own = webhook.NoNetwork
	}
	return o
}

// detail returns the text of an error. That of net/http names one of its internal functions if the
// endpoint responded before the request was sent.
func detail(err error) string {
	text := err.Error()
	if strings.Contains(text, "readLoopPeekFailLocked: %!w(<nil>)") {
		return "the endpoint responded before the request was sent"
	}
	return text
}

func timedOut(limit time.Duration) webhook.Outcome {
	return webhook.Outcome{
		Cause:  webhook.TimedOut,
		Detail: fmt.Sprintf("no response within %s, the limit of webhooks.attempt_timeout", limit),
	}
}

// cause returns the cause of an endpoint's failure.
func cause(ctx context.Context, err error) webhook.Cause {
	var timeout interface{ Timeout() bool }
	isTimeout := errors.As(err, &timeout) && timeout.Timeout()
	switch {
	case errors.Is(err, webhook.ErrForbidden):
		return webhook.TargetForbidden
	case isTimeout || ctx.Err() != nil:
		return webhook.TimedOut
	case isA[*net.DNSError](err):
		return webhook.NameNotFound
	case errors.Is(err, syscall.ECONNREFUSED):
		return webhook.ConnectionRefused
	case isReset(err):
		return webhook.ConnectionReset
	case isA[*proxyRefusal](err):
		return webhook.ProxyRefused
	case isTLS(err):
		return webhook.TLSFailed
	case isProtocol(err):
		return webhook.InvalidResponse
	}
	return webhook.NetworkFailed
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// isReset reports whether the peer has closed or reset the connection, or the stream.
func isReset(err error) bool {
	for _, reset := range []error{syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed} {
		if errors.Is(err, reset) {
			return true
		}
	}
	text := err.Error()
	isGoAway := strings.HasPrefix(text, "http2: ") && strings.Contains(text, "GOAWAY")
	return isGoAway || isStreamReset(text) || text == "http: server closed idle connection"
}

// isStreamReset reports whether the peer has reset an HTTP/2 stream. Other errors of streams are
// found at this end.
func isStreamReset(text string) bool {
	return strings.Contains(text, "stream error: ") && strings.Contains(text, "received from peer")
}

// isTLS reports whether TLS failed, at this end or at the peer's, which then sends an alert.
func isTLS(err error) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	if ok && (failed.Op == "remote error" || failed.Op == "local error") {
		return true
	}
	return isA[tls.RecordHeaderError](err) || isA[tls.AlertError](err) ||
		isA[*tls.CertificateVerificationError](err) || isA[x509.HostnameError](err) ||
		strings.HasPrefix(err.Error(), "tls: ")
}

// protocolErrors are parts of the texts of errors that net/http returns for invalid responses, and
// does not export.
var protocolErrors = []string{
	"malformed HTTP",
	"1xx",
	"response headers exceeded",
	"http2: ",
	"connection error: ",
	"stream error: ",
	"bad Content-Length",
	"readLoopPeekFailLocked",
}

// isProtocol reports whether the response was invalid.
func isProtocol(err error) bool {
	if isA[textproto.ProtocolError](err) {
		return true
	}
	text := err.Error()
	return slices.ContainsFunc(protocolErrors, func(part string) bool { return strings.Contains(text, part) })
}

// ownFailures lists errors that the endpoint has not caused. Numbers are those of Windows
// Sockets, which package syscall does not name.
var ownFailures = []struct {
	err     error
	failure webhook.OwnFailure
}{
	{errTooManyConnections, webhook.OutOfDescriptors},
	{syscall.EMFILE, webhook.OutOfDescriptors},
	{syscall.ENFILE, webhook.OutOfDescriptors},
	{syscall.Errno(10024), webhook.OutOfDescriptors}, // WSAEMFILE
	{syscall.ENOMEM, webhook.OutOfMemory},
	{syscall.ENOBUFS, webhook.OutOfMemory},
	{syscall.Errno(10055), webhook.OutOfMemory}, // WSAENOBUFS
}

// ownFailure returns the failure of this machine that an error shows, empty if there is none.
func ownFailure(err error) webhook.OwnFailure {
	isDNS := isA[*net.DNSError](err) // which does not wrap its cause
	for _, f := range ownFailures {
		isQuoted := isDNS && strings.Contains(err.Error(), f.err.Error())
		if errors.Is(err, f.err) || isQuoted {
			return f.failure
		}
	}
	if isOutOfPorts(err) {
		return webhook.OutOfPorts
	}
	if errors.Is(err, errProxyUnusable) {
		return webhook.ProxyFailed
	}
	return ""
}

// isOutOfPorts reports whether there is no local port or address for a connection, although
// this machine has addresses of the target's family.
func isOutOfPorts(err error) bool {
	if !errors.Is(err, syscall.EADDRNOTAVAIL) && !errors.Is(err, syscall.Errno(10049)) { // WSAEADDRNOTAVAIL
		return false
	}
	failed, ok := errors.AsType[*net.OpError](err)
	if !ok {
		return false
	}
	target, ok := failed.Addr.(*net.TCPAddr)
	return ok && hasFamilyOf(target.AddrPort().Addr().Unmap())
}

// isLostConnection reports whether an HTTP/2 connection ended because the peer did not answer
// a ping, or because nothing could be written to it. net/http does not export these errors. They
// are compared as a whole, since others quote the peer.
func isLostConnection(err error) bool {
	switch err.Error() {
	case "http2: client connection lost", "http2: client connection force closed via ClientConn.Close":
		return true
	}
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && failed.Op == "write" && errors.Is(err, os.ErrDeadlineExceeded)
}

// isUnprocessed reports whether the peer has said that it did not process an HTTP/2 request.
// net/http does not export these errors either.
func isUnprocessed(err error) bool {
	failed, ok := strings.CutPrefix(err.Error(), "http2: Transport: cannot retry err [")
	if !ok {
		return false
	}
	isRefused := strings.HasPrefix(failed, "stream error: ") && strings.Contains(failed, "; REFUSED_STREAM; ")
	return isRefused || strings.HasPrefix(failed, "http2: Transport received Server's graceful shutdown GOAWAY]")
}
