package delivery

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/backoff"
)

// clock is the store's clock, which all daemons share. It is derived from the process's
// monotonic clock by an offset.
type clock struct {
	read atomic.Pointer[reading]
}

// reading is a simultaneous reading of both clocks.
type reading struct {
	local time.Time // with the monotonic reading
	store time.Time
}

func (c *clock) set(ctx context.Context, s Store) error {
	before := time.Now()
	at, err := s.Now(ctx)
	if err == nil {
		c.read.Store(&reading{before.Add(time.Since(before) / 2), at})
	}
	return err
}

// Now returns the current time of the store's clock.
func (c *clock) Now() time.Time {
	now := time.Now()
	if r := c.read.Load(); r != nil { // nil before Start
		now = r.store.Add(now.Sub(r.local))
	}
	return now.UTC().Truncate(100 * time.Nanosecond)
}

// elapsed returns the time since a local time, by the wall clock if that has advanced
// further: the monotonic clock may pause while the machine is suspended.
func elapsed(since time.Time) time.Duration {
	return max(time.Since(since), time.Now().Round(0).Sub(since))
}

// earliest returns the earlier of two times. A zero time counts as none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// sleep waits for a signal, or for d unless it is 0. It returns false once ctx is done.
func sleep(ctx context.Context, wake <-chan struct{}, d time.Duration) bool {
	var over <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-wake:
	case <-over:
	}
	return ctx.Err() == nil
}

// Bounds of the delay after consecutive failures.
const (
	minBackoff = 100 * time.Millisecond
	maxBackoff = 5 * time.Second
)

func newBackoff() *backoff.Backoff { return &backoff.Backoff{Min: minBackoff, Max: maxBackoff} }

// repeat calls work after each interval, or after each signal if the interval is 0,
// until ctx is done. It logs failures, and then waits longer and ignores signals.
func repeat(ctx context.Context, log *slog.Logger, failure string, wake <-chan struct{}, interval time.Duration, work func(context.Context) error) {
	wait := newBackoff()
	for next := wake; sleep(ctx, next, interval+wait.Wait()); {
		err := work(ctx)
		switch {
		case err == nil:
			wait.Reset()
			next = wake
			continue
		case ctx.Err() != nil:
			return
		case !errors.Is(err, ErrOutboxTaken): // by another daemon, which was faster
			log.Warn(failure, "error", err.Error())
		}
		wait.Next()
		next = nil
	}
}
