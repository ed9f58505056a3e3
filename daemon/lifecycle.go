package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// lifecycle ends what was started, in reverse order.
type lifecycle struct{ stops []stop }

// stop is one named step of tearing down.
type stop struct {
	name string
	run  func(context.Context) error
}

func (l *lifecycle) onStop(name string, run func(context.Context) error) {
	l.stops = append(l.stops, stop{name, run})
}

// onStopWithin is onStop for what takes no longer than min, which it also has where
// the others have taken all of the grace period.
func (l *lifecycle) onStopWithin(min time.Duration, name string, run func(context.Context) error) {
	l.onStop(name, func(ctx context.Context) error {
		ctx, cancel := atLeast(ctx, min)
		defer cancel()
		return run(ctx)
	})
}

// atLeast is a context that ends with the grace period of ctx, but not within d: what
// stops last has its time also where the others have taken all of it.
func atLeast(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	end := time.Now().Add(d)
	if graceEnd, limited := ctx.Deadline(); limited && graceEnd.After(end) {
		end = graceEnd
	}
	return context.WithDeadline(context.WithoutCancel(ctx), end)
}

// repeat calls done at intervals until it reports that it is done.
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

// tablesInterval is how often the daemon looks whether its tables are up to date
// while they are not.
const tablesInterval = 2 * time.Second

// stop ends everything.
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
