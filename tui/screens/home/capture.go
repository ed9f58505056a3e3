package home

import (
	"context"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// The setting of the time between two sweeps of a kind, its default, and the lag below
// which it is not read.
const (
	sweepSetting = "changes.sweep"
	defaultSweep = time.Minute
	minLag       = 30 * time.Second
)

// maxCaptures is the maximum number of captures that are listed.
const maxCaptures = 5

// lagging returns the captures that have stopped, or lag by more than two sweeps.
func lagging(ctx context.Context, c *client.Client) (late []wire.Capture, err error) {
	all, err := c.Captures(ctx)
	if client.Is(err, client.NotFound) {
		return nil, nil // an older service
	}
	limit := time.Duration(0)
	for _, capture := range all {
		lag := time.Duration(capture.Lag)
		if lag >= minLag && limit == 0 {
			if limit, err = twoSweeps(ctx, c); err != nil {
				return nil, err
			}
		}
		lags := lag >= minLag && lag > limit
		if capture.Manual || capture.Phase == "stopped" || lags {
			late = append(late, capture)
		}
	}
	return late[:min(len(late), maxCaptures)], err
}

// twoSweeps returns the time that two sweeps of a kind take.
func twoSweeps(ctx context.Context, c *client.Client) (time.Duration, error) {
	settings, err := c.Settings(ctx)
	for _, s := range settings {
		if s.Name == sweepSetting {
			if sweep, err := time.ParseDuration(s.Value); err == nil {
				return 2 * sweep, nil
			}
		}
	}
	return 2 * defaultSweep, err
}
