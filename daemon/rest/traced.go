package rest

import (
	"net/http"
	"strings"
	"time"
)

// Route is what a request asks for, as traces tell it: the pattern of its path
// with the record kind's name in it, but none of the ids. Checks of health, and
// streams, which last, are not traced.
func (s *Server) Route(r *http.Request) (pattern string, traced bool) {
	m, _, err := s.router.find(r.Method, r.URL.EscapedPath())
	if err != nil || m.route == nil {
		return "/...", true
	}
	pattern = m.route.pattern
	if kind, err := s.kind(m.route, m.params); err == nil && kind != nil {
		pattern = strings.NewReplacer("{"+inOperation+"}", kind.Operation(), "{"+inKind+"}", kind.Name).Replace(pattern)
	}
	return pattern, !m.route.always && !m.route.lasting
}

// traceParts tells of the parts of a query: reading it, waiting for the first row,
// and sending the rows.
func (s *Server) traceParts(x *exchange) {
	if s.Trace == nil || x.timing.parsed.IsZero() {
		return
	}
	ctx := x.r.Context()
	s.Trace(ctx, "read the query", x.timing.start, x.timing.parsed)
	if !x.timing.firstRow.IsZero() {
		s.Trace(ctx, "wait for the first row", x.timing.parsed, x.timing.firstRow)
		s.Trace(ctx, "send the rows", x.timing.firstRow, time.Now())
	}
}
