package rest

import (
	"log/slog"
	"time"
)

// logAccess writes one line for each request. Health checks are left to the
// debug level.
func (s *Server) logAccess(x *exchange) {
	level := slog.LevelInfo
	if x.route != nil && x.route.always {
		level = slog.LevelDebug
	}
	ctx := x.r.Context()
	if !s.Log.Enabled(ctx, level) {
		return
	}
	path, query := shown(x)
	s.Log.LogAttrs(ctx, level, "request",
		slog.String("id", x.id),
		slog.String("method", x.r.Method),
		slog.String("path", bounded(path)),
		slog.String("query", bounded(query)),
		slog.Int("status", x.w.finalStatus()),
		slog.Int64("bytes", x.w.bytes),
		slog.Bool("aborted", x.w.aborted),
		slog.Float64("ms", float64(time.Since(x.timing.start).Microseconds())/1000),
		slog.String("user", x.who.Name),
		slog.String("address", x.origin.address))
}

// bounded keeps a line to a length that a log can bear.
func bounded(text string) string {
	const most = 2000
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}
