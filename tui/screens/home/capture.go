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
func lagging(ctx context.Context, c *client.Client) ([]wire.Capture, error) {
	captures, err := c.Captures(ctx)
	if client.Is(err, client.NotFound) {
		return nil, nil // an older service
	}
	if err != nil {
		return nil, err
	}
	var late []wire.Capture
	limit := time.Duration(0) // the setting is read once a capture lags
	for _, capture := range captures {
		lag := time.Duration(capture.Lag)
		if lag >= minLag && limit == 0 {
			limit, err = twoSweeps(ctx, c)
			if err != nil {
				return nil, err
			}
		}
		isLate := lag >= minLag && lag > limit
		if capture.Manual || capture.Phase == "stopped" || isLate {
			late = append(late, capture)
		}
	}
	return late[:min(len(late), maxCaptures)], nil
}

// twoSweeps returns the time that two sweeps of a kind take.
func twoSweeps(ctx context.Context, c *client.Client) (time.Duration, error) {
	settings, err := c.Settings(ctx)
	if err != nil {
		return 0, err
	}
	sweep := defaultSweep
	for _, s := range settings {
		configured, err := time.ParseDuration(s.Value)
		if s.Name == sweepSetting && err == nil {
			sweep = configured
		}
	}
	return 2 * sweep, nil
}
