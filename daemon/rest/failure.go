package rest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/bizhook/whd/daemon/fault"
)

// fail writes the reply for an error. Where a part of another reply has gone
// out already, or nobody is there to read one, it cuts the connection instead.
func (s *Server) fail(x *exchange, err error) {
	if x.w.status != 0 || errors.Is(err, context.Canceled) && x.r.Context().Err() != nil {
		abortReply(x, err)
	}
	f := reported(x, err)
	if sendToLogin(x, f) {
		return
	}
	if x.html() {
		s.recognise(x)
	}
	stack := ""
	if x.options.Debug {
		stack = err.Error()
	}
	x.fail(f, stack)
}

// reported is the failure as the asker may know it. Of what is not the asker's
// doing the log learns the rest, under the request's id.
func reported(x *exchange, err error) *fault.Error {
	f := fault.Of(err)
	switch f.Kind {
	case fault.Internal:
		x.log.Error("internal error", "id", x.id, "method", x.r.Method, "path", logPath(x), "error", err.Error())
		return &fault.Error{Kind: fault.Internal, Message: "internal error"}
	case fault.Unavailable, fault.Timeout:
		x.log.Warn("request failed", "id", x.id, "path", logPath(x), "error", err.Error())
	}
	return f
}

// abortReply ends a reply that cannot be finished.
func abortReply(x *exchange, err error) {
	level := slog.LevelWarn
	if x.r.Context().Err() != nil {
		level = slog.LevelInfo // the client has gone
	}
	x.log.Log(x.r.Context(), level, "reply aborted", "id", x.id, "path", logPath(x), "error", err.Error())
	x.cut()
	panic(http.ErrAbortHandler)
}
