package rest

import (
	"context"
	"errors"
	"math"
	"net/http"
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
	fault.SlowBody:     {http.StatusRequestTimeout, "RequestTimeout"},
	fault.Misdirected:  {http.StatusMisdirectedRequest, "MisdirectedRequest"},
}

// challenge is never Basic, so that browsers do not remember a password.
const challenge = `credentials realm="/auth/credentials"`

// fail writes the reply for an error. Where a part of another reply has gone
// out already, or nobody is there to read one, it cuts the connection instead.
func (s *Server) fail(x *exchange, err error) {
	if x.w.status != 0 || errors.Is(err, context.Canceled) && x.r.Context().Err() != nil {
		s.abort(x, err)
	}
	f := s.reported(x, err)
	if s.sendToLogin(x, f) {
		return
	}
	if x.html() {
		s.recognise(x)
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
	x.failure = &status
	if x.options.Debug {
		status.StackTrace = err.Error()
	}
	_ = x.write(failures[f.Kind].status, s.failureBody(x, status)) // nobody is left to tell
}

// reported is the failure as the asker may know it. Of what is not the asker's
// doing the log learns the rest, under the request's id.
func (s *Server) reported(x *exchange, err error) *fault.Error {
	f := fault.Of(err)
	switch f.Kind {
	case fault.Internal:
		s.Log.Error("internal error", "id", x.id, "method", x.r.Method, "path", x.logPath(), "error", err.Error())
		return &fault.Error{Kind: fault.Internal, Message: "internal error"}
	case fault.Unavailable, fault.Timeout:
		s.Log.Warn("request failed", "id", x.id, "path", x.logPath(), "error", err.Error())
	}
	return f
}

// clearReply takes back what a reply that did not come to be had announced.
func clearReply(h http.Header) {
	for _, name := range []string{"Trailer", "Content-Disposition", "Content-Length", wire.HeaderRowCount, wire.HeaderDigest, wire.HeaderOffset, wire.HeaderTotal} {
		h.Del(name)
	}
}

func (s *Server) failureBody(x *exchange, status wire.ResponseStatus) []byte {
	var of *encode.Shape
	if x.kind != nil {
		of = &encode.Shape{Operation: x.kind.Operation(), Record: x.kind.Name}
	}
	return x.reply.close(x.reply.format.Failure(x.reply.open(x.w.Header(), nil), status, of))
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
