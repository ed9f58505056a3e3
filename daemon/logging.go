package daemon

import (
	"context"
	"log/slog"
)

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
