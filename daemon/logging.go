package daemon

import (
	"context"
	"io"
	"log/slog"
)

// newLogger makes the daemon's log, of lines of every importance: the daemon
// leaves out those below its setting, which may change while it runs.
func newLogger(w io.Writer, format string) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelDebug}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// leveled leaves out the lines of a log that are below a level.
type leveled struct {
	slog.Handler
	least func() slog.Level // asked for each line
}

// Enabled is slog.Handler's.
func (h leveled) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.least() && h.Handler.Enabled(ctx, level)
}

// WithAttrs is slog.Handler's.
func (h leveled) WithAttrs(attributes []slog.Attr) slog.Handler {
	return leveled{h.Handler.WithAttrs(attributes), h.least}
}

// WithGroup is slog.Handler's.
func (h leveled) WithGroup(name string) slog.Handler {
	return leveled{h.Handler.WithGroup(name), h.least}
}
