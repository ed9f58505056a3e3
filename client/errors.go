package client

import (
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

// Kind is what went wrong, as far as it matters for what to do next.
type Kind uint8

// The kinds.
const (
	Failed       Kind = iota // anything else
	Unreachable              // no connection: name, network, TLS, or closed without an answer
	Unauthorized             // not signed in, or the role is too low
	NotFound                 // no such operation, record or subscriber
	Rejected                 // the service answered with an error
	TimedOut                 // no answer in time, or the service gave up on the statement
	Incomplete               // the reply broke off, or is not as long as it should be
	Cancelled                // the caller's context was cancelled
	ReadOnly                 // a change, which Options.ReadOnly does not let through
)

// String is the kind in words.
func (k Kind) String() string {
	return [...]string{"failed", "unreachable", "unauthorized", "not found", "rejected", "timed out", "incomplete", "cancelled", "read-only"}[k]
}

// Error is why a call did not do what was asked. Status, Code, Fields and
// RequestID are there where the service answered.
type Error struct {
	Kind       Kind
	Status     int               // of HTTP
	Code       string            // ErrorCode of the ResponseStatus
	Message    string            // for people
	Fields     []wire.FieldError // what is wrong with single members
	RequestID  string            // under which the service's log has more
	RetryAfter time.Duration     // when to ask again, where the service said so
	Err        error             // underneath
}

// Error returns the code and the message. A code that is the name of an exception
// class, such as ArgumentException, is left out.
func (e *Error) Error() string {
	if e.Code == "" || strings.HasSuffix(e.Code, "Exception") {
		return e.Message
	}
	return e.Code + ": " + e.Message
}

// Unwrap is the error underneath.
func (e *Error) Unwrap() error { return e.Err }

// KindOf is the kind of an error: of an *Error its own, Cancelled and TimedOut
// of a context's, and else Failed.
func KindOf(err error) Kind {
	e, is := errors.AsType[*Error](err)
	switch {
	case is:
		return e.Kind
	case errors.Is(err, context.Canceled):
		return Cancelled
	case errors.Is(err, context.DeadlineExceeded):
		return TimedOut
	}
	return Failed
}

// Is reports whether err is an error of the kind.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }

// kindOfStatus sorts the replies that are no success.
func kindOfStatus(status int, hasCode bool) Kind {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusProxyAuthRequired:
		return Unauthorized
	case status == http.StatusNotFound:
		return NotFound
	case status == http.StatusGatewayTimeout || status == http.StatusRequestTimeout:
		return TimedOut
	case hasCode || status >= 400 && status <= 499:
		return Rejected
	}
	return Failed
}

// errorBodyLimit is more than any error reply of the service has.
const errorBodyLimit = 1 << 20

// refusal reads an error reply. One that is not the service's, such as a
// proxy's page, is described by its status alone.
func refusal(reply *http.Response) *Error {
	body, _ := io.ReadAll(io.LimitReader(reply.Body, errorBodyLimit)) // what could be read has to do
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
		RequestID:  status.Meta["RequestId"],
		RetryAfter: retryAfter(reply.Header.Get("Retry-After")),
	}
	if e.RequestID == "" {
		e.RequestID = reply.Header.Get(wire.HeaderRequestID)
	}
	if e.Code == "" {
		e.Message = strangerMessage(reply)
	}
	return e
}

// strangerMessage is for replies that hold no ResponseStatus: most likely they
// come from something between here and the service, or from another service.
func strangerMessage(reply *http.Response) string {
	text := "the answer was " + statusText(reply)
	if to := reply.Header.Get("Location"); to != "" {
		text += ", a redirect to " + to
	}
	return text + ", and not in the form of the service: is " + reply.Request.URL.Scheme + "://" + reply.Request.URL.Host + " its address?"
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

// expect refuses a reply of success that is of another type than asked for:
// something else answers at this address.
func expect(reply *http.Response, media string) error {
	if mediaType(reply) == media {
		return nil
	}
	return &Error{Kind: Failed, Status: reply.StatusCode, Message: strangerMessage(reply)}
}

// endOf is the error of a call that ended with its ctx; the message is for a time-out.
func endOf(ctx context.Context, message string) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return &Error{Kind: Cancelled, Message: "cancelled", Err: context.Canceled}
	}
	return &Error{Kind: TimedOut, Message: message, Err: ctx.Err()}
}

// cut is the error of a reply that broke off, or was cancelled.
func cut(reply *http.Response, err error, message string) error {
	if ctx := reply.Request.Context(); ctx.Err() != nil {
		return endOf(ctx, message+", out of time")
	}
	return &Error{Kind: Incomplete, Status: reply.StatusCode, Message: message, RequestID: reply.Header.Get(wire.HeaderRequestID), Err: err}
}

// unverifiable reports whether a reply that ended without the value by which it
// could be checked may still be taken for whole: where the framing shows that
// it did not break off, and something in between is to blame. Proxies drop
// trailers, and either their announcement with them or not; the service itself
// names no server. What ends with the connection has no framing, but for
// HTTP/1.0, where the service ends what broke off by a reset.
func unverifiable(reply *http.Response, header string) bool {
	_, announced := reply.Trailer[header]
	proxied := reply.Header.Get("Server") != "" || reply.Header.Get("Via") != ""
	framed := slices.Contains(reply.TransferEncoding, "chunked") || reply.ProtoMajor > 1 || !reply.ProtoAtLeast(1, 1)
	return framed && (proxied || !announced) && len(reply.Header[header]) == 0
}

// checkCount compares the rows that were read with the count that the service
// sends as a header or, behind the last byte, as a trailer. Without either,
// it is unverified, or the reply is incomplete.
func checkCount(reply *http.Response, rows int64) (unverified bool, err error) {
	text := reply.Trailer.Get(wire.HeaderRowCount)
	if text == "" {
		text = reply.Header.Get(wire.HeaderRowCount)
	}
	if text == "" && unverifiable(reply, wire.HeaderRowCount) {
		return true, nil
	}
	count, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return false, cut(reply, nil, fmt.Sprintf("incomplete reply: it ended after %d rows without saying how many there are", rows))
	}
	if count != rows {
		return false, cut(reply, nil, fmt.Sprintf("incomplete reply: %d of %d rows arrived", rows, count))
	}
	return false, nil
}
