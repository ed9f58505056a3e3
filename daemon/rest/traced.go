package rest

import (
	"net/http"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/rest/edge"
)

// Route is what a request asks for, as traces tell it: the pattern of its path
// with the record kind's name in it, but none of the ids. Checks of health, and
// streams, which last, are not traced.
func (s *Server) Route(r *http.Request) (pattern string, traced bool) {
	m, _, err := s.router.Find(r.Method, r.URL.EscapedPath())
	if err != nil || m.Route == nil {
		return "/...", true
	}
	pattern = m.Route.Pattern
	if kind, err := s.handlers.queries.kind(m.Route, m.Params); err == nil && kind != nil {
		pattern = strings.NewReplacer("{"+edge.ParamOperation+"}", kind.Operation(), "{"+edge.ParamKind+"}", kind.Name).Replace(pattern)
	}
	return pattern, !m.Route.Always && !m.Route.Streaming
}

// traceParts tells of the parts of a query: reading it, waiting for the first row,
// and sending the rows.
func (s *Server) traceParts(x *edge.Context) {
	if s.config.Trace == nil || x.Timing.Parsed.IsZero() {
		return
	}
	ctx := x.Request.Context()
	s.config.Trace(ctx, "read the query", x.Timing.Start, x.Timing.Parsed)
	if !x.Timing.FirstRow.IsZero() {
		s.config.Trace(ctx, "wait for the first row", x.Timing.Parsed, x.Timing.FirstRow)
		s.config.Trace(ctx, "send the rows", x.Timing.FirstRow, time.Now())
	}
}
