package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// lifecycle records a stop function for everything that was started, and calls them
// in reverse order.
type lifecycle struct{ stops []stop }

// stop is one named step of the shutdown.
type stop struct {
	name string
	run  func(context.Context) error
}

// onStop adds a step of the shutdown, which runs before those that were added earlier.
func (l *lifecycle) onStop(name string, run func(context.Context) error) {
	l.stops = append(l.stops, stop{name, run})
}

// onStopWithin is onStop for a step that gets min even if earlier steps have used up
// the grace period.
func (l *lifecycle) onStopWithin(min time.Duration, name string, run func(context.Context) error) {
	l.onStop(name, func(ctx context.Context) error {
		ctx, cancel := extendGrace(ctx, min)
		defer cancel()
		return run(ctx)
	})
}

// extendGrace returns a context that ends when the grace period of ctx ends, but no
// sooner than d from now.
func extendGrace(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	end := time.Now().Add(d)
	if graceEnd, ok := ctx.Deadline(); ok && graceEnd.After(end) {
		end = graceEnd
	}
	return context.WithDeadline(context.WithoutCancel(ctx), end)
}

// repeat calls done at intervals, in a goroutine, until done returns true or the
// daemon stops.
func (l *lifecycle) repeat(name string, interval time.Duration, done func(context.Context) bool) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if done(ctx) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	l.onStop(name, func(context.Context) error {
		cancel()
		<-ended
		return nil
	})
}

// tablesInterval is the interval between checks of out-of-date tables for a
// migration.
const tablesInterval = 2 * time.Second

// stop runs all steps and returns their errors, joined.
func (l *lifecycle) stop(ctx context.Context) error {
	var errs []error
	for _, s := range slices.Backward(l.stops) {
		if err := s.run(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stopping %s: %w", s.name, err))
		}
	}
	l.stops = nil
	return errors.Join(errs...)
}
