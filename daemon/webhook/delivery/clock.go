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
	read    atomic.Pointer[reading]
	setBack atomic.Int64 // how far the store's clock is behind Now since it was set back, see follow
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

// How often the clock of a store that only this daemon uses is read, and the difference
// from Now that is ignored.
const (
	clockInterval  = 10 * time.Second
	clockTolerance = time.Second
)

// follow reads the clock of a store that only this daemon uses: its host's clock, which can
// be set, and is ahead of the monotonic clock after the machine was suspended. It returns by
// how much the clock was set since the last call. Now only goes forward: if it went back, all
// that is due would wait again.
func (c *clock) follow(ctx context.Context, s Store) (by time.Duration, err error) {
	var present clock
	if err := present.set(ctx, s); err != nil {
		return 0, err
	}
	ahead, setBack := present.Now().Sub(c.Now()), time.Duration(0)
	if ahead > clockTolerance {
		c.read.Store(present.read.Load())
	} else if ahead < -clockTolerance {
		setBack = -ahead
	}
	before := time.Duration(c.setBack.Swap(int64(setBack)))
	if by = ahead + before; by.Abs() <= clockTolerance {
		by = 0
	}
	return by, nil
}

// storeTime returns the time of the store's clock, which can go back: receivers reject
// signatures of other times.
func (c *clock) storeTime() time.Time { return c.Now().Add(-time.Duration(c.setBack.Load())) }

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
