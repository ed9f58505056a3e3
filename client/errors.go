package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// Kind classifies errors by how a caller can react to them.
type Kind uint8

// Kinds of errors.
const (
	Failed         Kind = iota // any other failure
	Unreachable                // no connection: name, network, TLS, or closed without a reply
	Unauthorized               // not signed in, or the role is too low
	NotFound                   // no such operation, record or subscriber
	Rejected                   // the service replied with an error
	TimedOut                   // no reply in time, or the statement timed out
	Incomplete                 // the reply is truncated
	Cancelled                  // the caller's context was cancelled
	ReadOnly                   // a change that Options.ReadOnly rejects
	ResyncRequired             // changes since a token are not available: the records must be loaded again
)

var kindTexts = [...]string{
	Failed:         "failed",
	Unreachable:    "unreachable",
	Unauthorized:   "unauthorized",
	NotFound:       "not found",
	Rejected:       "rejected",
	TimedOut:       "timed out",
	Incomplete:     "incomplete",
	Cancelled:      "cancelled",
	ReadOnly:       "read-only",
	ResyncRequired: "resynchronization required",
}

// String returns the kind in words.
func (k Kind) String() string { return kindTexts[k] }

// Error is the error of a call. Status, Code, Fields and RequestID are set if the
// service replied.
type Error struct {
	Kind       Kind
	Status     int               // HTTP status code
	Code       string            // ErrorCode of the ResponseStatus
	Message    string            // human-readable
	Fields     []wire.FieldError // errors of individual members
	RequestID  string            // ID in the service's log
	RetryAfter time.Duration     // wait before a retry; 0 if the service sent none
	Err        error             // cause; can be nil
}

// Error returns the code and the message. A code that is the name of an exception
// class, such as ArgumentException, is left out.
func (e *Error) Error() string {
	if e.Code == "" || strings.HasSuffix(e.Code, "Exception") {
		return e.Message
	}
	return e.Code + ": " + e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of an *Error, Cancelled or TimedOut for errors of a
// context, else Failed.
func KindOf(err error) Kind {
	e, ok := errors.AsType[*Error](err)
	switch {
	case ok:
		return e.Kind
	case errors.Is(err, context.Canceled):
		return Cancelled
	case errors.Is(err, context.DeadlineExceeded):
		return TimedOut
	}
	return Failed
}

// Is reports whether err is of a kind; false for nil.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }

// kindOfStatus returns the kind of an error reply. Replies of the service have a code.
func kindOfStatus(status int, hasCode bool) Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return Unauthorized
	case http.StatusNotFound:
		return NotFound
	case http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return TimedOut
	}
	isClientError := status >= 400 && status <= 499
	switch {
	case status == http.StatusGone && hasCode:
		return ResyncRequired
	case isClientError || hasCode:
		return Rejected
	default:
		return Failed
	}
}

// errorReply reads an error reply. A reply of another program, such as a proxy, is
// described by its status only.
func errorReply(reply *http.Response) *Error {
	// A partial body is used as far as possible.
	body, _ := io.ReadAll(io.LimitReader(reply.Body, maxErrorReply))
	var failure wire.Failure
	if json.Unmarshal(body, &failure) != nil {
		failure = wire.Failure{}
	}
	status := failure.ResponseStatus
	e := &Error{
		Kind:       kindOfStatus(reply.StatusCode, status.ErrorCode != ""),
		Status:     reply.StatusCode,
		Code:       status.ErrorCode,
		Message:    status.Message,
		Fields:     status.Errors,
		RequestID:  cmp.Or(status.Meta["RequestId"], reply.Header.Get(wire.HeaderRequestID)),
		RetryAfter: retryAfter(reply.Header.Get("Retry-After")),
	}
	if e.Code != "" {
		return e
	}
	e.Message = unexpectedReply(reply)
	if bytes.HasPrefix(body, []byte("Client sent an HTTP request to an HTTPS server")) {
		e.Message = "the service at this address uses HTTPS: https://" + reply.Request.URL.Host
	}
	if mediaType(reply) == mediaCSV {
		e.Err = errInCSV
	}
	return e
}

// errInCSV is the cause of an error with a message in CSV.
var errInCSV = errors.New("the response is CSV")

// unexpectedReply returns the message for a reply without ResponseStatus, which
// probably comes from a proxy or from another service.
func unexpectedReply(reply *http.Response) string {
	text := "unexpected response " + statusText(reply)
	if location := reply.Header.Get("Location"); location != "" {
		text += ", a redirect to " + location
	}
	sent := reply.Request.URL
	return text + "; check that " + sent.Scheme + "://" + sent.Host + " is the address of the service"
}

func statusText(reply *http.Response) string {
	text := strings.TrimSpace(strconv.Itoa(reply.StatusCode) + " " + http.StatusText(reply.StatusCode))
	if media := mediaType(reply); media != "" {
		text += " as " + media
	}
	return text
}

func mediaType(reply *http.Response) string {
	media, _, err := mime.ParseMediaType(reply.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return media
}

func retryAfter(text string) time.Duration {
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// expect returns an error if a successful reply does not have the requested media
// type, because it is not from the service then.
func expect(reply *http.Response, media string) error {
	if mediaType(reply) == media {
		return nil
	}
	return &Error{Kind: Failed, Status: reply.StatusCode, Message: unexpectedReply(reply)}
}

// contextError returns the error for a ctx that is done; message is for a timeout.
func contextError(ctx context.Context, message string) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return &Error{Kind: Cancelled, Message: "cancelled", Err: context.Canceled}
	}
	return &Error{Kind: TimedOut, Message: message, Err: ctx.Err()}
}

// truncated returns the error of a reply that is incomplete or was cancelled.
func truncated(reply *http.Response, err error, message string) error {
	if ctx := reply.Request.Context(); ctx.Err() != nil {
		return contextError(ctx, message+": timeout")
	}
	return &Error{
		Kind:      Incomplete,
		Status:    reply.StatusCode,
		Message:   message,
		RequestID: reply.Header.Get(wire.HeaderRequestID),
		Err:       err,
	}
}

// endHeader returns a header that the service can send after the body.
func endHeader(reply *http.Response, name string) string {
	return cmp.Or(reply.Trailer.Get(name), reply.Header.Get(name))
}

// unverifiable reports whether a reply without the header or trailer that verifies it
// can be accepted as complete: its framing shows that it is not truncated, and a
// proxy has removed the trailer. Proxies drop trailers with or without their
// announcement; the service itself sends no Server header. A reply that ends with the
// connection has no framing, except in HTTP/1.0, where the service resets the
// connection of a truncated reply.
func unverifiable(reply *http.Response, header string) bool {
	_, announced := reply.Trailer[header]
	proxied := reply.Header.Get("Server") != "" || reply.Header.Get("Via") != ""
	mayBeRemoved := proxied || !announced

	chunked := slices.Contains(reply.TransferEncoding, "chunked")
	framed := chunked || reply.ProtoMajor > 1 || !reply.ProtoAtLeast(1, 1)
	return framed && mayBeRemoved && len(reply.Header[header]) == 0
}

// checkCount compares the number of rows read with the count that the service sends
// as a header or trailer. Without either, the reply is unverified or incomplete.
func checkCount(reply *http.Response, rows int64) (unverified bool, err error) {
	text := endHeader(reply, wire.HeaderRowCount)
	if text == "" && unverifiable(reply, wire.HeaderRowCount) {
		return true, nil
	}
	count, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		message := fmt.Sprintf("incomplete response: ended after %d rows without a row count", rows)
		return false, truncated(reply, nil, message)
	}
	if count != rows {
		return false, truncated(reply, nil, fmt.Sprintf("incomplete response: %d of %d rows arrived", rows, count))
	}
	return false, nil
}
