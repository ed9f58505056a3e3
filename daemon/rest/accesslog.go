package rest

import (
	"log/slog"
	"time"

	"github.com/bizhook/whd/daemon/rest/edge"
)

// logAccess writes one line for each request. Health checks are left to the
// debug level.
func (s *Server) logAccess(x *edge.Context) {
	level := slog.LevelInfo
	if x.Route != nil && x.Route.Always {
		level = slog.LevelDebug
	}
	ctx := x.Request.Context()
	if !s.config.Log.Enabled(ctx, level) {
		return
	}
	path, query := shown(x)
	s.config.Log.LogAttrs(ctx, level, "request",
		slog.String("id", x.ID),
		slog.String("method", x.Request.Method),
		slog.String("path", bounded(path)),
		slog.String("query", bounded(query)),
		slog.Int("status", x.Response.FinalStatus()),
		slog.Int64("bytes", x.Response.Bytes),
		slog.Bool("aborted", x.Response.Aborted),
		slog.Float64("ms", float64(time.Since(x.Timing.Start).Microseconds())/1000),
		slog.String("user", x.Identity.Name),
		slog.String("address", x.Origin.Address))
}

// bounded keeps a line to a length that a log can bear.
func bounded(text string) string {
	const most = 2000
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}
