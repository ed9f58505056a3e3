package home

import (
	"context"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
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

// Captures are the kinds with captured changes.
type Captures struct {
	Late    []wire.Capture // that have stopped or lag by more than two sweeps, at most maxCaptures
	Healthy int            // number of the others that run
}

// phaseStopped is the phase of a capture that does not run.
const phaseStopped = "stopped"

// fetchCaptures fetches the captures.
func fetchCaptures(ctx context.Context, c *client.Client) (Captures, error) {
	list, err := c.Captures(ctx)
	if client.Is(err, client.NotFound) {
		return Captures{}, nil // an older service
	}
	if err != nil {
		return Captures{}, err
	}
	var all Captures
	limit := time.Duration(0) // the setting is read once a capture lags
	for _, capture := range list {
		lag := time.Duration(capture.Lag)
		if lag >= minLag && limit == 0 {
			limit, err = twoSweeps(ctx, c)
			if err != nil {
				return Captures{}, err
			}
		}
		isLate := lag >= minLag && lag > limit
		isRunning := capture.Phase != wire.CaptureIdle && capture.Phase != wire.CaptureNotRequested
		if capture.Manual || capture.Phase == phaseStopped || isLate {
			all.Late = append(all.Late, capture)
		} else if isRunning {
			all.Healthy++
		}
	}
	all.Late = all.Late[:min(len(all.Late), maxCaptures)]
	return all, nil
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

// captureSpans describes a capture that is late or has stopped.
func captureSpans(t *theme.Theme, c wire.Capture) []theme.Span {
	sign := theme.Span{Text: t.Alert + " ", Role: theme.Warning}
	state := ui.Age(time.Duration(c.Lag)) + " late"
	if c.Manual || c.Phase == phaseStopped {
		sign = theme.Span{Text: t.Stopped + " ", Role: theme.Failure}
		state = phaseStopped
	}
	spans := []theme.Span{sign, {Text: c.Kind + " "}, {Text: state, Role: sign.Role}}
	if c.Reason != "" {
		spans = append(spans, theme.Span{Text: ", " + c.Reason, Role: theme.Dim})
	}
	return spans
}

// healthySpans counts the captures without problems.
func (c Captures) healthySpans(t *theme.Theme) []theme.Span {
	if c.Healthy == 0 {
		return nil
	}
	text := display.Count(c.Healthy, "kind", "kinds") + ", up to date"
	if len(c.Late) > 0 {
		text = display.Count(c.Healthy, "other", "others")
	}
	return []theme.Span{{Text: text + " ", Role: theme.Dim}, {Text: t.OK, Role: theme.Success}, {Text: " "}}
}
