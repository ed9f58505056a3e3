package delivery

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/backoff"
)

// clock is the store's clock, which is the same for all daemons: this process's
// monotonic one, moved.
type clock struct {
	read atomic.Pointer[reading]
}

// reading is what two clocks said at the same time.
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

// Now is the time by the store's clock.
func (c *clock) Now() time.Time {
	now := time.Now()
	if r := c.read.Load(); r != nil { // else not started yet
		now = r.store.Add(now.Sub(r.local))
	}
	return now.UTC().Truncate(100 * time.Nanosecond)
}

// elapsed is the time since a moment by that clock which has gone further: the
// monotonic one may pause while a machine is suspended.
func elapsed(since time.Time) time.Duration {
	return max(time.Since(since), time.Now().Round(0).Sub(since))
}

// earliest is the earlier of two times, of which a zero time is none.
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

// sleep waits for a signal, or for d where it is not 0. It reports false once
// ctx is done.
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

// The bounds of the waits after failures in a row.
const (
	minBackoff = 100 * time.Millisecond
	maxBackoff = 5 * time.Second
)

func newBackoff() *backoff.Backoff { return &backoff.Backoff{Min: minBackoff, Max: maxBackoff} }

// repeat does work after each interval, or after each signal where that is 0, until
// ctx is done. After a failure, which it logs, it waits longer, and for no signal.
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
