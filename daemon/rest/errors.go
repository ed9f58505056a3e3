package rest

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
)

// failures is the only table of what a failure looks like from outside:
// contract.md section 6.
var failures = [...]struct {
	status int
	code   string
}{
	fault.Internal:     {http.StatusInternalServerError, "InternalError"},
	fault.Invalid:      {http.StatusBadRequest, "ArgumentException"},
	fault.Malformed:    {http.StatusBadRequest, "SerializationException"},
	fault.Missing:      {http.StatusBadRequest, "NotEmpty"},
	fault.Unauthorized: {http.StatusUnauthorized, "Unauthorized"},
	fault.Forbidden:    {http.StatusForbidden, "Forbidden"},
	fault.NotFound:     {http.StatusNotFound, "NotFound"},
	fault.BadMethod:    {http.StatusMethodNotAllowed, "MethodNotAllowed"},
	fault.Conflict:     {http.StatusConflict, "Conflict"},
	fault.TooLarge:     {http.StatusRequestEntityTooLarge, "RequestTooLarge"},
	fault.HeadTooLarge: {http.StatusRequestHeaderFieldsTooLarge, "RequestTooLarge"},
	fault.Unsupported:  {http.StatusUnsupportedMediaType, "UnsupportedMediaType"},
	fault.TooMany:      {http.StatusTooManyRequests, "TooManyRequests"},
	fault.Unavailable:  {http.StatusServiceUnavailable, "ServiceUnavailable"},
	fault.Timeout:      {http.StatusGatewayTimeout, "Timeout"},
}

// challenge is never Basic, so that browsers do not remember a password.
const challenge = `credentials realm="/auth/credentials"`

// fail writes the reply for an error. Of errors that are not the asker's only
// the log learns more than a request id.
func (s *Server) fail(x *exchange, err error) {
	f := fault.Of(err)
	switch {
	case errors.Is(err, context.Canceled) && x.r.Context().Err() != nil:
		x.w.aborted = true // the client has gone: nobody reads a reply
		panic(http.ErrAbortHandler)
	case f.Kind == fault.Internal:
		s.Log.Error("internal error", "id", x.id, "method", x.r.Method, "path", x.r.URL.Path, "error", err.Error())
		f = &fault.Error{Kind: fault.Internal, Message: "internal error"}
	case f.Kind == fault.Unavailable || f.Kind == fault.Timeout:
		s.Log.Warn("request failed", "id", x.id, "path", x.r.URL.Path, "error", err.Error())
	}
	h := x.w.Header()
	clearReply(h)
	h.Set("Content-Type", x.reply.format.ContentType)
	if f.Kind == fault.Unauthorized {
		h.Set("WWW-Authenticate", challenge)
	}
	if f.Kind == fault.TooMany || f.Kind == fault.Unavailable {
		h.Set("Retry-After", retryAfter(f.RetryAfter))
	}
	status := responseStatus(f, x.id)
	if s.Debug {
		status.StackTrace = err.Error()
	}
	body := s.failureBody(x, status)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(failures[f.Kind].status)
	_ = x.w.send(body, s.WriteStall) // nobody is left to tell
}

// clearReply takes back what a reply that did not come to be had announced.
func clearReply(h http.Header) {
	for _, name := range []string{"Trailer", "Content-Disposition", "Content-Length", wire.HeaderRowCount, wire.HeaderDigest, wire.HeaderOffset, wire.HeaderTotal} {
		h.Del(name)
	}
}

func (s *Server) failureBody(x *exchange, status wire.ResponseStatus) []byte {
	var query *encode.Shape
	if kind, err := s.kind(x.params.get("Kind")); err == nil {
		query = &encode.Shape{Operation: kind.Operation(), Record: kind.Name}
	}
	if x.reply.callback == "" {
		return x.reply.format.Failure(nil, status, query)
	}
	body := openCallback(x.w.Header(), x.reply.callback, nil)
	return append(x.reply.format.Failure(body, status, query), ')')
}

func responseStatus(f *fault.Error, id string) wire.ResponseStatus {
	code := failures[f.Kind].code
	rs := wire.ResponseStatus{ErrorCode: code, Message: f.Message, Meta: map[string]string{"RequestId": id}}
	for _, field := range f.Fields {
		rs.Errors = append(rs.Errors, wire.FieldError{ErrorCode: code, FieldName: field.Name, Message: field.Message})
	}
	return rs
}

// retryAfter is in whole seconds, at least one.
func retryAfter(d time.Duration) string {
	return itoa(max(1, int64(math.Ceil(d.Seconds()))))
}
