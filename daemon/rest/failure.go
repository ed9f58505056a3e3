package rest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// fail writes the reply for an error. Where a part of another reply has gone
// out already, or nobody is there to read one, it cuts the connection instead.
func (s *Server) fail(x *edge.Context, err error) {
	if x.Response.Status != 0 || errors.Is(err, context.Canceled) && x.Request.Context().Err() != nil {
		abortReply(x, err)
	}
	f := reported(x, err)
	if sendToLogin(x, f) {
		return
	}
	if x.HTML() {
		s.handlers.access.recognise(x)
	}
	stack := ""
	if x.Options.Debug {
		stack = err.Error()
	}
	x.Fail(f, stack)
}

// reported is the failure as the asker may know it. Of what is not the asker's
// doing the log learns the rest, under the request's id.
func reported(x *edge.Context, err error) *fault.Error {
	f := fault.Of(err)
	switch f.Kind {
	case fault.Internal:
		x.Log.Error("internal error", "id", x.ID, "method", x.Request.Method, "path", logPath(x), "error", err.Error())
		return &fault.Error{Kind: fault.Internal, Message: "internal error"}
	case fault.Unavailable, fault.Timeout:
		x.Log.Warn("request failed", "id", x.ID, "path", logPath(x), "error", err.Error())
	}
	return f
}

// abortReply ends a reply that cannot be finished.
func abortReply(x *edge.Context, err error) {
	level := slog.LevelWarn
	if x.Request.Context().Err() != nil {
		level = slog.LevelInfo // the client has gone
	}
	x.Log.Log(x.Request.Context(), level, "reply aborted", "id", x.ID, "path", logPath(x), "error", err.Error())
	x.Abort()
	panic(http.ErrAbortHandler)
}
