package daemon

import (
	"context"
	"io"
	"log/slog"
)

// serve runs the daemon until the context ends.
func serve(ctx context.Context, c *call) error {
	config, _, err := c.config()
	if err != nil {
		return err
	}
	return Run(ctx, config, c.Stdout, newLogger(c.Stderr, config.Log))
}

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
