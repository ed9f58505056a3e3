package daemon

import (
	"context"
	"io"
	"log/slog"
	"runtime"
)

// serve runs the daemon until the context ends.
func serve(ctx context.Context, c *call) error {
	config, _, err := c.config()
	if err != nil {
		return err
	}
	ballast := make([]byte, ballastSize)
	defer runtime.KeepAlive(ballast)
	return Run(ctx, config, c.Stdout, newLogger(c.Stderr, config.Log))
}

// ballastSize is memory that is never touched, and so takes none. The collector
// runs when the heap has doubled: with a few megabytes in use that would be
// hundreds of times a second, a sixth of the cost of a small query.
const ballastSize = 16 << 20

// newLogger makes the daemon's log.
func newLogger(w io.Writer, c LogConfig) *slog.Logger {
	var options slog.HandlerOptions
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err == nil { // the settings table allows slog's names only
		options.Level = level
	}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, &options))
	}
	return slog.New(slog.NewTextHandler(w, &options))
}
